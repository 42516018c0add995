/** A real nginx before the gateway: as shipped, and what each line of its configuration is there for. */

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { CONTROL_DEFAULTS } from '../../src/core/control/options.js';
import { gatewayConfig } from '../../src/shell/gateway/config.js';
import { json } from '../support/fake-engine.js';
import { answerIn, RawClient, requestText } from '../support/raw-client.js';
import { type Edits, NGINX_CONFIG, nginx, startNginx } from './proxy.js';
import {
  askFrom,
  BUSY,
  connectionsOf,
  decisions,
  heldStream,
  type Kind,
  PASSED,
  PAUSE_MS,
  STREAM,
  scene,
  shipped,
} from './scenes.js';

const MIB = 1024 * 1024;
const NGINX: Kind = { name: 'nginx', had: nginx, start: startNginx };

shipped(NGINX, { cut: [['proxy_read_timeout 1h;', `proxy_read_timeout ${PAUSE_MS}ms;`]], cutStatus: 504 });

/** The value of a directive of time, in milliseconds. */
function timeOf(directive: string): number {
  const [, amount, unit = ''] = new RegExp(`\\b${directive} (\\d+)([smh]);`).exec(NGINX_CONFIG) ?? [];
  return Number(amount) * ({ s: 1_000, m: 60_000, h: 3_600_000 }[unit] ?? Number.NaN);
}

test('its times fit the gateway’s own', () => {
  const { inbound } = gatewayConfig();
  ok(timeOf('keepalive_timeout') < inbound.keepAliveMs);
  ok(timeOf('proxy_read_timeout') > CONTROL_DEFAULTS.bounds.lineWaitMs);
});

test('its bounds are the gateway’s own', () => {
  const { requestBytes, inbound } = gatewayConfig();
  ok(NGINX_CONFIG.includes(`client_max_body_size ${requestBytes / 1024 / 1024}m;`));
  ok(NGINX_CONFIG.includes(` ${inbound.headerBytes / 1024}k;`));
});

const BUFFERED = ['proxy_buffering off;', 'proxy_buffering on;'] as const;
const ZIPPED =
  'gzip on; gzip_types text/event-stream; gzip_proxied any; gzip_min_length 0; gzip_http_version 1.0;';

/** Whether the first event had come to the client while the engine held the rest. */
const EARLY: readonly (readonly [what: string, edits: Edits, comes: boolean])[] = [
  ['buffering on and HTTP/1.0', [BUFFERED, ['proxy_http_version 1.1;', 'proxy_http_version 1.0;']], false],
  ['buffering on and gzip', [BUFFERED, ['gzip off;', ZIPPED]], false],
  ['buffering off and gzip', [['gzip off;', ZIPPED]], true],
];

for (const [what, edits, comes] of EARLY) {
  test(`with ${what}, the first event of a stream ${comes ? 'arrives' : 'is held back until the rest comes'}`, async (t) => {
    const { script, release } = heldStream();
    const stage = await scene(t, NGINX, script, { edits });
    if (stage === undefined) return;
    const client = await RawClient.ask(stage.port, { ...STREAM, headers: { 'accept-encoding': 'gzip' } });
    await stage.rig.heard('first-byte');
    if (comes) await client.until('\r\n\r\n');
    await sleep(PAUSE_MS);
    equal(client.text.includes('\r\n\r\n'), comes);
    release();
    await client.until('0\r\n\r\n');
    client.socket.destroy();
  });
}

test('with its buffering on, an answer that its client never took counts as delivered, and its retry as a new call', async (t) => {
  for (const [edits, ending, decision] of [
    [[], 'left_mid_answer', 'adopt_answer'],
    [[BUFFERED], 'delivered', 'new_call'],
  ] as const) {
    // More than the buffers of all the sockets between take.
    const answer = { text: 'x'.repeat(24 * MIB) };
    const settings = { control: { bounds: { replayBytes: 30 * MIB }, replayDeliveredMs: 0 } };
    const stage = await scene(t, NGINX, json(answer), { edits, settings });
    if (stage === undefined) return;
    const { rig, port } = stage;
    const client = await RawClient.ask(port);
    client.socket.pause();
    await rig.heard('finish');
    if (ending === 'delivered') await rig.verdict('attempt-ended');
    client.socket.destroy();
    equal((await rig.verdict('attempt-ended')).ending, ending);
    const again = await RawClient.ask(port);
    await rig.verdict('decided', 2);
    again.socket.destroy();
    equal(decisions(rig)[1], decision);
  }
});

