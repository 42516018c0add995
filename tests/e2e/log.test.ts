/** Whatever becomes of the reader of its log, the gateway goes on answering and says how many lines were lost. */

import { equal, match, ok } from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, openSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { readExposition, valueOf } from '../../src/core/meter/exposition.js';
import { FakeEngine, json } from '../support/fake-engine.js';
import { within } from '../support/promised.js';
import { ROOT } from '../support/root.js';

const command = join(ROOT, 'dist', 'src', 'shell', 'cli', 'main.js');
const REQUESTS = 400;

interface Served {
  readonly child: ChildProcess;
  readonly url: string;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  ok(address !== null && typeof address === 'object');
  await new Promise((resolve) => server.close(resolve));
  return address.port;
}

async function serve(t: TestContext, stderr: 'pipe' | number): Promise<Served> {
  const engine = await FakeEngine.start(json({ ok: true }));
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-log-'));
  const config = join(folder, 'holdfast.yaml');
  writeFileSync(config, `port: ${port}\nupstreams: [{ url: ${engine.url} }]\nlog: { buffer_bytes: 16KiB }\n`);
  const child = spawn(process.execPath, [command, 'serve', '--config', config], {
    stdio: ['ignore', 'ignore', stderr],
  });
  t.after(async () => {
    child.kill('SIGKILL');
    await engine.stop();
  });
  const url = `http://127.0.0.1:${port}`;
  await within('the gateway', reachable(url));
  return { child, url };
}

async function reachable(url: string): Promise<void> {
  for (;;) {
    try {
      await fetch(`${url}/livez`);
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
  }
}

async function ask(url: string, count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    const body = JSON.stringify({ model: 'm'.repeat(200), prompt: at });
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${url}/v1/completions`, { method: 'POST', headers, body });
    equal(answer.status, 200);
    await answer.text();
  }
}

async function lost(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return valueOf(readExposition(text), 'holdfast_log_lines_lost_total') ?? Number.NaN;
}

test('a reader that stalls holds up nobody; lines beyond the buffer are counted, and said when it reads on', async (t) => {
  const { child, url } = await serve(t, 'pipe');
  child.stderr?.pause();
  await within('all answers', ask(url, REQUESTS), 60_000);
  ok((await lost(url)) > 0);
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  child.stderr?.resume();
  for (let turn = 0; !said.includes('log lines were lost'); turn += 1) {
    ok(turn < 500, 'the loss is said');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  match(said, /"count":\d+,"msg":"log lines were lost/);
});

test('a reader that is gone, and a disk that is full, end nothing', async (t) => {
  const piped = await serve(t, 'pipe');
  piped.child.stderr?.destroy();
  const full = await serve(t, openSync('/dev/full', 'w'));
  for (const { child, url } of [piped, full]) {
    await within('all answers', ask(url, 20), 60_000);
    ok((await lost(url)) > 0);
    equal(child.exitCode, null);
    child.kill('SIGTERM');
    const code = await within('the end', new Promise((resolve) => child.once('exit', resolve)));
    equal(code, 0);
  }
});
