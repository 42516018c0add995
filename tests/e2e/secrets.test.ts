/** Whatever a client tells the gateway in confidence is in no log line at any level, nor on the meter. */

import { equal, ok } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT } from '../support/root.js';

const command = join(ROOT, 'dist', 'src', 'shell', 'cli', 'main.js');

/** Part of everything that is told in confidence. */
const MARK = 'S3CRET';

test('no prompt, answer, credential, key or header of a client is logged or metered', async (t) => {
  const gateway = await served(t, []);
  await converse(gateway.url);
  const meter = await (await fetch(`${gateway.url}/metrics`)).text();
  const log = await gateway.end();
  ok(log.split('\n').length > 15, log);
  equal(log.indexOf(MARK), -1, log);
  equal(meter.indexOf(MARK), -1, meter);
});

test('nor when the engine cannot be reached', async (t) => {
  const gateway = await served(t, ['--upstream', 'http://127.0.0.1:1']);
  await converse(gateway.url);
  const log = await gateway.end();
  ok(log.includes('upstream_refused'), log);
  equal(log.indexOf(MARK), -1, log);
});

/** All the ways in which a request may end, with a secret wherever one fits. */
async function converse(url: string): Promise<void> {
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${MARK}-credential`,
    'x-api-key': `${MARK}-credential`,
    cookie: `session=${MARK}-cookie`,
    'idempotency-key': `${MARK}-key`,
    'session-id': `${MARK}-session`,
    traceparent: `${MARK}-trace`,
    'user-agent': `OpenAI/JS ${MARK}-agent`,
    'x-request-id': `${MARK}-request`,
    'x-request-deadline': `${MARK}-deadline`,
  };
  const chat = { model: 'twin', max_tokens: 200, messages: [{ role: 'user', content: `${MARK}-prompt` }] };
  const send = async (path: string, body: string, limitMs = 30_000): Promise<void> => {
    const signal = AbortSignal.timeout(limitMs);
    const asked = fetch(`${url}${path}`, { method: 'POST', headers, body, signal });
    await asked.then((answer) => answer.text()).catch(() => '');
  };
  await send(`/v1/chat/completions?token=${MARK}-query`, JSON.stringify({ ...chat, max_tokens: 3 }));
  await send('/v1/chat/completions', JSON.stringify({ ...chat, ignore_eos: true }), 200);
  await send('/v1/chat/completions', JSON.stringify({ ...chat, ignore_eos: true }));
  await send('/v1/chat/completions', JSON.stringify({ ...chat, stream: true, max_tokens: 3 }));
  await send('/v1/messages', JSON.stringify({ ...chat, max_tokens: 3 }));
  await send('/v1/completions', JSON.stringify({ model: 'twin', prompt: `${MARK}-prompt`, max_tokens: 3 }));
  await send('/v1/chat/completions', `{"${MARK}-broken`);
  await send('/v1/chat/completions', JSON.stringify({ ...chat, max_tokens: `${MARK}-tokens` }));
  await send(`/v1/${MARK}-path`, JSON.stringify(chat));
  await fetch(`${url}/v1/models?token=${MARK}-query`, { headers }).then((answer) => answer.text());
}

async function served(
  t: TestContext,
  args: readonly string[],
): Promise<{ readonly url: string; readonly end: () => Promise<string> }> {
  const child = spawn(process.execPath, [command, 'serve', '--port', '0', '--log-level', 'debug', ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const ended = once(child, 'close');
  for (let wait = 0; wait < 300 && !log.includes('"msg":"listening"'); wait += 1) await sleep(100);
  const url = /"msg":"listening"/.test(log) ? /"url":"(http:[^"]+)","version"/.exec(log)?.[1] : undefined;
  ok(url !== undefined, log);
  return {
    url,
    end: async () => {
      child.kill('SIGTERM');
      await ended;
      return log;
    },
  };
}
