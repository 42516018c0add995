/** What clients send and hold open is bounded, and at each bound somebody is told what happened. */

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import type { GatewaySettings } from '../../src/shell/gateway/config.js';
import { backAt, baseOf } from '../support/base.js';
import { json } from '../support/fake-engine.js';
import { type Rig, startRig } from '../support/gateway-rig.js';
import { answerIn, RawClient } from '../support/raw-client.js';
import { metric, until } from '../support/until.js';

const MIB = 1024 * 1024;
const OK = json({ ok: true });

let running: Rig | undefined;
const clients: RawClient[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.socket.destroy();
  await running?.stop();
  running = undefined;
});

async function start(settings: GatewaySettings): Promise<Rig> {
  running = await startRig(OK, settings);
  return running;
}

async function open(rig: Rig, bytes = ''): Promise<RawClient> {
  const client = await RawClient.open(rig.gateway.port);
  clients.push(client);
  client.send(bytes);
  return client;
}

const metricIs = (rig: Rig, name: string, value: number): Promise<void> =>
  until(`${name} ${value}`, () => metric(rig, name) === value);

async function ends(client: RawClient): Promise<{ status: number; reason: string | undefined }> {
  const { status, headers } = answerIn(await client.rest());
  return { status, reason: headers['x-holdfast-reason'] };
}

function head(more: string, path = '/v1/chat/completions'): string {
  return `POST ${path} HTTP/1.1\r\nhost: g\r\nauthorization: Bearer raw\r\ncontent-type: application/json\r\n${more}\r\n\r\n`;
}

describe('bodies that are being read', () => {
  test('share one bound: past it a request is refused, and memory follows the bound', async () => {
    const rig = await start({ inbound: { bodyBytes: 8 * MIB } });
    const base = baseOf(rig.metrics);
    const piece = 'x'.repeat(MIB);
    const many = await Promise.all(
      Array.from({ length: 40 }, () => open(rig, head(`content-length: ${4 * MIB}`))),
    );
    for (const client of many) client.send(piece);
    for (let count = 1; count <= 32; count += 1) {
      const ended = await rig.verdict('attempt-ended', count);
      equal(ended.ending, 'rejected_bodies_full');
    }
    ok(metric(rig, 'holdfast_request_body_bytes') <= 8 * MIB);
    ok(process.memoryUsage().arrayBuffers < 8 * MIB + 40 * MIB, 'what was refused is not kept');
    const turnedAway = (): RawClient | undefined => many.find(({ text }) => text.includes('reason'));
    await until('a refusal', () => turnedAway() !== undefined);
    const { status, headers, body } = answerIn((await turnedAway()?.rest()) ?? '');
    deepEqual([status, headers['x-holdfast-reason']], [429, 'rejected_bodies_full']);
    match(body, /Too many bytes/);
    for (const client of many) client.socket.destroy();
    await backAt(base, rig.metrics);
    const after = await RawClient.ask(rig.gateway.port, { headers: { connection: 'close' } });
    equal(answerIn(await after.rest()).status, 200);
  });

  test('end when they fall silent, and when they take too long in all', async () => {
    const cases: GatewaySettings[] = [{ inbound: { bodyIdleMs: 50 } }, { inbound: { bodyMs: 50 } }];
    for (const settings of cases) {
      const rig = await start(settings);
      const slow = await open(rig, head('content-length: 100') + '{');
      const drip = setInterval(() => slow.send(' '), 5);
      if (settings.inbound?.bodyMs === undefined) clearInterval(drip);
      deepEqual(await ends(slow), { status: 400, reason: 'rejected_too_slow' });
      clearInterval(drip);
      deepEqual(rig.ledger(), ['rejected_too_slow']);
      equal(rig.engine.calls.items.length, 0);
      await rig.stop();
    }
  });
});

describe('a compressed body', () => {
  const text = JSON.stringify({ model: 'tiny', messages: [{ role: 'user', content: 'a'.repeat(2_000) }] });
  const packers: Record<string, (text: string) => Buffer> = {
    gzip: gzipSync,
    'x-gzip': gzipSync,
    deflate: deflateSync,
    br: (plain) => brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  };

  test('is unpacked: the engine gets plain bytes', async () => {
    const rig = await start({});
    let count = 0;
    for (const [encoding, pack] of Object.entries(packers)) {
      const client = await RawClient.open(rig.gateway.port);
      const packed = pack(text);
      client.socket.write(
        head(`connection: close\r\ncontent-encoding: ${encoding}\r\ncontent-length: ${packed.length}`),
      );
      client.socket.write(packed);
      equal((await ends(client)).status, 200, encoding);
      count += 1;
      const call = await rig.engine.calls.next('the execution', () => true, count);
      deepEqual([call.body, call.request.headers['content-encoding']], [text, undefined], encoding);
    }
  });

  test('counts by what it unpacks to: a bomb is refused at the bound', async () => {
    const rig = await start({ requestBytes: MIB });
    const base = baseOf(rig.metrics);
    for (const [encoding, pack] of Object.entries(packers)) {
      const bomb = pack('a'.repeat(16 * MIB));
      ok(bomb.length < MIB);
      const client = await RawClient.open(rig.gateway.port);
      client.socket.write(head(`content-encoding: ${encoding}\r\ncontent-length: ${bomb.length}`));
      client.socket.write(bomb);
      deepEqual(await ends(client), { status: 413, reason: 'rejected_too_large' }, encoding);
    }
    equal(rig.engine.calls.items.length, 0);
    await backAt(base, rig.metrics);
  });

  test('that is not what it says is refused', async () => {
    const rig = await start({});
    for (const encoding of Object.keys(packers)) {
      const client = await open(
        rig,
        head(`content-encoding: ${encoding}\r\ncontent-length: 9`) + 'not so at',
      );
      deepEqual(await ends(client), { status: 400, reason: 'rejected_malformed' }, encoding);
    }
    const cut = gzipSync(text).subarray(0, 30);
    const client = await open(rig, head('content-encoding: gzip\r\ncontent-length: 30'));
    client.socket.write(cut);
    deepEqual(await ends(client), { status: 400, reason: 'rejected_malformed' });
  });
});

