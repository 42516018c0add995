/** The search for Ĉ against queues whose capacity is known: found to its grain, or said why it cannot be told. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { normal } from '../chance/distributions.js';
import { Random } from '../chance/random.js';
import {
  type CalibrationOptions,
  type CalibrationResult,
  CapacitySearch,
  calibrationOptions,
  type Doubt,
} from './calibrate.js';
import type { LoadStage, StageCall, StageEvidence } from './growth.js';

/** A server that takes calls one after another at a fixed rate, and a meter beside it. */
interface Server {
  readonly capacity: number;
  /** Calls by which the gauge is off at random. */
  readonly noise?: number;
  /** What the gauge says instead. */
  readonly gauge?: (waiting: number) => number | undefined;
  readonly streams?: boolean;
  /** From how many waiting calls on it refuses. */
  readonly cap?: number;
  readonly trouble?: StageEvidence['trouble'];
}

const SERVICE_MS = 2_000;

function play(server: Server, { perSecond, seconds, seed }: LoadStage): StageEvidence {
  const random = new Random(seed, 'server');
  const calls: StageCall[] = [];
  const starts: number[] = [];
  let freeMs = 0;
  for (let at = 1; at < perSecond * seconds; at += 1) {
    const sentMs = (1_000 * at) / perSecond;
    const startMs = Math.max(sentMs, freeMs);
    if (((startMs - sentMs) * server.capacity) / 1_000 > (server.cap ?? Number.POSITIVE_INFINITY)) {
      calls.push({ sentMs, firstByteMs: undefined, finishedMs: undefined });
      continue;
    }
    freeMs = startMs + 1_000 / server.capacity;
    starts.push(startMs);
    const finishedMs = startMs + SERVICE_MS;
    calls.push({ sentMs, firstByteMs: server.streams === false ? undefined : startMs, finishedMs });
  }
  const readings = Array.from({ length: Math.floor(seconds) }, (_, second) => {
    const atMs = 1_000 * second;
    const arrived = calls.filter(({ sentMs }) => sentMs <= atMs).length;
    const waiting = arrived - starts.filter((startMs) => startMs <= atMs).length;
    const read = server.gauge ?? ((value: number) => value);
    return { atMs, waiting: read(Math.max(0, waiting + (server.noise ?? 0) * normal(random))) };
  });
  const { trouble } = server;
  return trouble === undefined ? { readings, calls, seconds } : { readings, calls, seconds, trouble };
}

function calibrated(server: Server, options: Partial<CalibrationOptions> = {}): CalibrationResult {
  const search = new CapacitySearch(calibrationOptions(options));
  for (;;) {
    const next = search.next();
    if ('verdict' in next) return next;
    search.hear(next, play(server, next));
  }
}

function doubtOf(server: Server, options: Partial<CalibrationOptions> = {}): Doubt | 'found' {
  const result = calibrated(server, options);
  return result.verdict === 'found' ? 'found' : result.reason;
}

test('Ĉ of any queue is found to half its grain, wherever the search begins', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0.3, max: 20, noNaN: true }),
      fc.double({ min: 0.3, max: 20, noNaN: true }),
      fc.constantFrom(0.02, 0.03, 0.1),
      (capacity, firstPerSecond, grain) => {
        const options = { firstPerSecond, grain, settleSeconds: 10, judgedSeconds: 60, mostSeconds: 1e6 };
        const result = calibrated({ capacity }, options);
        assert.equal(result.verdict, 'found');
        const off = result.capacity / capacity - 1;
        assert.ok(Math.abs(off) <= 0.55 * grain + 0.002, `${result.capacity} of ${capacity}`);
        assert.ok(result.grows / result.capacity <= 1 + grain);
      },
    ),
    { numRuns: 40 },
  );
});

test('the two rates that decide are played twice, with other seeds', () => {
  const result = calibrated({ capacity: 2.78 });
  assert.ok(result.verdict === 'found');
  for (const rate of [result.capacity, result.grows]) {
    const seeds: readonly number[] = result.stages
      .filter(({ perSecond }) => perSecond === rate)
      .map(({ seed }) => seed);
    assert.equal(new Set(seeds).size, 2);
  }
});

