/** Processes of the comparison: their output goes to a file, and all that they start ends with them. */

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { groupFirst } from '../../tests/support/priority.js';
import type { Started } from './contender.js';
import { fault, HEADERS, markerOf, requestText, wordsIn } from './workload.js';

/** How long a contender may take until it answers, and to end when it is told to. */
const START_LIMIT_MS = 90_000;
const STOP_LIMIT_MS = 5_000;
const POLL_MS = 100;
const SHOWN_CHARACTERS = 400;
const READY_BODY_BYTES = 1_024;

export interface Launch {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Requests go there; the path included. */
  readonly url: string;
  readonly workspace: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

let launches = 0;
/** Groups of processes that are under way. */
const groups = new Set<number>();
process.on('exit', () => {
  for (const group of groups) send(-group, 'SIGKILL');
});

/** Resolves when it answers a request whole; rejects, with the end of its output, when it ends or stays silent. */
export async function launched(launch: Launch): Promise<Started> {
  const { command, args, url, env = {}, headers = {} } = launch;
  launches += 1;
  const logFile = join(launch.workspace, `${launch.name.replaceAll(/\W+/g, '-')}-${launches}.log`);
  const log = openSync(logFile, 'a');
  const child = spawn(command, [...args], {
    cwd: launch.workspace,
    detached: true,
    stdio: ['ignore', log, log],
    env: { ...process.env, ...env },
  });
  closeSync(log);
  if (child.pid !== undefined) {
    groups.add(child.pid);
    groupFirst(child.pid);
  }
  const failed = new Promise<never>((_, reject) => {
    child.once('error', (error) => reject(error));
    child.once('exit', (code) => reject(new Error(`ended with ${code} at its start: ${tailOf(logFile)}`)));
  });
  const given = new AbortController();
  try {
    await Promise.race([answering(url, headers, given.signal), failed]);
  } catch (cause) {
    given.abort();
    await stopped(child);
    const reason = (cause as Error).message;
    throw new Error(reason.includes(': ') ? reason : `${reason}: ${tailOf(logFile)}`, { cause });
  }
  return { url, pid: child.pid, headers, stop: () => stopped(child) };
}

/** Resolves at the first whole answer. */
async function answering(
  url: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  const { before, after } = requestText('json', READY_BODY_BYTES);
  let reason = 'no answer';
  for (let waited = 0; waited < START_LIMIT_MS && !signal.aborted; waited += POLL_MS) {
    const marker = markerOf('json', 0);
    try {
      const body = `${before}${marker}${after}`;
      const limit = AbortSignal.timeout(START_LIMIT_MS - waited);
      const answer = await fetch(url, {
        method: 'POST',
        headers: { ...HEADERS, ...headers },
        body,
        signal: limit,
      });
      const bytes = Buffer.from(await answer.arrayBuffer());
      const wrong = fault('json', marker, bytes, wordsIn(bytes));
      if (answer.ok && wrong === undefined) return;
      reason = `status ${answer.status}, ${wrong}`;
    } catch (error) {
      reason = String((error as Error).cause ?? error);
    }
    await delay(POLL_MS, undefined, { signal }).catch(() => {});
  }
  throw new Error(`not ready after ${START_LIMIT_MS / 1_000} s (${reason})`);
}

function tailOf(logFile: string): string {
  const text = readFileSync(logFile, 'utf8').trim();
  return text.slice(-SHOWN_CHARACTERS).replaceAll(/\s+/g, ' ');
}

/** Ends the process and all of its group, in order if it can. */
async function stopped(child: ChildProcess): Promise<void> {
  const { pid } = child;
  if (pid === undefined) return;
  const gone = new Promise<void>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    else child.once('exit', () => resolve());
  });
  send(-pid, 'SIGTERM');
  await Promise.race([gone, delay(STOP_LIMIT_MS, undefined, { ref: false })]);
  send(-pid, 'SIGKILL');
  await gone;
  groups.delete(pid);
}

function send(group: number, name: NodeJS.Signals): void {
  try {
    process.kill(group, name);
  } catch {
    // It is gone already.
  }
}
