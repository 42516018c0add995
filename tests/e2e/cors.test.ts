/** A browser is told whose pages may read, on every answer and in answer to its own question, where that was asked for. */

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { parseAllowedKeys } from '../../src/shell/gateway/allowed-keys.js';
import { type GatewaySettings, gatewayConfig } from '../../src/shell/gateway/config.js';
import { event, json, openStream, type Script } from '../support/fake-engine.js';
import { type Rig, startRig } from '../support/gateway-rig.js';
import { answerIn, RawClient, type RawRequest } from '../support/raw-client.js';

const PAGE = 'https://app.example.com';
const CORS = /^access-control-/;
/** As vLLM answers a request that has an Origin. */
const ENGINE = {
  'access-control-allow-origin': '*',
  'access-control-allow-credentials': 'true',
  vary: 'Accept',
};
const OK = json({ ok: true }, 200, ENGINE);

let running: Rig | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

async function start(
  cors: GatewaySettings['cors'],
  script: Script = OK,
  more: GatewaySettings = {},
): Promise<Rig> {
  running = await startRig(script, { ...more, ...(cors === undefined ? {} : { cors }) });
  return running;
}

interface Told {
  readonly status: number;
  readonly cors: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

async function ask(rig: Rig, request: RawRequest): Promise<Told> {
  const client = await RawClient.ask(rig.gateway.port, {
    ...request,
    headers: { connection: 'close', ...request.headers },
  });
  const text = await client.rest();
  const { status, headers, body } = answerIn(text);
  const lines = text
    .slice(0, text.indexOf('\r\n\r\n'))
    .split('\r\n')
    .map((line) => line.split(':')[0]?.toLowerCase());
  for (const name of ['vary', 'access-control-allow-origin', 'content-length'])
    ok(lines.filter((line) => line === name).length <= 1, `${name} stands once`);
  const cors = Object.fromEntries(Object.entries(headers).filter(([name]) => CORS.test(name)));
  return { status, cors, headers, body };
}

const from = (origin: string): RawRequest => ({ headers: { origin } });
const preflight = (origin: string, headers = 'authorization,content-type'): RawRequest => ({
  method: 'OPTIONS',
  body: '',
  headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': headers },
});

/** Every way in which an answer is given, and how it comes about. */
const ANSWERS: Readonly<Record<string, RawRequest & { readonly status: number }>> = {
  'of a call': { status: 200 },
  'of a stream': { status: 200, body: '{"stream":true}' },
  'that refuses': { status: 413, body: 'x'.repeat(2_000) },
  'that passes through': { status: 200, path: '/v1/models', method: 'GET', body: '' },
  'of the gateway itself': { status: 200, path: '/livez', method: 'GET', body: '' },
};

test('without the setting no answer has a word about it, not even the word of the engine', async () => {
  const rig = await start(undefined);
  for (const request of [
    from(PAGE),
    { ...from(PAGE), path: '/v1/models', method: 'GET', body: '' },
    preflight(PAGE),
  ]) {
    const { status, cors, headers } = await ask(rig, request);
    deepEqual([status, cors], [200, {}]);
    equal(headers['vary'], 'Accept');
  }
  equal(rig.engine.calls.items.length, 3);
});

test('with an origin in the list every kind of answer says that its page may read it and the headers of the gateway', async () => {
  const script: Script = (call) => {
    if (!call.body.includes('stream')) return OK(call);
    call.response.setHeader('vary', 'Accept');
    openStream(call);
    call.response.end(event({ choices: [] }) + event('[DONE]'));
  };
  const rig = await start({ origins: ['https://other.example', PAGE] }, script, { requestBytes: 1_000 });
  for (const [name, { status, headers, ...request }] of Object.entries(ANSWERS)) {
    const told = await ask(rig, { ...request, headers: { ...headers, origin: PAGE } });
    equal(told.status, status, name);
    equal(told.cors['access-control-allow-origin'], PAGE, name);
    equal(told.cors['access-control-allow-credentials'], undefined, name);
    match(told.headers['vary'] ?? '', /Origin$/, name);
    const exposed = (told.cors['access-control-expose-headers'] ?? '').split(', ');
    for (const each of ['x-request-id', 'retry-after', 'retry-after-ms']) ok(exposed.includes(each), each);
    for (const each of Object.keys(told.headers).filter((header) => header.startsWith('x-holdfast-')))
      ok(exposed.includes(each), `${name}: ${each} is exposed`);
  }
});

test('whoever comes without a key that is known is told so in a way that its page can read', async () => {
  const rig = await start({ origins: [PAGE] });
  rig.gateway.allow(parseAllowedKeys('sk-known', 'keys'));
  for (const path of ['/v1/models', '/v1/completions']) {
    const { status, cors } = await ask(rig, { ...from(PAGE), path });
    deepEqual([status, cors['access-control-allow-origin']], [401, PAGE], path);
  }
  equal((await ask(rig, preflight(PAGE))).status, 204, 'a preflight brings no key');
});

test('an origin that is not in the list is answered as ever, without a word that would let its page read', async () => {
  const rig = await start({ origins: [PAGE] });
  for (const origin of [
    'https://app.example.com.evil.example',
    'http://app.example.com',
    'null',
    `${PAGE}:8443`,
  ]) {
    const { status, cors, headers } = await ask(rig, from(origin));
    deepEqual([status, cors, headers['vary']], [200, {}, 'Accept, Origin'], origin);
  }
  const { cors, headers } = await ask(rig, {});
  deepEqual([cors, headers['vary']], [{}, 'Accept, Origin'], 'whoever caches must know');
});

test('a preflight is answered here, for pages that are listed; others are told 403, and the engine hears of neither', async () => {
  const rig = await start({ origins: [PAGE] });
  const told = await ask(rig, preflight(PAGE, 'authorization, x-stainless-lang'));
  equal(told.status, 204);
  deepEqual(told.cors, {
    'access-control-allow-origin': PAGE,
    'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
    'access-control-allow-headers': 'authorization, x-stainless-lang',
    'access-control-max-age': '600',
  });
  const other = await ask(rig, preflight('https://evil.example'));
  deepEqual([other.status, other.cors, other.headers['x-holdfast-reason']], [403, {}, 'rejected_origin']);
  equal(rig.engine.calls.items.length, 0);
  const plain = await ask(rig, { method: 'OPTIONS', body: '', headers: { origin: PAGE } });
  equal(plain.status, 200, 'what asks for no method is no preflight');
  equal(rig.engine.calls.items.length, 1);
});

test('with a star every page may read, and none is promised that its cookies count', async () => {
  const rig = await start({ origins: ['*'], credentials: true });
  const { cors } = await ask(rig, from('https://any.example'));
  deepEqual(
    [cors['access-control-allow-origin'], cors['access-control-allow-credentials']],
    ['*', undefined],
  );
  const asked = await ask(rig, preflight('https://any.example'));
  deepEqual(
    [asked.cors['access-control-allow-origin'], asked.cors['access-control-allow-credentials']],
    ['*', undefined],
  );
});

test('credentials are allowed where they are asked for and the page is named', async () => {
  const rig = await start({ origins: [PAGE], credentials: true });
  for (const request of [from(PAGE), preflight(PAGE)])
    equal((await ask(rig, request)).cors['access-control-allow-credentials'], 'true');
  equal((await ask(rig, from('https://evil.example'))).cors['access-control-allow-credentials'], undefined);
});

test('an answer that was made for one page and is replayed to another says what is right for the other', async () => {
  const rig = await start({ origins: [PAGE, 'https://b.example'] }, () => {});
  const body = '{"model":"tiny","n":1}';
  const first = await RawClient.ask(rig.gateway.port, { body, headers: { origin: PAGE } });
  const call = await rig.engine.calls.next('the execution');
  first.socket.destroy();
  await rig.heard('leave');
  OK(call);
  await rig.verdict('execution-ended');
  const { cors, headers } = await ask(rig, { body, headers: { origin: 'https://b.example' } });
  deepEqual(
    [cors['access-control-allow-origin'], headers['x-holdfast-outcome']],
    ['https://b.example', 'replayed'],
  );
});

test('the setting is taken over while running, and an origin that is none is refused', async () => {
  const rig = await start(undefined);
  rig.gateway.reconfigure(gatewayConfig({ cors: { origins: [PAGE] } }));
  equal((await ask(rig, from(PAGE))).cors['access-control-allow-origin'], PAGE);
  for (const wrong of ['app.example.com', `${PAGE}/`, `${PAGE}/path`, 'null', ''])
    equal(
      (() => {
        try {
          gatewayConfig({ cors: { origins: [wrong] } });
          return 'taken';
        } catch {
          return 'refused';
        }
      })(),
      'refused',
      wrong,
    );
  deepEqual(
    gatewayConfig({ cors: { origins: ['HTTPS://App.Example.COM:443', 'chrome-extension://abc'] } }).cors
      .origins,
    [PAGE, 'chrome-extension://abc'],
  );
});
