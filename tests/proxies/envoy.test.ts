/** A real Envoy before the gateway: as shipped, and what each line of its configuration is there for. */

import { equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { gatewayConfig } from '../../src/shell/gateway/config.js';
import { event, openStream } from '../support/fake-engine.js';
import { answerIn, RawClient } from '../support/raw-client.js';
import { type Edits, ENVOY_CONFIG, envoy, startEnvoy } from './proxy.js';
import { BUSY, type Kind, PASSED, PAUSE_MS, STREAM, scene, shipped, TOKEN } from './scenes.js';

const ENVOY: Kind = { name: 'Envoy', had: envoy, start: startEnvoy };
const ROUTE_TIMEOUT = '                            timeout: 0s';

shipped(ENVOY, {
  cut: [['stream_idle_timeout: 0s', `stream_idle_timeout: 0.${PAUSE_MS}s`]],
  cutStatus: 504,
});

test('its bounds and times fit the gateway’s own', () => {
  const { inbound } = gatewayConfig();
  equal(ENVOY_CONFIG.split(`: ${inbound.connections}`).length - 1, 3);
  ok(ENVOY_CONFIG.includes(`max_request_headers_kb: ${inbound.headerBytes / 1024}`));
  const [, seconds] = /\{ idle_timeout: (\d+)s \}/.exec(ENVOY_CONFIG) ?? [];
  ok(Number(seconds) * 1_000 < inbound.keepAliveMs);
});

test('with a timeout of its route, a stream is cut in the middle although it flows', async (t) => {
  const edits: Edits = [[ROUTE_TIMEOUT, `                            timeout: 0.${PAUSE_MS}s`]];
  const flowing = (call: Parameters<typeof openStream>[0]): void => {
    openStream(call);
    const timer = setInterval(() => call.response.write(TOKEN), 20);
    call.socket.once('close', () => clearInterval(timer));
  };
  const stage = await scene(t, ENVOY, flowing, { edits });
  if (stage === undefined) return;
  const client = await RawClient.ask(stage.port, STREAM);
  const text = await client.rest();
  ok(text.includes('first') && !text.endsWith('0\r\n\r\n'), text.slice(-200));
  await stage.rig.heard('leave');
});

test('with a retry policy, one request becomes as many attempts as it allows', async (t) => {
  const policy = `${ROUTE_TIMEOUT}\n                            retry_policy: { retry_on: 5xx, num_retries: 2 }`;
  const edits: Edits = [
    [ROUTE_TIMEOUT, policy],
    ['max_retries: 0', 'max_retries: 3'],
  ];
  const stage = await scene(t, ENVOY, BUSY, { edits, settings: PASSED });
  if (stage === undefined) return;
  const client = await RawClient.ask(stage.port);
  await client.until('busy');
  client.socket.destroy();
  equal(stage.rig.gateway.ledger.attempts.opened, 3);
});

test('a client may not order retries, as it may without the line on internal addresses', async (t) => {
  const edits: Edits = [
    [
      '                internal_address_config: {}',
      '                internal_address_config: { cidr_ranges: [{ address_prefix: 127.0.0.0, prefix_len: 8 }] }',
    ],
    ['max_retries: 0', 'max_retries: 3'],
  ];
  const stage = await scene(t, ENVOY, BUSY, { edits, settings: PASSED });
  if (stage === undefined) return;
  const headers = { 'x-envoy-retry-on': '5xx', 'x-envoy-max-retries': '2' };
  const client = await RawClient.ask(stage.port, { headers });
  await client.until('busy');
  client.socket.destroy();
  equal(stage.rig.gateway.ledger.attempts.opened, 3);
});

test('beyond its circuit breaker, which is 1,024 unless it is set, waiting calls are refused in words not the gateway’s', async (t) => {
  const bounds =
    '{ max_connections: 16384, max_pending_requests: 16384, max_requests: 16384, max_retries: 0 }';
  const edits: Edits = [[bounds, '{ max_connections: 2, max_pending_requests: 1, max_requests: 2 }']];
  const stage = await scene(t, ENVOY, () => {}, { edits });
  if (stage === undefined) return;
  const clients: RawClient[] = [];
  for (let at = 0; at < 4; at += 1) {
    clients.push(await RawClient.ask(stage.port, { body: `{"model":"tiny","n":${at}}` }));
    if (at < 2) await stage.rig.verdict('start', at + 1);
    else await sleep(PAUSE_MS / 4);
  }
  const { status, headers } = answerIn((await clients[3]?.until('\r\n\r\n')) ?? '');
  equal(status, 503);
  equal(headers['x-holdfast-reason'], undefined);
  for (const { socket } of clients) socket.destroy();
});

test('an event larger than its buffers goes through whole', async (t) => {
  const large = event({ text: 'x'.repeat(4 * 1024 * 1024) });
  const settings = { control: { bounds: { replayBytes: 16 * 1024 * 1024 } } };
  const stage = await scene(
    t,
    ENVOY,
    (call) => {
      openStream(call);
      call.response.end(large + event('[DONE]'));
    },
    { settings },
  );
  if (stage === undefined) return;
  const client = await RawClient.ask(stage.port, STREAM);
  ok((await client.until('[DONE]')).length > large.length);
  client.socket.destroy();
});
