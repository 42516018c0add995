/** What has to hold behind every proxy that is configured as shipped. */

import { deepEqual, equal, ok } from 'node:assert/strict';
import { request } from 'node:http';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { readExposition, valueOf } from '../../src/core/meter/exposition.js';
import type { GatewaySettings } from '../../src/shell/gateway/config.js';
import { type EngineCall, event, json, openStream, type Script } from '../support/fake-engine.js';
import { type Rig, startRig } from '../support/gateway-rig.js';
import { answerIn, RawClient, type RawRequest } from '../support/raw-client.js';
import type { Requirement } from '../support/requirement.js';
import type { Edits, StartProxy } from './proxy.js';

/** Long enough for anything that is not held back to have come, milliseconds. */
export const PAUSE_MS = 400;

export const TOKEN = event({ choices: [{ delta: { content: 'first' } }] });
export const DONE = event('[DONE]');
export const STREAM: RawRequest = { body: '{"model":"tiny","stream":true,"messages":[]}' };

/** An engine that says 503, and a gateway that passes it on at once instead of waiting for the engine. */
export const BUSY = json({ error: { message: 'busy' } }, 503);
export const PASSED: GatewaySettings = { control: { unavailable: 'pass' } };

/** A proxy by name: how it is had, and how it is started. */
export interface Kind {
  readonly name: string;
  readonly had: Requirement<string>;
  readonly start: StartProxy;
}

export interface Scene {
  readonly rig: Rig;
  /** Where clients ask. */
  readonly port: number;
}

export interface Stage {
  readonly settings?: GatewaySettings;
  /** What differs from the shipped configuration. */
  readonly edits?: Edits;
}

/** A gateway with `kind` before it, taken down when the test ends; undefined when it cannot be had. */
export async function scene(
  t: TestContext,
  { had, start }: Kind,
  script: Script,
  { settings, edits }: Stage = {},
): Promise<Scene | undefined> {
  const command = await had.met(t);
  if (command === undefined) return undefined;
  const rig = await startRig(script, settings);
  t.after(() => rig.stop());
  const proxy = await start(command, rig.gateway.port, edits);
  t.after(() => proxy.stop());
  return { rig, port: proxy.port };
}

/** The first event, and the rest when the test says so. */
export function heldStream(): { readonly script: Script; readonly release: () => void } {
  let held: EngineCall | undefined;
  return {
    script: (call) => {
      openStream(call);
      call.response.write(TOKEN);
      held = call;
    },
    release: () => held?.response.end(DONE),
  };
}

/** An answer, `ms` after its request. */
export function late(ms: number): Script {
  return (call) => {
    setTimeout(() => json({ ok: true })(call), ms);
  };
}

/** Asks from `localAddress`, and leaves once the gateway has heard of it when `leaves` says how. */
export async function askFrom(
  port: number,
  localAddress: string,
  headers: Readonly<Record<string, string>>,
  leaves?: () => Promise<unknown>,
): Promise<void> {
  const asked = request({
    port,
    host: '127.0.0.1',
    localAddress,
    method: 'POST',
    path: '/v1/completions',
    headers: { ...headers, 'content-type': 'application/json' },
  });
  asked.on('error', () => {});
  asked.end('{"model":"tiny"}');
  await leaves?.();
  asked.destroy();
}

export function decisions(rig: Rig): readonly string[] {
  return rig.verdicts.items.flatMap((verdict) => (verdict.kind === 'decided' ? [verdict.decision] : []));
}

/** Connections to the gateway that are open now. */
export function connectionsOf({ metrics }: Rig): number {
  return valueOf(readExposition(metrics.text()), 'holdfast_connections_open') ?? Number.NaN;
}

