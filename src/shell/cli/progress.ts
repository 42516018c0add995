/** How far a command is, on stderr: one moving line on a terminal, else a line now and then. */

import type { World } from './command.js';

const EVERY_MS = 5_000;
const WIDTH = 30;

/** Hears how many of `total` are done. */
export function progress(
  { err }: Pick<World, 'err'>,
  total: number,
  what: string,
  terminal: boolean = process.stderr.isTTY,
): (done: number) => void {
  const startedAt = performance.now();
  let saidAt = startedAt;
  return (done) => {
    const now = performance.now();
    const seconds = ((now - startedAt) / 1_000).toFixed(0);
    if (terminal) {
      const filled = Math.round((WIDTH * done) / total);
      const bar = `${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)}`;
      err(`\r${bar} ${done}/${total} ${what}, ${seconds} s${done === total ? '\n' : ''}`);
    } else if (done === total || now - saidAt >= EVERY_MS) {
      saidAt = now;
      err(`${done} of ${total} ${what}, ${seconds} s\n`);
    }
  };
}
