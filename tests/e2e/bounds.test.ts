/**
 * Every bound, exactly at it: what fits is taken, and one more is refused by name or gives way to what was there. The
 * table has each bound that there is a setting for; bounds in time, which no test should measure, name the test of
 * what happens at them.
 */

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { Budget } from '../../src/core/control/budget.js';
import { Departures } from '../../src/core/control/departure.js';
import { controlOptions } from '../../src/core/control/options.js';
import { type GatewaySettings, SETTINGS } from '../../src/shell/gateway/config.js';
import { leavesOf } from '../../src/shell/shared/settings/table.js';
import { facts } from '../support/facts.js';
import { type EngineCall, json, type Script } from '../support/fake-engine.js';
import { type Rig, startRig } from '../support/gateway-rig.js';
import { answerIn, RawClient } from '../support/raw-client.js';
import { ROOT } from '../support/root.js';
import { metric, until } from '../support/until.js';

const OK = json({ ok: true });

let running: Rig | undefined;
const clients: RawClient[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.socket.destroy();
  await running?.stop();
  running = undefined;
});

async function start(settings: GatewaySettings, script: Script = OK): Promise<Rig> {
  running = await startRig(script, settings);
  return running;
}

async function open(rig: Rig, text = ''): Promise<RawClient> {
  const client = await RawClient.open(rig.gateway.port);
  clients.push(client);
  client.send(text);
  return client;
}

interface Question {
  readonly of?: string;
  readonly headers?: string;
  readonly body?: string;
}

function question({ of = 'a', headers = '', body = '{}' }: Question): string {
  const lines = `host: g\r\nauthorization: Bearer ${of}\r\nconnection: close\r\n${headers}content-length: ${body.length}`;
  return `POST /v1/completions HTTP/1.1\r\n${lines}\r\n\r\n${body}`;
}

const ask = (rig: Rig, asked: Question): Promise<RawClient> => open(rig, question(asked));

/** The status of the answer and why, when the gateway gave it. */
async function told(client: RawClient): Promise<string> {
  const { status, headers } = answerIn(await client.rest());
  return [status, headers['x-holdfast-reason'] ?? headers['x-holdfast-outcome']].join(' ');
}

/** A body of `bytes` that is like no other. */
let serial = 0;
function sized(bytes: number): string {
  serial += 1;
  const head = `{"n":${serial},"x":"`;
  return `${head}${'x'.repeat(bytes - head.length - 2)}"}`;
}

/** An answer of `bytes` whose client has left before it came, and what the engine is told to send it with. */
async function unread(rig: Rig, asked: Question, bytes: number): Promise<void> {
  const before = rig.engine.calls.items.length;
  const ends = rig.events.items.filter(({ kind }) => kind === 'leave').length;
  const client = await ask(rig, asked);
  const call = await rig.engine.calls.next('the execution', () => true, before + 1);
  client.socket.destroy();
  await rig.heard('leave', ends + 1);
  whole(call, bytes);
  await rig.verdict('execution-ended', before + 1);
}

function whole({ response }: EngineCall, bytes: number): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes });
  response.end(`"${'y'.repeat(bytes - 2)}"`);
}

const HELD: Script = () => {};
const one = { room: 1 } as const;

