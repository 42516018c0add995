/** Starts the built gateway as its users do, in front of one engine address. */

import { spawn } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/root.js';
import { answers, CACHE, freePort, killedWithUs } from './engine.js';

const MAIN = join(ROOT, 'dist', 'src', 'shell', 'cli', 'main.js');
const START_LIMIT_MS = 20_000;

export interface Gateway {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts `holdfast serve` with further flags, if any; its talk goes to `gateway.log` in the cache. */
export async function startGateway(upstream: string, settings: readonly string[]): Promise<Gateway> {
  const port = await freePort();
  const log = join(CACHE, 'gateway.log');
  const output = openSync(log, 'w');
  const child = spawn(
    process.execPath,
    [MAIN, 'serve', '--upstream', upstream, '--port', String(port), ...settings],
    {
      detached: true,
      stdio: ['ignore', output, output],
    },
  );
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const release = killedWithUs(child.pid as number);
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
    release();
  };
  const url = `http://127.0.0.1:${port}`;
  try {
    await answers(`${url}/livez`, () => child.exitCode === null, START_LIMIT_MS);
  } catch (cause) {
    await stop();
    throw new Error(`the gateway did not start:\n${readFileSync(log, 'utf8').slice(-3000)}`, { cause });
  }
  return { url, stop };
}
