/** Where a file names the keys, nobody else comes in, and the file may change while the gateway runs. */

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseAllowedKeys } from '../../src/shell/gateway/allowed-keys.js';
import { FakeEngine, json } from '../support/fake-engine.js';
import { startRig } from '../support/gateway-rig.js';
import { within } from '../support/promised.js';
import { ROOT } from '../support/root.js';

const command = join(ROOT, 'dist', 'src', 'shell', 'cli', 'main.js');

function ask(url: string, key: string | undefined, path = '/v1/chat/completions'): Promise<Response> {
  const headers = { 'content-type': 'application/json', ...(key === undefined ? {} : { 'x-api-key': key }) };
  return fetch(url + path, { method: 'POST', headers, body: '{"model":"tiny"}' });
}

test('another key is refused in the shape of the API, before its body is read; the gateway itself stays reachable', async () => {
  const rig = await startRig(json({ ok: true }));
  try {
    const { url } = rig.gateway;
    rig.gateway.allow(parseAllowedKeys('sk-good', 'keys'));
    equal((await ask(url, 'sk-good')).status, 200);
    const openai = await ask(url, 'sk-bad');
    const said = (await openai.json()) as { error: Record<string, unknown> };
    deepEqual(
      [openai.status, openai.headers.get('x-holdfast-reason'), openai.headers.get('www-authenticate')],
      [401, 'rejected_key', 'Bearer'],
    );
    deepEqual([said.error['type'], said.error['code']], ['invalid_request_error', 'rejected_key']);
    const anthropic = await ask(url, undefined, '/v1/messages');
    const { error } = (await anthropic.json()) as { error: Record<string, unknown> };
    deepEqual([anthropic.status, error['type']], [401, 'authentication_error']);
    equal((await fetch(`${url}/v1/models`)).status, 401);
    equal((await fetch(`${url}/livez`)).status, 200);
    await rig.verdict('attempt-ended', 3);
    deepEqual(rig.ledger().toSorted(), ['delivered', 'rejected_key', 'rejected_key']);
    equal(rig.engine.calls.items.length, 1);
    rig.gateway.allow(undefined);
    equal((await ask(url, 'sk-bad')).status, 200);
  } finally {
    await rig.stop();
  }
});

test('holdfast serve follows the file; one that does not fit changes nothing, and none to start with is an error', async (t) => {
  const engine = await FakeEngine.start(json({ ok: true }));
  const file = join(mkdtempSync(join(tmpdir(), 'holdfast-keys-')), 'keys');
  writeFileSync(file, 'sk-a\n');
  const env = { ...process.env, HOLDFAST_ALLOWED_KEYS_FILE: file };
  const args = [command, 'serve', '--port', '0', '--upstream', engine.url];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  t.after(async () => {
    child.kill('SIGKILL');
    await engine.stop();
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const hear = (pattern: RegExp): Promise<string> =>
    within(
      String(pattern),
      (async () => {
        for (;;) {
          const found = pattern.exec(said);
          if (found !== null) return found[1] ?? found[0];
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      })(),
    );
  const url = await hear(/"url":"([^"]+)"/);
  deepEqual([(await ask(url, 'sk-a')).status, (await ask(url, 'sk-b')).status], [200, 401]);
  writeFileSync(file, 'sk b\n');
  await hear(/those in force stay: .*line 1: a key has no space inside/);
  equal((await ask(url, 'sk-a')).status, 200);
  writeFileSync(file, 'sk-b\nsk-c\n');
  await hear(/"count":2,"msg":"the allowed keys are in force"/);
  deepEqual([(await ask(url, 'sk-a')).status, (await ask(url, 'sk-b')).status], [401, 200]);
  ok(!/sk.[abc]/.test(said), 'no key is logged');
  const missing = spawnSync(process.execPath, args, {
    env: { ...env, HOLDFAST_ALLOWED_KEYS_FILE: `${file}.none` },
    encoding: 'utf8',
  });
  equal(missing.status, 2);
  match(missing.stderr, /cannot read the allowed keys: .*ENOENT/);
});
