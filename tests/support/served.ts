/** `holdfast serve` as its users run it: a process of its own, on free ports, followed by its log. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT } from './root.js';

const MAIN = join(ROOT, 'dist', 'src', 'shell', 'cli', 'main.js');
const LIMIT_MS = 30_000;
const POLL_MS = 20;
/** What is kept of its talk, characters. */
const MOST_TALK = 1_000_000;

export interface Served {
  readonly url: string;
  readonly child: ChildProcess;
  /** Its log so far, from the start. */
  readonly log: () => string;
  /** Ends it in order, and resolves with its exit code. */
  readonly stop: () => Promise<number | null>;
}

/** Resolves when it listens; `nodeFlags` go to Node itself. */
export async function served(args: readonly string[], nodeFlags: readonly string[] = []): Promise<Served> {
  const { LOG_LEVEL: _, ...env } = process.env;
  const child = spawn(process.execPath, [...nodeFlags, MAIN, 'serve', '--port', '0', ...args], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (log.length < MOST_TALK) log += text;
  });
  const stop = async (): Promise<number | null> => {
    process.off('exit', kill);
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    const [code] = (await exited) as [number | null];
    return code;
  };
  for (const until = Date.now() + LIMIT_MS; ; await sleep(POLL_MS)) {
    const url = said(log, 'listening');
    if (url !== undefined) return { url, child, log: () => log, stop };
    if (child.exitCode === null && Date.now() < until) continue;
    kill();
    throw new Error(`holdfast serve does not listen: ${log}`);
  }
}

function said(log: string, message: string): string | undefined {
  for (const line of log.split('\n')) {
    if (!line.startsWith('{') || !line.endsWith('}')) continue;
    const { msg, url } = JSON.parse(line) as { readonly msg: string; readonly url?: string };
    if (msg === message) return url;
  }
  return undefined;
}