test('with client aborts ignored, a client that leaves is not seen to leave, and its retry makes a second execution', async (t) => {
  const edits: Edits = [['proxy_ignore_client_abort off;', 'proxy_ignore_client_abort on;']];
  const stage = await scene(t, NGINX, () => {}, { edits });
  if (stage === undefined) return;
  const first = await RawClient.ask(stage.port);
  await stage.rig.verdict('start');
  first.socket.destroy();
  await sleep(PAUSE_MS);
  const second = await RawClient.ask(stage.port);
  await stage.rig.verdict('start', 2);
  second.socket.destroy();
  deepEqual(decisions(stage.rig), ['new_call', 'new_call_beside_live']);
});

test('when it asks again after a 503, one request becomes two attempts', async (t) => {
  const edits: Edits = [
    ['proxy_next_upstream error;', 'proxy_next_upstream error http_503 non_idempotent;'],
    ['server 127.0.0.1:8900;', 'server 127.0.0.1:8900; server 127.0.0.1:8900 weight=2;'],
  ];
  const stage = await scene(t, NGINX, BUSY, { edits, settings: PASSED });
  if (stage === undefined) return;
  const client = await RawClient.ask(stage.port);
  await client.until('busy');
  client.socket.destroy();
  equal(stage.rig.gateway.ledger.attempts.opened, 2);
});

test('of two gateways, one that is down costs its clients no attempt', async (t) => {
  const edits: Edits = [['server 127.0.0.1:8900;', 'server 127.0.0.1:1; server 127.0.0.1:8900;']];
  const stage = await scene(t, NGINX, json({ ok: true }), { edits });
  if (stage === undefined) return;
  for (let at = 0; at < 4; at += 1) {
    const client = await RawClient.ask(stage.port, { headers: { connection: 'close' } });
    equal(answerIn(await client.rest()).status, 200);
  }
  equal(stage.rig.gateway.ledger.attempts.opened, 4);
});

test('with HTTP/1.0 to the gateway, no connection is kept for the next request', async (t) => {
  const edits: Edits = [['proxy_http_version 1.1;', 'proxy_http_version 1.0;']];
  const stage = await scene(t, NGINX, json({ ok: true }), { edits });
  if (stage === undefined) return;
  const client = await RawClient.ask(stage.port, { headers: { connection: 'close' } });
  equal(answerIn(await client.rest()).status, 200);
  while (connectionsOf(stage.rig) > 0) await sleep(20);
});

test('without the address in a header, one client is given what another one left', async (t) => {
  const edits: Edits = [['proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;', '']];
  const stage = await scene(t, NGINX, () => {}, { edits, settings: { trustedProxies: ['127.0.0.1'] } });
  if (stage === undefined) return;
  for (const [at, address] of ['127.0.0.2', '127.0.0.3'].entries()) {
    await askFrom(stage.port, address, {}, async () => stage.rig.verdict('attach', at + 1));
    await stage.rig.heard('leave', at + 1);
  }
  deepEqual(decisions(stage.rig), ['new_call', 'adopt_execution']);
});

test('with its default buffers for headers, long ones are refused before the gateway sees them', async (t) => {
  const edits: Edits = [['large_client_header_buffers 8 64k;', '']];
  const stage = await scene(t, NGINX, json({ ok: true }), { edits });
  if (stage === undefined) return;
  const client = await RawClient.ask(stage.port, { headers: { 'x-long': 'x'.repeat(40_000) } });
  equal(answerIn(await client.rest()).status, 400);
  equal(stage.rig.gateway.ledger.attempts.opened, 0);
});

test('a body that trickles in waits in nginx, and in the gateway when request buffering is off', async (t) => {
  for (const buffered of [true, false]) {
    const edits: Edits = buffered ? [] : [['proxy_request_buffering on;', 'proxy_request_buffering off;']];
    const stage = await scene(t, NGINX, json({ ok: true }), { edits });
    if (stage === undefined) return;
    const whole = requestText({ body: `{"model":"tiny","prompt":"${'x'.repeat(10_000)}"}` });
    const client = await RawClient.open(stage.port);
    client.send(whole.slice(0, -100));
    await sleep(PAUSE_MS);
    equal(connectionsOf(stage.rig), buffered ? 0 : 1);
    client.send(whole.slice(-100));
    await client.until('{"ok":true}');
    client.socket.destroy();
  }
});
