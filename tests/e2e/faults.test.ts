/** The fault table: each fault ends in a clear error or a named ending, the gateway goes on, and what it held is back at its base. */

import { deepEqual, equal, ok } from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, test } from 'node:test';
import { readExposition, valueOf } from '../../src/core/meter/exposition.js';
import type { Cancel, Clock } from '../../src/core/time/clock.js';
import type { GatewaySettings } from '../../src/shell/gateway/config.js';
import { SystemClock } from '../../src/shell/shared/system-clock.js';
import { backAt, baseOf } from '../support/base.js';
import { type EngineCall, event, json, openStream, type Script } from '../support/fake-engine.js';
import { type Rig, startRig } from '../support/gateway-rig.js';
import { answerIn, RawClient, type RawRequest, requestText } from '../support/raw-client.js';
import { ROOT } from '../support/root.js';

const MIB = 1024 * 1024;
const OK = json({ ok: true }, 200, { connection: 'close' });
const CLOSE = { connection: 'close' };
const STREAM = '{"model":"tiny","stream":true,"messages":[]}';
const TOKEN = event({ choices: [{ delta: { content: 'a' } }] });
/** Short memories, so that what is only kept for a while is gone soon. */
const BRIEF: GatewaySettings['control'] = {
  grace: 50,
  graceAfterFirstByteMs: 50,
  learnGrace: false,
  retainMs: 50,
  retainKeyedMs: 50,
  replayDeliveredMs: 50,
};

/** The soft limit of a shell is often 1,024 handles, which Node raises to the hard one. */
const IDLE = process.env['HOLDFAST_LONG'] === '1' ? 10_000 : 2_000;

let running: Rig | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

interface Row {
  readonly settings?: GatewaySettings;
  readonly clock?: Clock;
  /** How the engine answers while the fault lasts. */
  readonly script?: Script;
  readonly scene: (rig: Rig) => Promise<void>;
  /** The endings of the attempts that the scene made, in alphabetical order. */
  readonly endings: readonly string[];
}

/** Plays a scene between two good requests, and compares what is held before with what is held after. */
async function play({ settings = {}, clock, script = OK, scene, endings }: Row): Promise<void> {
  const rig = await startRig(OK, { ...settings, control: { ...BRIEF, ...settings.control } }, clock);
  running = rig;
  await good(rig);
  const base = await settled(rig);
  rig.engine.script = script;
  await scene(rig);
  rig.engine.script = OK;
  await backAt(base, rig.metrics);
  await good(rig);
  deepEqual(rig.ledger().slice(1, -1).toSorted(), endings);
  equal(rig.gateway.ledger.attempts.open, 0);
}

async function good(rig: Rig): Promise<void> {
  const client = await RawClient.ask(rig.gateway.port, { headers: CLOSE, body: `{"at":${Math.random()}}` });
  equal(answerIn(await client.rest()).status, 200);
  await rig.verdict('attempt-ended', rig.events.items.filter(({ kind }) => kind === 'arrive').length);
}

/** After the first request everything that stays has been made. */
async function settled(rig: Rig): Promise<ReturnType<typeof baseOf>> {
  const none = baseOf(rig.metrics);
  const gauges = Object.fromEntries(Object.keys(none.gauges).map((name) => [name, 0]));
  return backAt({ ...none, gauges }, rig.metrics);
}

async function told(rig: Rig, request: RawRequest): Promise<{ status: number; reason: string | undefined }> {
  const client = await RawClient.ask(rig.gateway.port, {
    ...request,
    headers: { ...CLOSE, ...request.headers },
  });
  const { status, headers } = answerIn(await client.rest());
  return { status, reason: headers['x-holdfast-reason'] };
}

