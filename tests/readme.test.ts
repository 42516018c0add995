/** The commands of the README, run in its order against a gateway started as it says, do what it says. */

import { equal, match, ok } from 'node:assert/strict';
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ran } from './support/installation.js';
import { requirement } from './support/requirement.js';
import { ROOT } from './support/root.js';

const READY_LIMIT_MS = 15_000;
const STOP_LIMIT_MS = 15_000;
const BLOCK_LIMIT_MS = 60_000;

const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
const command = join(ROOT, 'dist', 'src', 'shell', 'cli', 'main.js');

/** The fenced `sh` blocks that a comment marks as runnable. */
const runnable = [...readme.matchAll(/^<!-- runnable -->\n```sh\n(?<body>[\s\S]*?)^```$/gm)].map(
  (found) => found.groups?.['body'] ?? '',
);

const shell = requirement('curl and a POSIX shell', () => ran('sh', ['-c', 'curl --version']));
const serves =
  spawnSync(process.execPath, [command, 'serve', '--help'], { timeout: READY_LIMIT_MS }).status === 0;
const todo = serves ? false : '`holdfast serve` does not start yet';

test('the README opens with the two commands, and has commands to try', () => {
  match(readme.split('\n').slice(0, 16).join('\n'), /npm ci && npm start[\s\S]*npm ci && npm test/);
  ok(runnable.length >= 2, `${runnable.length} runnable blocks`);
});

test('the commands of the README do what it says', { todo }, serves ? walk : undefined);

async function walk(t: TestContext): Promise<void> {
  if ((await shell.met(t)) === undefined) return;
  const base = await started(t);
  const [answer = '', meter = '', ...others] = await inOrder(base);
  match(answer, /^x-holdfast-outcome: (?:attached|replayed)\r?$/im);
  match(answer, /"content":/);
  equal(countOf(meter, 'holdfast_calls_total'), 1, meter);
  equal(countOf(meter, 'holdfast_executions_total'), 1, meter);
  ok(countOf(meter, 'holdfast_attempts_total') >= 2, meter);
  for (const printed of others) ok(printed.length > 0);
}

/** Starts the gateway on a free port, as `npm start` does on 8900; stopped when the test ends. */
async function started(t: TestContext): Promise<string> {
  const port = await freePort();
  const gateway = spawn(process.execPath, [command, 'serve', '--port', String(port)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  gateway.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  t.after(() => stopped(gateway));
  const base = `127.0.0.1:${port}`;
  for (const until = Date.now() + READY_LIMIT_MS; ; await sleep(100)) {
    if (await isReady(base)) break;
    ok(gateway.exitCode === null, `the gateway ended: ${said}`);
    ok(Date.now() < until, `the gateway is not ready after ${READY_LIMIT_MS} ms: ${said}`);
  }
  match(said, new RegExp(`curl .*${base}`, 's'), 'without --upstream it prints a curl line to try');
  return base;
}

async function isReady(base: string): Promise<boolean> {
  try {
    return (await fetch(`http://${base}/readyz`, { signal: AbortSignal.timeout(1_000) })).ok;
  } catch {
    return false;
  }
}

/** Asks for a graceful end, and insists after a while. */
async function stopped(gateway: ChildProcess): Promise<void> {
  if (gateway.exitCode !== null) return;
  const ended = once(gateway, 'exit');
  gateway.kill('SIGTERM');
  const insist = setTimeout(() => gateway.kill('SIGKILL'), STOP_LIMIT_MS);
  await ended;
  clearTimeout(insist);
}

/** What each runnable block prints, with the README's address replaced by the one that was started. */
async function inOrder(base: string): Promise<string[]> {
  const printed: string[] = [];
  for (const block of runnable) {
    const { stdout } = await promisify(execFile)(
      'sh',
      ['-e', '-c', block.replaceAll('127.0.0.1:8900', base)],
      {
        timeout: BLOCK_LIMIT_MS,
      },
    );
    printed.push(stdout);
  }
  return printed;
}

/** The sum over all labels of the counter `name`. */
function countOf(exposition: string, name: string): number {
  const lines = exposition.split('\n').filter((line) => new RegExp(`^${name}(?:\\{|\\s)`).test(line));
  ok(lines.length > 0, `${name} is not on the meter:\n${exposition}`);
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port was given');
  return address.port;
}
