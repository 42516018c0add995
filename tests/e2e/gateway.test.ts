/** The gateway between a real client and a real engine: one call, one execution, one answer. */

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { deflateSync, gzipSync } from 'node:zlib';
import type { GatewaySettings } from '../../src/shell/gateway/config.js';
import { event, json, openStream, type Script } from '../support/fake-engine.js';
import { type Rig, startRig } from '../support/gateway-rig.js';
import { answerIn, RawClient } from '../support/raw-client.js';

let running: Rig | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

async function start(script: Script, settings?: GatewaySettings): Promise<Rig> {
  running = await startRig(script, settings);
  return running;
}

const CHAT = { model: 'tiny', messages: [{ role: 'user', content: 'hello' }] };
const ANSWER = { id: 'chatcmpl-1', choices: [], usage: { prompt_tokens: 22, completion_tokens: 4 } };

function ask(
  { gateway }: Rig,
  body: unknown = CHAT,
  headers: Record<string, string> = {},
  path = '/v1/chat/completions',
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer one', ...headers },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
}

describe('an answer that nothing disturbs', () => {
  test('comes back as the engine gave it, with its accounting', async () => {
    const rig = await start(json(ANSWER, 200, { 'x-engine': 'yes' }));
    const answer = await ask(rig, CHAT, { 'x-request-id': 'mine' });
    equal(answer.status, 200);
    deepEqual(await answer.json(), ANSWER);
    equal(answer.headers.get('x-engine'), 'yes');
    equal(answer.headers.get('x-request-id'), 'mine');
    equal(answer.headers.get('x-holdfast-attempt'), '0');
    equal(answer.headers.get('x-holdfast-outcome'), 'started');
    match(answer.headers.get('x-holdfast-call') ?? '', /^call-/);
    match(answer.headers.get('x-holdfast-queue-ms') ?? '', /^\d+$/);
    const call = await rig.engine.calls.next('the execution');
    equal(call.request.headers['x-request-id'], answer.headers.get('x-holdfast-execution'));
    equal(call.request.headers['accept-encoding'], 'identity');
    equal(call.request.headers.authorization, 'Bearer one');
    deepEqual(JSON.parse(call.body), CHAT);
    const ended = await rig.verdict('execution-ended');
    deepEqual(ended.usage, { promptTokens: 22, cachedPromptTokens: 0, completionTokens: 4 });
    equal((await rig.verdict('attempt-ended')).ending, 'delivered');
    equal((await rig.verdict('call-ended')).ending, 'delivered');
  });

  test('is a call’s too when its target names scheme and host, as to a proxy', async () => {
    const rig = await start(json(ANSWER));
    const client = await RawClient.ask(rig.gateway.port, {
      path: 'http://gateway:80/v1/chat/completions?beta=1',
    });
    const { headers } = answerIn(await client.until('"chatcmpl-1"'));
    equal(headers['x-holdfast-outcome'], 'started');
    const { request } = await rig.engine.calls.next('the execution');
    equal(request.url, '/v1/chat/completions?beta=1');
  });

  test('has headers beyond ASCII byte for byte, whatever they are called', async () => {
    for (const status of ['200 OK', '500 Sorry']) {
      const rig = await start(({ socket }) => {
        socket.write(`HTTP/1.1 ${status}\r\ncontent-length: 4\r\nx-name: 日本\r\n`);
        socket.write('content-disposition: attachment; filename="日本.txt"\r\n\r\ndata');
      });
      const client = await RawClient.ask(rig.gateway.port);
      const text = Buffer.from(await client.until('data'), 'latin1').toString('utf8');
      ok(text.includes('x-name: 日本\r\n') && text.includes('filename="日本.txt"'), text);
      await rig.stop();
    }
  });

  test('says nothing in the gateway’s name, whatever the engine says', async () => {
    const forged = { 'x-holdfast-reason': 'refused_budget', 'X-Holdfast-Call': 'forged' };
    const rig = await start(json(ANSWER, 200, forged));
    const answer = await ask(rig);
    equal(answer.headers.get('x-holdfast-reason'), null);
    match(answer.headers.get('x-holdfast-call') ?? '', /^call-/);
    const passed = await fetch(`${rig.gateway.url}/v1/models`);
    equal(passed.headers.get('x-holdfast-call'), null);
  });

  test('a stream goes out as it comes, and its usage is read', async () => {
    let say: (text: string) => void = () => {};
    const rig = await start((call) => {
      openStream(call);
      say = (text) => call.response.write(text);
      say(': waiting\n\n');
    });
    const asked = ask(rig, { ...CHAT, stream: true });
    await rig.engine.calls.next('the execution');
    say(event({ choices: [{ delta: { content: 'a' } }] }));
    const answer = await asked;
    equal(answer.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    const reader = answer.body?.getReader();
    ok(reader !== undefined);
    const first = Buffer.from((await reader.read()).value ?? []).toString();
    equal(first, `: waiting\n\n${event({ choices: [{ delta: { content: 'a' } }] })}`);
    say(event({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 1 } }));
    say(event('[DONE]'));
    let rest = '';
    for (let next = await reader.read(); !next.done; next = await reader.read())
      rest += Buffer.from(next.value).toString();
    ok(rest.endsWith(event('[DONE]')));
    deepEqual((await rig.verdict('execution-ended')).usage, {
      promptTokens: 9,
      cachedPromptTokens: 0,
      completionTokens: 1,
    });
    equal((await rig.verdict('attempt-ended')).ending, 'delivered');
  });
});

