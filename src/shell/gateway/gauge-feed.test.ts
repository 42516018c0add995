/** Which engines' gauges are read and how often, and that an engine which never had any is let be without a word. */

import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { ControlEvent } from '../../core/control/event.js';
import type { RoomPolicy } from '../../core/control/options.js';
import type { Clock } from '../../core/time/clock.js';
import { type GatewayConfig, gatewayConfig } from './config.js';
import { GaugeFeed } from './gauge-feed.js';
import type { GaugeWord } from './observer.js';
import { Upstream } from './upstream.js';

const METER = 'vllm:num_requests_running 3.0\nvllm:num_requests_waiting 1.0\n';
const EVERY_MS = 500;

const meter: RequestListener = (_, response) => void response.end(METER);
const notFound: RequestListener = (_, response) => void response.writeHead(404).end();
const page: RequestListener = (_, response) => void response.end('<html>vllm:num_requests_running</html>');

/** A feed whose clock stands still: each wait for the next look is noted, and over when the test says so. */
class Rig {
  readonly waits: { readonly ms: number; readonly over: () => void; stopped: boolean }[] = [];
  readonly said: GaugeWord['kind'][] = [];
  readonly seen: Extract<ControlEvent, { kind: 'gauges' }>[] = [];
  readonly stop: () => Promise<void>;
  answer: RequestListener;
  #wake = (): void => {};
  #settings: GatewayConfig;
  readonly #feed: GaugeFeed;

  static async start(t: TestContext, answer: RequestListener, room?: RoomPolicy): Promise<Rig> {
    let rig: Rig | undefined;
    const server = createServer((request, response) => rig?.answer(request, response));
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    rig = new Rig(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api`, answer, room);
    const { stop } = rig;
    t.after(async () => {
      await stop();
      server.closeAllConnections();
      server.close();
    });
    return rig;
  }

  constructor(url: string, answer: RequestListener, room?: RoomPolicy) {
    this.answer = answer;
    this.#settings = settings(url, room);
    const upstream = new Upstream(this.#settings);
    const clock: Clock = {
      now: () => 0,
      after: (ms, over) => {
        const wait = { ms, over, stopped: false };
        this.waits.push(wait);
        this.#wake();
        return () => {
          wait.stopped = true;
        };
      },
    };
    this.#feed = new GaugeFeed({
      config: () => this.#settings,
      clock,
      upstream,
      send: (event) => this.seen.push(event),
      say: (_, { kind }) => this.said.push(kind),
    });
    this.stop = async () => {
      this.#feed.close();
      await upstream.close();
    };
    this.#feed.follow();
  }

  /** Another room from now on. */
  change(room: RoomPolicy): void {
    this.#settings = settings(this.#settings.upstreams[0]?.url ?? '', room);
    this.#feed.follow();
  }

  /** The looks up to the `count`-th in all; how long each of them waits for the next. */
  async looks(count: number): Promise<number[]> {
    while (this.waits.length < count) {
      const next = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.waits.at(-1)?.over();
      await next;
    }
    return this.waits.map(({ ms }) => ms);
  }
}

function settings(url: string, room: RoomPolicy | undefined): GatewayConfig {
  const control = room === undefined ? {} : { control: { room } };
  return gatewayConfig({ upstreams: [{ url }], gaugesEveryMs: EVERY_MS, ...control });
}

test('by default an engine without gauges is looked at ever less often, and that is said once, as nothing bad', async (t) => {
  for (const answer of [notFound, page]) {
    const rig = await Rig.start(t, answer);
    const waits = await rig.looks(9);
    assert.deepEqual(waits, [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000, 30_000]);
    assert.deepEqual(rig.said, ['none']);
  }
});

test('gauges that come later are found, read as often as asked for, and missed aloud when they go', async (t) => {
  const rig = await Rig.start(t, notFound);
  await rig.looks(6);
  rig.answer = meter;
  assert.deepEqual((await rig.looks(8)).slice(6), [EVERY_MS, EVERY_MS]);
  assert.deepEqual(rig.seen.at(-1)?.load, { running: 3, waiting: 1 });
  assert.deepEqual(rig.said, ['none', 'found']);
  rig.answer = notFound;
  assert.deepEqual((await rig.looks(11)).slice(8), [EVERY_MS, EVERY_MS, EVERY_MS]);
  assert.deepEqual(rig.said, ['none', 'found', 'missed']);
});

test('an engine that cannot be reached, or whose proxy says so, may be one that starts: it is looked at as often as any', async (t) => {
  const rig = await Rig.start(t, (request) => request.socket.destroy());
  await rig.looks(3);
  rig.answer = (_, response) => void response.writeHead(502).end();
  assert.deepEqual(
    await rig.looks(6),
    Array.from({ length: 6 }, () => EVERY_MS),
  );
  assert.deepEqual(rig.said, []);
  rig.answer = meter;
  await rig.looks(7);
  assert.deepEqual(rig.said, ['found']);
});

test('where the room is to follow gauges, their absence is said aloud and they are looked for without rest', async (t) => {
  const rig = await Rig.start(t, notFound, 'engine');
  assert.deepEqual(
    await rig.looks(4),
    Array.from({ length: 4 }, () => EVERY_MS),
  );
  assert.deepEqual(rig.said, ['missed']);
});

test('a change of the room begins and ends the looks', async (t) => {
  const rig = await Rig.start(t, meter, 'off');
  assert.equal(rig.waits.length, 0);
  rig.change('auto');
  await rig.looks(2);
  rig.change('auto');
  assert.equal(rig.waits.at(-1)?.stopped, false, 'no change, no new beginning');
  rig.change(80);
  assert.equal(rig.waits.at(-1)?.stopped, true);
  assert.equal(rig.seen.length, 2);
});
