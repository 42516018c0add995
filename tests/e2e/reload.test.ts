/** A running gateway takes over a changed configuration, on SIGHUP and by itself, and loses no call over it. */

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gatewayConfig } from '../../src/shell/gateway/config.js';
import { type EngineCall, json } from '../support/fake-engine.js';
import { startRig } from '../support/gateway-rig.js';
import { ROOT } from '../support/root.js';

const command = join(ROOT, 'dist', 'src', 'shell', 'cli', 'main.js');
const LIMIT_MS = 30_000;

interface Line {
  readonly level: string;
  readonly msg: string;
  readonly url?: string;
  readonly keys?: readonly string[];
}

interface Running {
  readonly child: ChildProcess;
  readonly line: (pattern: RegExp) => Promise<Line>;
}

function serve(t: TestContext, config: string): Running {
  const { LOG_LEVEL: _, ...env } = process.env;
  const child = spawn(process.execPath, [command, 'serve', '--port', '0', '--config', config], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const line = async (pattern: RegExp): Promise<Line> => {
    for (const until = Date.now() + LIMIT_MS; ; ) {
      const found = said
        .split('\n')
        .filter((text) => text.startsWith('{') && text.endsWith('}'))
        .map((text) => JSON.parse(text) as Line)
        .find(({ msg }) => pattern.test(msg));
      if (found !== undefined) return found;
      ok(Date.now() < until, `${String(pattern)} was not said: ${said}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  return { child, line };
}

function configuration(text: string): { readonly path: string; readonly write: (next: string) => void } {
  const path = join(mkdtempSync(join(tmpdir(), 'holdfast-reload-')), 'holdfast.yaml');
  const write = (next: string): void => {
    writeFileSync(`${path}.new`, next);
    renameSync(`${path}.new`, path);
  };
  write(text);
  return { path, write };
}

test('holdfast serve takes over a changed file by itself, keeps what is in force when the next one is wrong', async (t) => {
  const { path, write } = configuration('request_bytes: 64B\n');
  const running = serve(t, path);
  const { url = '' } = await running.line(/^listening$/);
  const ask = async (): Promise<number> => {
    const body = JSON.stringify({
      model: 'twin',
      max_tokens: 1,
      messages: [{ role: 'user', content: 'hold fast' }],
    });
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body });
    await answer.text();
    return answer.status;
  };
  equal(await ask(), 413);
  write('request_bytes: 1MiB\nhost: 0.0.0.0\n');
  deepEqual((await running.line(/has changed and is in force/)).keys, ['request_bytes']);
  match((await running.line(/wait for a restart/)).msg, /other values for host:/);
  equal(await ask(), 200);
  write('request_bytes: 64\n');
  await running.line(/was not taken over/);
  match((await running.line(/request_bytes must be/)).msg, /^line 1: request_bytes must be a size such as/);
  equal(await ask(), 200);
  const metrics = await (await fetch(`${url}/metrics`)).text();
  match(metrics, /^holdfast_config_reloads_total\{result="applied"\} 1/m);
  match(metrics, /^holdfast_config_reloads_total\{result="refused"\} 1/m);
  match(metrics, /^holdfast_config_last_success_timestamp_seconds \d/m);
  match(metrics, /^holdfast_config_keys_waiting 1/m);
});

test('SIGHUP reads the file again and says so; the process goes on', async (t) => {
  const { path } = configuration('log: { level: info }\n');
  const running = serve(t, path);
  await running.line(/^listening$/);
  running.child.kill('SIGHUP');
  await running.line(/read again; nothing/);
  equal(running.child.exitCode, null);
});

test('a call under way is not touched, one in line starts in new room, and new headers count from the next on', async (t) => {
  const held: EngineCall[] = [];
  const settings = { keyHeaders: ['x-old'], control: { room: 1 } };
  const rig = await startRig((call) => held.push(call), settings);
  t.after(() => rig.stop());
  const ask = (headers: Record<string, string>): Promise<Response> =>
    fetch(`${rig.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer one', ...headers },
      body: '{"model":"m","messages":[]}',
    });
  const first = ask({ 'x-old': 'a' });
  await rig.verdict('start');
  const second = ask({ 'x-old': 'b' });
  await rig.verdict('queue');
  rig.gateway.reconfigure(gatewayConfig({ keyHeaders: ['x-new'], control: { room: 4 } }));
  await rig.verdict('start', 2);
  const third = ask({ 'x-old': 'c', 'x-new': 'd' });
  const keyOf = async (count: number): Promise<unknown> => (await rig.heard('arrive', count)).facts.key;
  const keys = await Promise.all([1, 2, 3].map(keyOf));
  equal(new Set(keys).size, 3);
  await rig.verdict('start', 3);
  for (const call of [1, 2, 3])
    json({ call })(await rig.engine.calls.next('the execution', () => true, call));
  deepEqual(
    (await Promise.all([first, second, third])).map(({ status }) => status),
    [200, 200, 200],
  );
  equal(new URL(rig.gateway.url).port, String(rig.gateway.port));
  equal(held.length, 3);
});