describe('a client that gives up and comes back', () => {
  test('before the first byte: its retry gets the answer of the execution it left', async () => {
    const rig = await start(() => {});
    const gaveUp = new AbortController();
    const first = ask(rig, CHAT, {}, undefined, gaveUp.signal).catch(() => 'gone');
    const call = await rig.engine.calls.next('the execution');
    gaveUp.abort();
    equal(await first, 'gone');
    await rig.heard('leave');
    const second = ask(rig, CHAT, { 'x-stainless-retry-count': '1' });
    const attached = await rig.verdict('attach', 2);
    equal(attached.outcome, 'attached');
    json(ANSWER)(call);
    const answer = await second;
    deepEqual(await answer.json(), ANSWER);
    equal(answer.headers.get('x-holdfast-attempt'), '1');
    equal(answer.headers.get('x-holdfast-outcome'), 'attached');
    equal(rig.engine.calls.items.length, 1);
    equal((await rig.verdict('call-ended')).ending, 'delivered');
  });

  test('after the work was done: its retry gets the retained answer', async () => {
    const rig = await start(() => {});
    const gaveUp = new AbortController();
    const first = ask(rig, CHAT, {}, undefined, gaveUp.signal).catch(() => 'gone');
    const call = await rig.engine.calls.next('the execution');
    gaveUp.abort();
    await first;
    await rig.heard('leave');
    json(ANSWER)(call);
    await rig.heard('finish');
    const answer = await ask(rig);
    deepEqual(await answer.json(), ANSWER);
    equal(answer.headers.get('x-holdfast-outcome'), 'replayed');
    equal(rig.engine.calls.items.length, 1);
  });
});

describe('what a retry may join', () => {
  /** Leaves an orphan behind that was asked for with these headers. */
  async function orphan(rig: Rig, headers: Record<string, string>): Promise<void> {
    const gaveUp = new AbortController();
    const asked = ask(rig, CHAT, headers, undefined, gaveUp.signal).catch(() => 'gone');
    await rig.engine.calls.next('the execution');
    gaveUp.abort();
    await asked;
    await rig.heard('leave');
  }

  const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const PROOF = { 'idempotency-key': 'k', traceparent: TRACE, 'x-stainless-retry-count': '1' };

  test('nothing of another tenant, whatever it proves', async () => {
    const others: Record<string, string>[] = [
      { authorization: 'Bearer two' },
      { 'x-api-key': 'two' },
      { authorization: '' },
    ];
    for (const other of others) {
      const rig = await start(() => {});
      await orphan(rig, PROOF);
      rig.engine.script = json(ANSWER);
      const answer = await ask(rig, CHAT, { ...PROOF, ...other });
      equal(answer.headers.get('x-holdfast-outcome'), 'started');
      equal(answer.headers.get('x-holdfast-attempt'), '0');
      equal(rig.engine.calls.items.length, 2);
      await rig.stop();
    }
  });

  test('nothing that was asked for in other words, under the same key', async () => {
    const changes: [unknown, Record<string, string>, string?][] = [
      [{ ...CHAT, temperature: 0.1 }, {}],
      [{ ...CHAT, stream: false }, {}],
      [CHAT, { 'anthropic-beta': 'x' }],
      [CHAT, {}, '/v1/chat/completions?x=1'],
    ];
    for (const [body, headers, path] of changes) {
      const rig = await start(() => {});
      await orphan(rig, PROOF);
      rig.engine.script = json(ANSWER);
      const answer = await ask(rig, body, { ...PROOF, ...headers }, path);
      equal(answer.headers.get('x-holdfast-outcome'), 'started');
      await rig.stop();
    }
  });

  test('its own call, spelled another way', async () => {
    const rig = await start(() => {});
    await orphan(rig, {});
    const body =
      '{ "messages": [ {"content":"\\u0068ello","role":"user"} ],  "stream_options":null, "model":"tiny" }';
    const asked = fetch(`${rig.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer one' },
      body,
    });
    await rig.verdict('attach', 2);
    json(ANSWER)(await rig.engine.calls.next('the execution'));
    equal((await asked).headers.get('x-holdfast-outcome'), 'attached');
  });

  test('nothing where the operator lets strangers share nothing', async () => {
    const rig = await start(() => {}, { anonymous: 'none' });
    const strangers = { authorization: '', ...PROOF };
    await orphan(rig, strangers);
    rig.engine.script = json(ANSWER);
    equal((await ask(rig, CHAT, strangers)).headers.get('x-holdfast-outcome'), 'started');
  });

  test('a packed body, which the engine gets as plain bytes, whichever way the retry packs its own', async () => {
    const rig = await start(() => {});
    const text = JSON.stringify(CHAT);
    const packed = gzipSync(text);
    const send = (encoding: string, body: Buffer, signal?: AbortSignal): Promise<Response> =>
      fetch(`${rig.gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-encoding': encoding },
        body,
        ...(signal === undefined ? {} : { signal }),
      });
    const gaveUp = new AbortController();
    const first = send('gzip', packed, gaveUp.signal).catch(() => 'gone');
    const call = await rig.engine.calls.next('the execution');
    equal(call.request.headers['content-encoding'], undefined);
    equal(call.request.headers['content-length'], String(text.length));
    equal(call.body, text);
    gaveUp.abort();
    await first;
    await rig.heard('leave');
    const second = send('deflate', deflateSync(text));
    await rig.verdict('attach', 2);
    json(ANSWER)(call);
    equal((await second).headers.get('x-holdfast-outcome'), 'attached');
  });
});
