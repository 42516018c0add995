/**
 * Clients that leave in every way, at any moment, before an engine that fails in every way: whatever a client takes
 * for a whole answer is one, no execution serves two calls, and in the end nothing is open.
 */

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../../src/core/chance/random.js';
import type { GatewaySettings } from '../../src/shell/gateway/config.js';
import { type EngineCall, event, json, openStream, type Script } from '../support/fake-engine.js';
import { type Rig, startRig } from '../support/gateway-rig.js';
import { within } from '../support/promised.js';
import { answerIn, RawClient } from '../support/raw-client.js';
import { seeds } from '../support/seeds.js';

const CLIENTS = 80;
const PARALLEL = 16;
/** Longest that a client or the engine of these tests waits before its next deed, milliseconds. */
const PAUSE_MS = 25;

/** Everything short, so that all of it happens within a second. */
const HASTY: GatewaySettings = {
  readerBytes: 100_000,
  drainMs: 5_000,
  upstreamTimeouts: { firstByteMs: 200, idleMs: 200 },
  control: {
    room: 6,
    grace: 40,
    graceAfterFirstByteMs: 20,
    retainMs: 60,
    retainKeyedMs: 80,
    replayDeliveredMs: 60,
    deliveredAfterMs: 20,
    lateMergeMs: 30,
    lateMergeHoldMs: 10,
    // A storm is over within one rest as long as the default.
    health: { restMs: 1, longestRestMs: 5, slowStartMs: 0 },
    bounds: { replayBytes: 100_000, lineEntries: 8, lineWaitMs: 150, retainedBytes: 300_000 },
  },
};

function idOf({ request }: EngineCall): string {
  return String(request.headers['x-request-id']);
}

/** An engine that does, for each request, one of the things that engines do. */
function engineScript(random: Random): Script {
  const token = (call: EngineCall, size: number): string => event({ id: idOf(call), text: 'x'.repeat(size) });
  const pause = (): Promise<void> => sleep(random.uniform() * PAUSE_MS);
  const stream = async (call: EngineCall, tokens: number, size: number, last: string): Promise<void> => {
    openStream(call);
    for (let turn = 0; turn < tokens; turn += 1) {
      await pause();
      call.response.write(token(call, size));
    }
    call.response.end(last);
  };
  const deeds: ((call: EngineCall) => Promise<unknown>)[] = [
    async (call) => json({ id: idOf(call) })(call),
    async (call) => stream(call, 3, 100, event('[DONE]')),
    async (call) => stream(call, 5, 40_000, event('[DONE]')),
    async (call) => stream(call, 2, 100, ''),
    async (call) => stream(call, 2, 100, event({ error: { message: 'no' } }) + event('[DONE]')),
    async (call) => stream(call, 0, 0, event({ error: { message: 'no', code: 503 } })),
    async (call) => stream(call, 2, 100, '').then(() => call.socket.resetAndDestroy()),
    async ({ socket }) => socket.destroy(),
    async (call) => json({ error: { message: 'busy' } }, 503)(call),
    async (call) => json({ error: { message: 'wrong' } }, 400)(call),
    async ({ socket }) => socket.write('nonsense\r\n\r\n'),
    async () => undefined,
  ];
  return (call) => {
    const favourite = random.uniform() < 0.6;
    const at = Math.floor(random.uniform() * (favourite ? 3 : deeds.length));
    void pause().then(() => deeds[at]?.(call));
  };
}

interface Taken {
  readonly call: string;
  readonly execution: string;
}

/** One client; what it took for a whole answer, if anything. */
async function client(rig: Rig, random: Random): Promise<Taken | undefined> {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random.uniform() * items.length)] as T;
  const headers: Record<string, string> = {
    authorization: pick(['Bearer one', 'Bearer two']),
    connection: pick(['close', 'close', 'keep-alive']),
    'user-agent': pick(['OpenAI/Python 2.54.0', 'codex_cli_rs/1', 'curl/8']),
  };
  if (random.uniform() < 0.3) headers['idempotency-key'] = pick(['a', 'b']);
  if (random.uniform() < 0.3) headers['x-stainless-retry-count'] = pick(['0', '1', '2']);
  if (random.uniform() < 0.1) headers['x-holdfast-cancel-on-leave'] = 'true';
  const body = JSON.stringify({ model: 'tiny', stream: true, number: Math.floor(random.uniform() * 5) });
  const one = await RawClient.ask(rig.gateway.port, { headers, body });
  const leave = pick(['stay', 'stay', 'stay', 'destroy', 'reset', 'end', 'stall'] as const);
  if (leave === 'stay') return taken(one, headers['connection'] === 'close');
  await sleep(random.uniform() * PAUSE_MS * 3);
  if (leave === 'stall') {
    one.socket.pause();
    await sleep(PAUSE_MS * 2);
  }
  if (leave === 'reset') one.socket.resetAndDestroy();
  else if (leave === 'end') one.socket.end();
  else one.socket.destroy();
  return undefined;
}

async function taken(one: RawClient, closes: boolean): Promise<Taken | undefined> {
  const text = closes ? await one.rest() : await framed(one);
  one.socket.destroy();
  const { status, headers, body } = answerIn(text);
  const whole = body.endsWith('0\r\n\r\n') || Number(headers['content-length'] ?? -1) === body.length;
  if (status !== 200 || !whole) return undefined;
  const execution = headers['x-holdfast-execution'] ?? '';
  const ids = new Set(body.match(/execution-[\da-f]+/g) ?? []);
  if (!body.includes('"error"')) {
    ok(
      body.includes('[DONE]') || headers['content-type'] === 'application/json',
      `not whole: ${text.slice(-200)}`,
    );
    deepEqual([...ids], [execution]);
  }
  return { call: headers['x-holdfast-call'] ?? '', execution };
}

/** Resolves with the answer of a connection that is kept: its framing says when it is over. */
async function framed(one: RawClient): Promise<string> {
  for (;;) {
    const { headers, body } = answerIn(one.text);
    const length = Number(headers['content-length'] ?? Number.NaN);
    if (one.over || body.length === length || body.endsWith('0\r\n\r\n')) return one.text;
    await sleep(5);
  }
}

for (const seed of seeds(3)) {
  test(`storm ${seed}: nothing is taken for whole that is not, nothing is given twice, nothing stays open`, async () => {
    const random = new Random(seed, 'storm');
    const rig = await startRig(engineScript(random.stream('engine')), HASTY);
    const all: Taken[] = [];
    let left = CLIENTS;
    const work = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        const got = await client(rig, random.stream(`client ${left}`));
        if (got !== undefined) all.push(got);
        await sleep(random.uniform() * PAUSE_MS);
      }
    };
    await within('all clients', Promise.all(Array.from({ length: PARALLEL }, work)), 60_000);
    await rig.gateway.drain();
    await rig.engine.stop();
    // How many depends on how fast the machine is; one that is too busy for any has shown nothing.
    ok(all.length > 0, 'no answer at all');
    const calls = new Map<string, string>();
    for (const { call, execution } of all) {
      equal(calls.get(execution) ?? call, call, `execution ${execution} was given to two calls`);
      calls.set(execution, call);
    }
    const { attempts, entries, executions, calls: accounts } = rig.gateway.ledger;
    deepEqual([attempts.open, entries.open, executions.open, accounts.open], [0, 0, 0, 0]);
    equal(attempts.opened, CLIENTS);
    equal(rig.ledger().length, CLIENTS);
  });
}