/** The tests that are the same for every proxy. */
export function shipped(kind: Kind, defaults: { readonly cut: Edits; readonly cutStatus: number }): void {
  const { name } = kind;

  test(`behind ${name}, the first event of a stream arrives while the engine holds the rest`, async (t) => {
    const { script, release } = heldStream();
    const stage = await scene(t, kind, script);
    if (stage === undefined) return;
    const client = await RawClient.ask(stage.port, STREAM);
    await client.until('first');
    ok(!client.text.includes('[DONE]'));
    release();
    await client.until('0\r\n\r\n');
    client.socket.destroy();
  });

  test(`behind ${name}, a client that leaves is a departure, and its retry gets the same execution`, async (t) => {
    let answer = (): void => {};
    const stage = await scene(t, kind, (call) => {
      answer = () => json({ ok: true })(call);
    });
    if (stage === undefined) return;
    const { rig, port } = stage;
    const first = await RawClient.ask(port);
    await rig.verdict('start');
    await rig.engine.calls.next('the execution');
    first.socket.destroy();
    await rig.heard('leave');
    const second = await RawClient.ask(port);
    await rig.verdict('attach', 2);
    answer();
    const { status, headers } = answerIn(await second.until('{"ok":true}'));
    second.socket.destroy();
    deepEqual([status, headers['x-holdfast-outcome']], [200, 'attached']);
    equal(rig.engine.calls.items.length, 1);
  });

  test(`behind ${name}, a silence beyond its read timeout is survived as shipped, and cut with a short one`, async (t) => {
    const whole = await scene(t, kind, late(3 * PAUSE_MS));
    if (whole === undefined) return;
    const client = await RawClient.ask(whole.port);
    equal(answerIn(await client.until('{"ok":true}')).status, 200);
    client.socket.destroy();
    const cut = await scene(t, kind, () => {}, { edits: defaults.cut });
    if (cut === undefined) return;
    const waiting = await RawClient.ask(cut.port, { headers: { connection: 'close' } });
    const { status, headers } = answerIn(await waiting.until('\r\n\r\n'));
    equal(status, defaults.cutStatus);
    equal(headers['x-holdfast-reason'], undefined, 'not the gateway’s words');
    await cut.rig.heard('leave');
    waiting.socket.destroy();
  });

  test(`behind ${name}, an engine that says 503 is asked once for one request`, async (t) => {
    const stage = await scene(t, kind, BUSY, { settings: PASSED });
    if (stage === undefined) return;
    const client = await RawClient.ask(stage.port, {
      headers: { 'x-envoy-retry-on': '5xx', 'x-envoy-max-retries': '3' },
    });
    equal(answerIn(await client.until('busy')).status, 503);
    client.socket.destroy();
    await sleep(PAUSE_MS);
    equal(stage.rig.gateway.ledger.attempts.opened, 1);
    equal(stage.rig.engine.calls.items.length, 1);
  });

  test(`behind ${name}, an answer that breaks off is not ended as a whole one`, async (t) => {
    const stage = await scene(t, kind, (call) => {
      openStream(call);
      call.response.write(TOKEN, () => setTimeout(() => call.socket.destroy(), 20));
    });
    if (stage === undefined) return;
    const client = await RawClient.ask(stage.port, STREAM);
    const text = await client.rest();
    ok(text.includes('first'));
    ok(!text.endsWith('0\r\n\r\n'), text);
  });

  test(`behind ${name}, clients are told apart by the address that it saw, whatever they claim`, async (t) => {
    const stage = await scene(t, kind, () => {}, { settings: { trustedProxies: ['127.0.0.1'] } });
    if (stage === undefined) return;
    const { rig, port } = stage;
    const claims = { 'x-forwarded-for': '127.0.0.2' };
    for (const [at, address] of ['127.0.0.2', '127.0.0.3', '127.0.0.2'].entries()) {
      await askFrom(port, address, claims, async () => rig.verdict('attach', at + 1));
      await rig.heard('leave', at + 1);
    }
    deepEqual(decisions(rig), ['new_call', 'new_call', 'adopt_execution']);
  });

  test(`behind ${name}, headers as long as the gateway takes are passed on`, async (t) => {
    const stage = await scene(t, kind, json({ ok: true }));
    if (stage === undefined) return;
    const headers = { 'x-long': 'x'.repeat(40_000), connection: 'close' };
    const client = await RawClient.ask(stage.port, { headers });
    equal(answerIn(await client.rest()).status, 200);
  });

  test(`behind ${name}, requests one after the other share a connection to the gateway`, async (t) => {
    const stage = await scene(t, kind, json({ ok: true }));
    if (stage === undefined) return;
    for (let at = 0; at < 10; at += 1) {
      const client = await RawClient.ask(stage.port, { headers: { connection: 'close' } });
      equal(answerIn(await client.rest()).status, 200);
    }
    equal(connectionsOf(stage.rig), 1);
  });

  test(`behind ${name}, metrics are nobody’s`, async (t) => {
    const stage = await scene(t, kind, json({ ok: true }));
    if (stage === undefined) return;
    const client = await RawClient.ask(stage.port, {
      method: 'GET',
      path: '/metrics',
      body: '',
      headers: { connection: 'close' },
    });
    equal(answerIn(await client.rest()).status, 404);
  });
}
