/** How a drill is going, on stderr: one moving line on a terminal, else a line now and then. */

import type { LiveRun, LiveSettings } from '../probe/live-run.js';
import type { World } from './command.js';

const TERMINAL_MS = 500;
const LINES_MS = 5_000;

/** Tells until `end`. */
export function liveProgress(
  { err }: Pick<World, 'err'>,
  run: Pick<LiveRun, 'progress' | 'planned'>,
  { plan, capacity }: Pick<LiveSettings, 'plan' | 'capacity'>,
  terminal: boolean = process.stderr.isTTY,
): { readonly end: () => void } {
  const planSeconds = plan.stages.reduce((sum, { seconds }) => sum + seconds, 0);
  let before = run.progress;
  const tell = (): void => {
    const now = run.progress;
    const { atSeconds, sent, delivered, waiting, retries } = now;
    const words = [
      `${atSeconds.toFixed(0)} of ${planSeconds} s`,
      `${sent}/${run.planned.length} calls sent`,
      `${delivered} delivered`,
      `${waiting} waiting`,
      `${retries} retries`,
      ...executionWords(before, now, capacity),
    ];
    before = now;
    err(terminal ? `\r\u001b[K${words.join(', ')}` : `${words.join(', ')}\n`);
  };
  const timer = setInterval(tell, terminal ? TERMINAL_MS : LINES_MS);
  return {
    end: () => {
      clearInterval(timer);
      if (terminal) err('\n');
    },
  };
}

type Progress = LiveRun['progress'];

/** Executions since the last line, per second of the plan and where Ĉ is known in multiples of it. */
function executionWords(before: Progress, now: Progress, capacity: number | undefined): readonly string[] {
  const seconds = now.atSeconds - before.atSeconds;
  if (now.executions === undefined || before.executions === undefined || seconds <= 0) return [];
  const perSecond = (now.executions - before.executions) / seconds;
  return capacity === undefined
    ? [`${perSecond.toFixed(2)} executions/s`]
    : [`executions at ${(perSecond / capacity).toFixed(2)} Ĉ`];
}