describe('connections', () => {
  test('beyond their bound are closed at once and counted, and room comes back', async () => {
    const rig = await start({ inbound: { connections: 3 } });
    const held = await Promise.all([open(rig), open(rig), open(rig)]);
    await metricIs(rig, 'holdfast_connections_open', 3);
    const fourth = await open(rig);
    equal(await fourth.rest(), '');
    await metricIs(rig, 'holdfast_connections_dropped_total', 1);
    held[0]?.socket.destroy();
    await metricIs(rig, 'holdfast_connections_open', 2);
    const again = await RawClient.ask(rig.gateway.port, { headers: { connection: 'close' } });
    equal((await ends(again)).status, 200);
  });

  test('that never ask are closed without a word, slow headers with one, idle ones after their time', async () => {
    const rig = await start({ inbound: { headersMs: 100, keepAliveMs: 100 } });
    const silent = await open(rig);
    equal(await silent.rest(), '');
    const slow = await open(rig, 'POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\nx: ');
    deepEqual(await ends(slow), { status: 400, reason: 'rejected_too_slow' });
    const idle = await RawClient.ask(rig.gateway.port);
    equal((await ends(idle)).status, 200);
    deepEqual(rig.ledger(), ['delivered']);
  });

  test('are closed without a word in the middle of an answer when what follows is not HTTP', async () => {
    const rig = await start({});
    rig.engine.script = () => {};
    const client = await RawClient.ask(rig.gateway.port);
    await rig.engine.calls.next('the execution');
    client.send('\0\0\0 not HTTP\r\n\r\n');
    equal(await client.rest(), '', 'the words would be taken for the answer to the first request');
    equal((await rig.verdict('attempt-ended')).ending, 'left_before_first_byte');
  });
});

describe('headers', () => {
  test('that are too long or too many are refused, and none is dropped in silence', async () => {
    const rig = await start({ inbound: { headerBytes: 4096, headerFields: 20 } });
    const long = await open(rig, head(`x: ${'y'.repeat(5000)}\r\ncontent-length: 2`) + '{}');
    deepEqual(await ends(long), { status: 431, reason: 'rejected_headers_too_large' });
    const lines = Array.from({ length: 20 }, (_, at) => `x-${at}: y`);
    const many = await open(rig, head(`${lines.join('\r\n')}\r\ncontent-length: 2`) + '{}');
    deepEqual(await ends(many), { status: 431, reason: 'rejected_headers_too_large' });
    equal(rig.engine.calls.items.length, 0);
  });

  test('of the most that is taken reach the engine, all of them', async () => {
    const rig = await start({ inbound: { headerFields: 4000 } });
    const lines = Array.from({ length: 3000 }, (_, at) => `x-${at}: y`);
    const client = await open(
      rig,
      head(`${lines.join('\r\n')}\r\nconnection: close\r\ncontent-length: 2`) + '{}',
    );
    equal((await ends(client)).status, 200);
    const { request } = await rig.engine.calls.next('the execution');
    equal(request.rawHeaders.filter((name) => name.startsWith('x-')).length, 3001);
  });
});

test('a tenant has so many requests under way and no more, whatever others have', async () => {
  const rig = await start({ inbound: { tenantAttempts: 2 } });
  rig.engine.script = () => {};
  const ask = (key: string, at: number): Promise<RawClient> =>
    RawClient.ask(rig.gateway.port, {
      headers: { authorization: `Bearer ${key}`, connection: 'close' },
      body: `{"at":${at}}`,
    });
  const [first] = [await ask('a', 1), await ask('a', 2)];
  await rig.verdict('attach', 2);
  deepEqual(await ends(await ask('a', 3)), { status: 429, reason: 'rejected_tenant_full' });
  rig.engine.script = OK;
  equal((await ends(await ask('b', 3))).status, 200);
  first.socket.destroy();
  await rig.heard('leave');
  equal((await ends(await ask('a', 3))).status, 200);
});