describe('a client', () => {
  test('that sends no JSON is answered by the engine', () =>
    play({
      script: json({ error: { message: 'no JSON' } }, 400, CLOSE),
      scene: async (rig) => {
        equal((await told(rig, { body: '\x00\x01 {"' })).status, 400);
      },
      endings: ['upstream_status_4xx'],
    }));

  test('that sends 100 MB is told that it is too much, whether it says so first or not', () =>
    play({
      scene: async (rig) => {
        const piece = 'x'.repeat(MIB);
        for (const length of [`content-length: ${100 * MIB}`, 'transfer-encoding: chunked']) {
          const client = await RawClient.open(rig.gateway.port);
          client.send(`POST /v1/completions HTTP/1.1\r\nhost: g\r\n${length}\r\n\r\n`);
          for (let sent = 0; sent < 100 && !client.over; sent += 1) {
            client.send(length.startsWith('content') ? piece : `${MIB.toString(16)}\r\n${piece}\r\n`);
            await new Promise((resolve) => setTimeout(resolve, 1));
          }
          equal(answerIn(await client.rest()).status, 413);
        }
      },
      endings: ['rejected_too_large', 'rejected_too_large'],
    }));

  test('that closes its side and waits, or resets, has left', () =>
    play({
      script: () => {},
      scene: async (rig) => {
        const half = await RawClient.ask(rig.gateway.port);
        await rig.engine.calls.next('the execution', () => true, 2);
        half.socket.end();
        await rig.verdict('attempt-ended', 2);
        const reset = await RawClient.ask(rig.gateway.port, { body: '{"other":1}' });
        await rig.engine.calls.next('the execution', () => true, 3);
        reset.socket.resetAndDestroy();
        await rig.verdict('attempt-ended', 3);
        half.socket.destroy();
      },
      endings: ['left_before_first_byte', 'left_before_first_byte'],
    }));

  test('that breaks off in its headers or its body leaves nothing behind', () =>
    play({
      scene: async (rig) => {
        for (const part of [
          'POST /v1/completions HT',
          'POST /v1/completions HTTP/1.1\r\nhost: g\r\ncontent-length: 9\r\n\r\n{"a"',
        ]) {
          const client = await RawClient.open(rig.gateway.port);
          client.send(part);
          await new Promise((resolve) => setTimeout(resolve, 20));
          client.socket.destroy();
        }
        await rig.heard('reject');
      },
      endings: ['rejected_malformed'],
    }));

  test('that never reads is cut when it is too far behind', () =>
    play({
      settings: { readerBytes: MIB, control: { bounds: { replayBytes: MIB } } },
      script: (call) => {
        openStream(call);
        const flood = (): void => {
          while (!call.response.destroyed && call.response.write(event('x'.repeat(65_536))));
          if (!call.response.destroyed) call.response.once('drain', flood);
        };
        flood();
      },
      scene: async (rig) => {
        const client = await RawClient.ask(rig.gateway.port, { body: STREAM });
        client.socket.pause();
        equal((await rig.verdict('attempt-ended', 2)).ending, 'slow_reader');
        client.socket.destroy();
      },
      endings: ['slow_reader'],
    }));

  test('that sends headers without end, in one line or in many, is told that they are too large', () =>
    play({
      scene: async (rig) => {
        for (const piece of ['x'.repeat(4_096), 'x: y\r\n'.repeat(500)]) {
          const client = await RawClient.open(rig.gateway.port);
          client.send('POST /v1/completions HTTP/1.1\r\nhost: g\r\nx: ');
          for (let sent = 0; sent < 2_000 && !client.over; sent += 1) {
            client.send(piece);
            await new Promise((resolve) => setImmediate(resolve));
          }
          equal(answerIn(await client.rest()).status, 431);
        }
      },
      endings: [],
    }));

  // The other bound is far away in each, so that it cannot stand in.
  const slow: Readonly<Record<string, NonNullable<GatewaySettings['inbound']>>> = {
    headers: { headersMs: 400, bodyMs: 3_600_000 },
    body: { headersMs: 3_600_000, bodyMs: 400, bodyIdleMs: 300 },
  };
  for (const [part, inbound] of Object.entries(slow)) {
    test(`that sends its ${part} a byte at a time has as long as all have and no longer`, () =>
      play({
        settings: { inbound },
        scene: async (rig) => {
          const text = requestText({ headers: { 'content-length': '100000' }, body: ' ' });
          const all = await Promise.all(Array.from({ length: 100 }, () => RawClient.open(rig.gateway.port)));
          if (part === 'body') for (const client of all) client.send(text);
          let at = 0;
          const drip = setInterval(() => {
            const piece = part === 'body' ? ' ' : text.charAt(at);
            for (const client of all) if (!client.over) client.send(piece);
            at += 1;
          }, 100);
          equal((await told(rig, {})).status, 200);
          const answers = await Promise.all(all.map((client) => client.rest()));
          clearInterval(drip);
          // What is still sent to a connection that has ended may take its last words along.
          const said = answers.filter((each) => each !== '').map(answerIn);
          ok(said.length > 0);
          for (const { status, headers } of said)
            deepEqual([status, headers['x-holdfast-reason']], [400, 'rejected_too_slow']);
        },
        endings: ['delivered', ...(part === 'body' ? Array.from(Array(100), () => 'rejected_too_slow') : [])],
      }));
  }

  test(`that opens ${IDLE} connections and says nothing holds up nobody`, () =>
    play({
      scene: async (rig) => {
        const others = fork(join(ROOT, 'dist', 'tests', 'support', 'idle-connections.js'), [
          String(rig.gateway.port),
          String(IDLE),
        ]);
        const ended = once(others, 'exit');
        equal(await Promise.race([once(others, 'message').then(([said]) => Number(said)), ended]), IDLE);
        // The system has taken them before the gateway has.
        const open = (): number =>
          valueOf(readExposition(rig.metrics.text()), 'holdfast_connections_open') ?? 0;
        for (let turn = 0; open() < IDLE; turn += 1) {
          ok(turn < 2_000, `only ${open()} are there`);
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
        equal((await told(rig, {})).status, 200);
        others.kill('SIGKILL');
        await ended;
      },
      endings: ['delivered'],
    }));
});

describe('a request that two parsers could read in two ways', () => {
  const head = (lines: readonly string[], version = '1.1'): string =>
    ['POST /v1/completions HTTP/' + version, 'authorization: Bearer raw', ...lines, '', ''].join('\r\n');
  const HOST = 'host: g';
  const CHUNKED = 'transfer-encoding: chunked';
  const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nhost: g\r\n\r\n';
  const shapes: Record<string, string> = {
    'length and chunks': `${head([HOST, 'content-length: 5', CHUNKED])}0\r\n\r\n${SMUGGLED}`,
    'chunks and length': `${head([HOST, CHUNKED, 'content-length: 5'])}0\r\n\r\n${SMUGGLED}`,
    'two lengths': `${head([HOST, 'content-length: 2', 'content-length: 3'])}{} ${SMUGGLED}`,
    'one length twice': `${head([HOST, 'content-length: 2', 'content-length: 2'])}{}${SMUGGLED}`,
    'a list of lengths': `${head([HOST, 'content-length: 2, 2'])}{}${SMUGGLED}`,
    'a length with a sign': `${head([HOST, 'content-length: +2'])}{}${SMUGGLED}`,
    'a length in hexadecimal': `${head([HOST, 'content-length: 0x2'])}{}${SMUGGLED}`,
    'a length beyond all numbers': head([HOST, `content-length: ${'9'.repeat(30)}`]),
    'chunks that are not last': `${head([HOST, 'transfer-encoding: chunked, identity'])}0\r\n\r\n${SMUGGLED}`,
    'chunks in other words': `${head([HOST, 'transfer-encoding: xchunked'])}0\r\n\r\n${SMUGGLED}`,
    'chunks behind a tab': `${head([HOST, 'transfer-encoding:\x0bchunked'])}0\r\n\r\n${SMUGGLED}`,
    'a space before the colon': `${head([HOST, 'transfer-encoding : chunked'])}0\r\n\r\n${SMUGGLED}`,
    'a folded header': `${head([HOST, 'x: y', ' transfer-encoding: chunked', 'content-length: 2'])}{}`,
    'a bare line feed': `POST /v1/completions HTTP/1.1\nhost: g\ncontent-length: 2\n\n{}`,
    'a bare carriage return': head([HOST, 'x: y\rcontent-length: 9', 'content-length: 2']) + '{}',
    'a zero byte': `${head([HOST, 'x: a\0b', 'content-length: 2'])}{}`,
    'a chunk size that is none': `${head([HOST, CHUNKED])}0x2\r\n{}\r\n0\r\n\r\n`,
    'a chunk size with a sign': `${head([HOST, CHUNKED])}+2\r\n{}\r\n0\r\n\r\n`,
    'a chunk size beyond all numbers': `${head([HOST, CHUNKED])}${'f'.repeat(20)}\r\n{}\r\n0\r\n\r\n`,
    'a chunk that is longer than it says': `${head([HOST, CHUNKED])}1\r\n{}\r\n0\r\n\r\n`,
    'no host': `${head(['content-length: 2'])}{}`,
    'two hosts': `${head([HOST, 'host: h', 'content-length: 2'])}{}`,
    'chunks in HTTP/1.0': `${head([HOST, CHUNKED], '1.0')}2\r\n{}\r\n0\r\n\r\n`,
    'another version': `${head([HOST, 'content-length: 2'], '2.0')}{}`,
  };
  for (const [name, bytes] of Object.entries(shapes)) {
    test(`${name}: 400, the connection is closed, and nothing of it reaches the engine`, async () => {
      const rig = await startRig(OK);
      running = rig;
      const client = await RawClient.open(rig.gateway.port);
      client.send(bytes);
      const text = await client.rest();
      const { status, headers } = answerIn(text);
      deepEqual([status, headers['connection']], [400, 'close']);
      ok(headers['x-holdfast-reason']?.startsWith('rejected_'));
      equal(text.match(/HTTP\/1\.1 \d/g)?.length, 1, 'one answer');
      equal(rig.engine.calls.items.length, 0);
    });
  }
});

describe('an engine', () => {
  const left = ({ socket }: { readonly socket: Socket }): void => void socket.resetAndDestroy();

  test('that hangs ends at the stated limit', () =>
    play({
      settings: { upstreamTimeouts: { firstByteMs: 60 } },
      script: () => {},
      scene: async (rig) => {
        deepEqual(await told(rig, {}), { status: 504, reason: 'upstream_timeout' });
      },
      endings: ['upstream_timeout'],
    }));

  test('that resets before and in the middle of its answer', () =>
    play({
      script: (call) => {
        if (call.body !== STREAM) return left(call);
        openStream(call);
        call.response.write(TOKEN);
        setTimeout(() => left(call), 50);
      },
      scene: async (rig) => {
        deepEqual(await told(rig, {}), { status: 502, reason: 'upstream_reset' });
        equal((await told(rig, { body: STREAM })).status, 200);
      },
      endings: ['upstream_reset', 'upstream_truncated'],
    }));

  test('that sends garbage, in place of an answer and in the middle of one', () =>
    play({
      script: ({ socket, body }) => {
        if (body !== STREAM) {
          socket.end('\x16\x03\x01 garbage');
          return;
        }
        socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n');
        socket.write(`content-type: text/event-stream\r\n\r\n${TOKEN.length.toString(16)}\r\n${TOKEN}\r\n`);
        setTimeout(() => socket.end('garbage\r\n'), 50);
      },
      scene: async (rig) => {
        deepEqual(await told(rig, {}), { status: 502, reason: 'upstream_malformed' });
        equal((await told(rig, { body: STREAM })).status, 200);
      },
      endings: ['upstream_malformed', 'upstream_malformed'],
    }));

  test('that closes without the closing event, or says an error inside a 200', () =>
    play({
      script: (call) => {
        openStream(call);
        if (call.body === STREAM) {
          call.response.write(TOKEN);
          setTimeout(() => call.response.end(), 50);
        } else call.response.end(event({ error: { message: 'full', code: 503 } }));
      },
      scene: async (rig) => {
        equal((await told(rig, { body: STREAM })).status, 200);
        equal((await told(rig, { body: '{"stream":true}' })).status, 503);
      },
      endings: ['upstream_error_event', 'upstream_truncated'],
    }));

  test('that drips byte by byte is borne to the end', () =>
    play({
      script: (call) => {
        openStream(call);
        const text = TOKEN + event('[DONE]');
        let at = 0;
        const drip = setInterval(() => {
          call.response.write(text.slice(at, at + 1));
          at += 1;
          if (at === text.length) call.response.end();
          if (at === text.length || call.response.destroyed) clearInterval(drip);
        }, 2);
      },
      scene: async (rig) => {
        equal((await told(rig, { body: STREAM })).status, 200);
        await rig.verdict('attempt-ended', 2);
      },
      endings: ['delivered'],
    }));

  test('that restarts is found again', async () => {
    const answers = (socket: Socket): void => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'));
    };
    const start = (port: number): Promise<Server> =>
      new Promise((resolve) => {
        const server = createServer(answers).listen(port, '127.0.0.1', () => resolve(server));
      });
    const stop = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
    const first = await start(0);
    const address = first.address();
    ok(address !== null && typeof address === 'object');
    const rig = await startRig(OK, { upstreams: [{ url: `http://127.0.0.1:${address.port}` }] });
    running = rig;
    equal((await told(rig, { body: '{"at":1}' })).status, 200);
    await stop(first);
    deepEqual(await told(rig, { body: '{"at":2}' }), { status: 503, reason: 'upstream_refused' });
    const second = await start(address.port);
    equal((await told(rig, { body: '{"at":2}' })).status, 200);
    await stop(second);
  });
});