/** For each bound a scene, or where there is one already: the file and what its test is called. */
const BOUNDS: Readonly<Record<string, (() => Promise<void>) | readonly [file: string, title: string]>> = {
  request_bytes: async () => {
    const rig = await start({ requestBytes: 100 });
    equal(await told(await ask(rig, { body: sized(100) })), '200 started');
    equal(await told(await ask(rig, { body: sized(101) })), '413 rejected_too_large');
    const chunked = (body: string): string =>
      `POST /v1/completions HTTP/1.1\r\nhost: g\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    equal(await told(await open(rig, chunked(sized(100)))), '200 started');
    equal(await told(await open(rig, chunked(sized(101)))), '413 rejected_too_large');
  },
  reader_bytes: ['e2e/gateway-readers', 'is cut when it is further behind than its bound'],
  repeat_bytes: async () => {
    let asked = 0;
    const busy: Script = (call) => {
      asked += 1;
      if (asked === 2) OK(call);
      else json({ error: { message: 'busy' } }, 503)(call);
    };
    const rig = await start({ repeatBytes: 50 }, busy);
    equal(await told(await ask(rig, { body: sized(50) })), '200 started');
    equal(asked, 2, 'it was sent again');
    match(await told(await ask(rig, { body: sized(51) })), /^503 /);
    equal(asked, 3, 'it was sent once');
  },
  'inbound.connections': async () => {
    const rig = await start({ inbound: { connections: 2 } });
    const held = await open(rig);
    equal(await told(await ask(rig, {})), '200 started');
    await until('one connection', () => metric(rig, 'holdfast_connections_open') === 1);
    const second = await open(rig);
    await until('two connections', () => metric(rig, 'holdfast_connections_open') === 2);
    equal(await (await open(rig)).rest(), '');
    equal(metric(rig, 'holdfast_connections_dropped_total'), 1);
    ok(!held.over && !second.over);
  },
  'inbound.pipelined': async () => {
    const rig = await start({ inbound: { pipelined: 3 } }, HELD);
    const calls = (count: number): string =>
      Array.from({ length: count }, () =>
        question({ body: sized(50) }).replace('connection: close\r\n', ''),
      ).join('');
    const fits = await open(rig, calls(3));
    await rig.verdict('attach', 3);
    const base = metric(rig, 'holdfast_connections_open');
    const over = await open(rig, calls(3) + 'GET /v1/models HTTP/1.1\r\nhost: g\r\n\r\n'.repeat(2_000));
    equal(await over.rest(), '');
    equal(metric(rig, 'holdfast_connections_overrun_total'), 1);
    await until('the departures', () => metric(rig, 'holdfast_attempts_open') === 3);
    equal(metric(rig, 'holdfast_connections_open'), base);
    ok(!fits.over);
    equal(rig.engine.calls.items.filter(({ request }) => request.method === 'GET').length, 0);
    // Some may still be on their way to the engine.
    rig.engine.script = OK;
    for (const call of rig.engine.calls.items) if (!call.response.destroyed) OK(call);
    await until('three answers', () => fits.text.match(/HTTP\/1\.1 200/g)?.length === 3);
    const { length } = rig.engine.calls.items;
    fits.send(calls(1));
    await rig.engine.calls.next('another one, once there is room', () => true, length + 1);
  },
  'inbound.body_bytes': async () => {
    const rig = await start({ inbound: { bodyBytes: 1_000 } });
    const slow = question({ body: sized(900) });
    await open(rig, slow.slice(0, -300));
    await until('the first part', () => metric(rig, 'holdfast_request_body_bytes') === 600);
    equal(await told(await ask(rig, { body: sized(400) })), '200 started');
    equal(await told(await ask(rig, { of: 'b', body: sized(401) })), '429 rejected_bodies_full');
    equal(metric(rig, 'holdfast_request_body_bytes'), 600);
  },
  'inbound.tenant_attempts': async () => {
    const rig = await start({ inbound: { tenantAttempts: 1 } }, HELD);
    await ask(rig, { body: sized(50) });
    await rig.verdict('attach');
    equal(await told(await ask(rig, { body: sized(50) })), '429 rejected_tenant_full');
    await ask(rig, { of: 'b', body: sized(50) });
    await rig.verdict('attach', 2);
  },
  'inbound.tenant_bytes': async () => {
    const settings = { ...one, grace: 'now', coalesce: 'off' } as const;
    const rig = await start({ inbound: { tenantBytes: 1_000 }, control: settings }, HELD);
    await ask(rig, { body: sized(900) });
    await rig.verdict('start');
    const inLine = await ask(rig, { body: sized(600) });
    await rig.verdict('queue');
    const slow = await open(rig, question({ body: sized(400) }).slice(0, -100));
    await until('the first part', () => metric(rig, 'holdfast_request_body_bytes') === 300);
    equal(await told(await ask(rig, { body: sized(101) })), '429 rejected_tenant_bytes');
    await ask(rig, { body: sized(100) });
    await rig.verdict('queue', 2);
    await ask(rig, { of: 'b', body: sized(1_000) });
    await rig.verdict('queue', 3);
    slow.socket.destroy();
    inLine.socket.destroy();
    await rig.verdict('drop');
    await until('the end of the slow body', () => metric(rig, 'holdfast_request_body_bytes') === 0);
    await ask(rig, { body: sized(900) });
    await rig.verdict('queue', 4);
    equal(await told(await ask(rig, { body: sized(20) })), '429 rejected_tenant_bytes');
  },
  'inbound.header_bytes': async () => {
    const rig = await start({ inbound: { headerBytes: 2_048 } });
    const lines = (bytes: number): string => `x: ${'y'.repeat(bytes - 5)}\r\n`;
    equal(await told(await ask(rig, { headers: lines(1_850) })), '200 started');
    equal(await told(await ask(rig, { headers: lines(2_048) })), '431 rejected_headers_too_large');
  },
  'inbound.header_fields': async () => {
    const rig = await start({ inbound: { headerFields: 20 } });
    const lines = (count: number): string => 'x: y\r\n'.repeat(count - 4);
    equal(await told(await ask(rig, { headers: lines(20) })), '200 started');
    equal(await told(await ask(rig, { headers: lines(21) })), '431 rejected_headers_too_large');
  },
  'inbound.headers': ['e2e/inbound', 'that never ask are closed without a word, slow headers with one'],
  'inbound.body': ['e2e/inbound', 'end when they fall silent, and when they take too long in all'],
  'inbound.body_idle': ['e2e/inbound', 'end when they fall silent, and when they take too long in all'],
  'inbound.keep_alive': ['e2e/inbound', 'that never ask are closed without a word, slow headers with one'],
  'log.buffer_bytes': ['e2e/log', 'lines beyond the buffer are counted, and said when it reads on'],
  'control.bounds.line_entries': async () => {
    const rig = await start({ control: { ...one, bounds: { lineEntries: 2 } } }, HELD);
    for (const count of [0, 1, 2]) {
      await ask(rig, { body: sized(50) });
      await rig.verdict('attach', count + 1);
    }
    equal(metric(rig, 'holdfast_line_entries'), 2);
    equal(await told(await ask(rig, { body: sized(50) })), '429 refused_line_full');
  },
  'control.bounds.line_bytes': async () => {
    const rig = await start({ control: { ...one, bounds: { lineBytes: 100 } } }, HELD);
    for (const [at, bytes] of [90, 60, 40].entries()) {
      await ask(rig, { body: sized(bytes) });
      await rig.verdict('attach', at + 1);
    }
    equal(metric(rig, 'holdfast_line_bytes'), 100);
    equal(await told(await ask(rig, { body: sized(20) })), '429 refused_line_bytes');
  },
  'control.bounds.line_wait': async () => {
    const rig = await start({ control: { ...one, bounds: { lineWaitMs: 30 } } }, HELD);
    await ask(rig, { body: sized(50) });
    await rig.verdict('start');
    equal(await told(await ask(rig, { body: sized(50) })), '504 gave_up');
    equal(metric(rig, 'holdfast_line_entries'), 0);
  },
  'control.bounds.replay_bytes': async () => {
    const rig = await start({ control: { bounds: { replayBytes: 1_000 } } }, HELD);
    const fits = sized(50);
    await unread(rig, { body: fits }, 1_000);
    equal(await told(await ask(rig, { body: fits })), '200 replayed');
    const larger = sized(50);
    await unread(rig, { body: larger }, 1_001);
    rig.engine.script = OK;
    equal(await told(await ask(rig, { body: larger })), '200 started');
    equal(rig.engine.calls.items.length, 3);
  },
  'control.bounds.live_replay_bytes': async () => {
    const begun: EngineCall[] = [];
    const rig = await start({ control: { bounds: { liveReplayBytes: 1_000 } } }, (call) => {
      begun.push(call);
      call.response.writeHead(200, { 'content-type': 'application/json' });
      call.response.write(`"${'y'.repeat(begun.length === 1 ? 599 : 399)}`);
    });
    for (const count of [1, 2]) {
      await ask(rig, { body: sized(50) });
      await rig.heard('chunk', count);
    }
    equal(metric(rig, 'holdfast_replay_bytes'), 1_000);
    equal(rig.verdicts.items.filter(({ kind }) => kind === 'seal').length, 0);
    begun[0]?.response.write('y');
    const { execution } = await rig.verdict('seal');
    equal(execution, (await rig.verdict('start', 2)).execution, 'the newest is not replayable any more');
    equal(metric(rig, 'holdfast_replay_bytes'), 601);
  },
  'control.bounds.retained_bytes': async () => {
    const bounds = { retainedBytes: 1_000, retainedTenantShare: 1 };
    const rig = await start({ control: { bounds } }, HELD);
    const [oldest, next] = [sized(50), sized(50)];
    await unread(rig, { body: oldest }, 600);
    await unread(rig, { of: 'b', body: next }, 400);
    equal(metric(rig, 'holdfast_retained_bytes'), 1_000);
    await unread(rig, { of: 'c', body: sized(50) }, 10);
    equal(metric(rig, 'holdfast_retained_bytes'), 410);
    equal(await told(await ask(rig, { of: 'b', body: next })), '200 replayed');
    rig.engine.script = OK;
    equal(await told(await ask(rig, { body: oldest })), '200 started');
  },
  'control.bounds.retained_tenant_share': async () => {
    const rig = await start(
      { control: { bounds: { retainedBytes: 1_000, retainedTenantShare: 0.5 } } },
      HELD,
    );
    const [oldest, of] = [sized(50), 'b'];
    await unread(rig, { body: oldest }, 300);
    await unread(rig, { body: sized(50) }, 200);
    await unread(rig, { of, body: sized(50) }, 400);
    equal(metric(rig, 'holdfast_retained_bytes'), 900);
    await unread(rig, { body: sized(50) }, 10);
    equal(
      metric(rig, 'holdfast_retained_bytes'),
      610,
      "the tenant's own oldest has gone, though there was room",
    );
    rig.engine.script = OK;
    equal(await told(await ask(rig, { body: oldest })), '200 started');
  },
  'control.bounds.tenants': () => {
    const budget = new Budget(controlOptions({ budget: { floor: 2, ratio: 0 }, bounds: { tenants: 2 } }));
    ok(budget.take('a', 0) && budget.take('b', 0));
    equal(budget.state(0, 'a').granted, 1, 'two are known');
    budget.first('c', 0);
    equal(budget.state(0, 'b').granted, 0, 'the least recently seen is forgotten');
    equal(budget.state(0).granted, 2, 'what it was granted counts on in the window of the gateway');
    equal(budget.take('b', 0), false, 'so that being forgotten earns nobody anything');
    return Promise.resolve();
  },
  'control.bounds.learned_keys': () => {
    const departures = new Departures(controlOptions({ bounds: { learnedKeys: 2 } }));
    const client = (userAgent: string) => facts({ userAgent });
    for (const name of ['a', 'b']) departures.returned(client(name), 100_000);
    const graces = (): number[] => ['a', 'b'].map((name) => departures.graceMs(client(name), false, 0));
    deepEqual(graces(), [125_000, 125_000]);
    departures.graceMs(client('a'), false, 0);
    departures.returned(client('c'), 100_000);
    deepEqual(
      graces(),
      [125_000, 60_000],
      'what was used longest ago is forgotten: the setting counts again',
    );
    return Promise.resolve();
  },
  'control.bounds.listeners': async () => {
    const rig = await start({ control: { coalesce: 'identical', bounds: { listeners: 2 } } }, HELD);
    for (const count of [1, 2]) {
      await ask(rig, {});
      await rig.verdict('attach', count);
    }
    equal(await told(await ask(rig, {})), '429 refused_listeners');
    equal(rig.engine.calls.items.length, 1);
  },
  'control.bounds.calls': async () => {
    const rig = await start({ control: { bounds: { calls: 2 } } }, HELD);
    for (const count of [1, 2]) {
      await ask(rig, { body: sized(50) });
      await rig.verdict('attach', count);
    }
    equal(await told(await ask(rig, { body: sized(50) })), '503 refused_calls');
    json({}, 500)(rig.engine.calls.items[0] as EngineCall);
    await rig.verdict('execution-ended');
    await ask(rig, { body: sized(50) });
    await rig.verdict('attach', 3);
    equal(metric(rig, 'holdfast_calls_open'), 2, 'a call without work has made room');
  },
};

for (const [key, bound] of Object.entries(BOUNDS)) {
  test(`${key}: what fits is taken, one more is refused by name or something gives way`, async () => {
    if (typeof bound === 'function') return bound();
    const [file, title] = bound;
    const source = readFileSync(join(ROOT, 'tests', `${file}.test.ts`), 'utf8');
    ok(source.includes(title), `tests/${file}.test.ts has no test "${title}"`);
  });
}

test('every bound that there is a setting for has a scene', () => {
  const known = leavesOf(SETTINGS)
    .map(({ key }) => key)
    .filter((key) => /^(?:inbound|control\.bounds)\.|_bytes$/.test(key));
  ok(known.length > 20);
  for (const key of known) ok(Object.hasOwn(BOUNDS, key), `${key} has no scene at its bound`);
  for (const key of Object.keys(BOUNDS)) ok(known.includes(key), `${key} is no bound any more`);
});