test('what a full engine serves is told', () => {
  const result = calibrated({ capacity: 2.78 });
  assert.ok(result.verdict === 'found' && result.servedPerSecond !== null);
  assert.ok(Math.abs(result.servedPerSecond / 2.78 - 1) < 0.01);
});

test('an engine without metrics is calibrated by its time to first byte', () => {
  const result = calibrated({ capacity: 2.78, gauge: () => undefined });
  assert.ok(result.verdict === 'found');
  assert.equal(result.signal, 'first-byte');
  assert.ok(Math.abs(result.capacity / 2.78 - 1) < 0.02);
  assert.equal(result.servedPerSecond, null);
});

test('a gauge that cannot be read now and then is read where it can be', () => {
  let reads = 0;
  const result = calibrated({
    capacity: 2.78,
    gauge: (waiting) => ((reads += 1) % 60 < 22 ? undefined : waiting),
  });
  assert.ok(result.verdict === 'found');
  assert.equal(result.signal, 'waiting');
  assert.ok(Math.abs(result.capacity / 2.78 - 1) < 0.03);
});

test('neither gauge nor first byte: no capacity is made up', () => {
  assert.equal(doubtOf({ capacity: 2.78, gauge: () => undefined, streams: false }), 'no_signal');
});

test('a gauge that stands still while first bytes come later and later is not believed', () => {
  assert.equal(doubtOf({ capacity: 2.78, gauge: () => 0 }), 'gauge_not_credible');
  assert.equal(doubtOf({ capacity: 2.78, gauge: () => 7 }), 'gauge_not_credible');
});

test('a queue that grows at the lowest rate, or never, leaves the capacity untold', () => {
  assert.equal(doubtOf({ capacity: 0.5 }, { lowestPerSecond: 0.8 }), 'grows_at_lowest');
  assert.equal(doubtOf({ capacity: 500 }, { highestPerSecond: 5 }), 'never_grows');
});

test('an engine that refuses has no queue to read', () => {
  assert.equal(doubtOf({ capacity: 2.78, cap: 10 }), 'refused');
});

test('noise that hides the growth is called noise', () => {
  assert.equal(doubtOf({ capacity: 2.78, noise: 200 }), 'noise');
});

test('a little noise of the gauge moves Ĉ by no more than the grain', () => {
  for (let seed = 1; seed <= 10; seed += 1) {
    const result = calibrated({ capacity: 2.78, noise: 4 }, { seed: 100 * seed });
    assert.ok(result.verdict === 'found', `seed ${seed}: ${JSON.stringify(result)}`);
    assert.ok(Math.abs(result.capacity / 2.78 - 1) <= 0.03, `seed ${seed}: ${result.capacity}`);
  }
});

test('trouble of the generator ends the search with its name', () => {
  for (const trouble of ['generator_behind', 'did_not_drain', 'stopped'] as const) {
    assert.equal(doubtOf({ capacity: 2.78, trouble }), trouble);
  }
});

test('stages and seconds are bounded', () => {
  const few = calibrated({ capacity: 2.78 }, { mostStages: 5 });
  assert.ok(few.verdict === 'could_not_tell' && few.reason === 'out_of_time');
  assert.equal(few.stages.length, 5);
  const short = calibrated({ capacity: 2.78 }, { mostSeconds: 1_000 });
  assert.ok(short.verdict === 'could_not_tell' && short.seconds <= 1_000);
});

test('plain growth ends a stage early, growth that may be chance does not', () => {
  const search = new CapacitySearch(calibrationOptions());
  const stage: LoadStage = { perSecond: 4, settleSeconds: 60, seconds: 180, seed: 1 };
  const half = play({ capacity: 2.78 }, { ...stage, seconds: 125 });
  assert.equal(search.enough(stage, half), true);
  assert.equal(search.enough(stage, play({ capacity: 2.78 }, { ...stage, seconds: 100 })), false);
  assert.equal(search.enough(stage, play({ capacity: 3.9 }, { ...stage, seconds: 125 })), false);
});

test('options out of bounds are refused by name', () => {
  assert.throws(() => calibrationOptions({ grain: 0 }), /grain must be a number from 0\.005 to 0\.2, not 0/);
  assert.throws(() => calibrationOptions({ firstPerSecond: 5_000 }), /firstPerSecond must be/);
  assert.throws(() => calibrationOptions({ judgedSeconds: Number.NaN }), RangeError);
});