/** A clock that may be moved on, as when a machine was asleep. */
class JumpingClock implements Clock {
  readonly #inner = new SystemClock();
  ahead = 0;

  now(): number {
    return this.#inner.now() + this.ahead;
  }

  after(ms: number, fire: () => void): Cancel {
    return this.#inner.after(ms, fire);
  }
}

describe('a clock that jumps', () => {
  test('by hours, in the middle of an answer, loses no answer', async () => {
    const clock = new JumpingClock();
    await play({
      clock,
      script: (call) => {
        openStream(call);
        call.response.write(TOKEN);
        setTimeout(() => {
          clock.ahead += 3_600_000;
          call.response.end(event('[DONE]'));
        }, 50);
      },
      scene: async (rig) => {
        equal((await told(rig, { body: STREAM })).status, 200);
        await rig.verdict('attempt-ended', 2);
      },
      endings: ['delivered'],
    });
  });

  test('on the wall while a client waits that named the moment of its deadline moves that moment neither way', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
    const now = Date.now();
    const held: EngineCall[] = [];
    await play({
      settings: { control: { room: 1, leastDeadlineMs: 1 } },
      script: (call) => held.push(call),
      scene: async (rig) => {
        for (const [at, jump] of [86_400_000, -86_400_000].entries()) {
          const deadline = new Date(now + 30_000).toISOString();
          const asked = told(rig, { headers: { 'x-request-deadline': deadline }, body: `{"at":${jump}}` });
          const { facts } = await rig.heard('arrive', at + 2);
          equal(facts.explicitDeadlineMs, 30_000);
          const call = await rig.engine.calls.next('the execution', () => true, at + 2);
          t.mock.timers.setTime(now + jump);
          OK(call);
          equal((await asked).status, 200);
          await rig.verdict('attempt-ended', at + 2);
          t.mock.timers.setTime(now);
        }
      },
      endings: ['delivered', 'delivered'],
    });
  });

  test('on the wall, forth and back, does not show', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
    const now = Date.now();
    await play({
      script: (call) => setTimeout(() => OK(call), 50),
      scene: async (rig) => {
        for (const jump of [86_400_000, -86_400_000]) {
          const asked = told(rig, { headers: { 'x-request-deadline': '30' }, body: `{"at":${jump}}` });
          t.mock.timers.setTime(Math.max(0, now + jump));
          equal((await asked).status, 200);
        }
      },
      endings: ['delivered', 'delivered'],
    });
  });
});
