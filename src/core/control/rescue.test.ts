/** Who must go now: nobody is lost to a higher class while all can be answered, and the lowest when not all can. */

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Rescue } from './rescue.js';
import type { Prospect } from './tiers.js';

/** One at a time, each as long as the other, and nothing kept free. */
const PACE = 10;
const EXACT: Prospect = { paceMs: PACE, serviceMs: PACE, longestMs: 0, margin: 1 };

interface Job {
  readonly name: number;
  readonly giveUpAt: number;
  readonly rank: number;
  /** Its client has one attempt alone. */
  readonly once: boolean;
}

/** A call with so long to its end that its first attempt has left. */
const last = (giveUpAt: number, rank: number): Parameters<Rescue<unknown>['set']>[1] => ({
  deadlineAt: 0,
  giveUpAt,
  late: true,
  rank,
});

const jobs: fc.Arbitrary<Job[]> = fc
  .array(
    fc.record({
      giveUpAt: fc.integer({ min: 1, max: 400 }),
      rank: fc.nat({ max: 2 }),
      once: fc.boolean(),
    }),
    { minLength: 1, maxLength: 40 },
  )
  .map((all) => all.map((one, name) => ({ name, ...one })));

/** Those that are not answered in time when `pick` says who goes next, a place every ten milliseconds. */
function lost(all: readonly Job[], pick: (left: readonly Job[], now: number) => Job): Job[] {
  const missed: Job[] = [];
  let left = all;
  for (let now = 0; left.length > 0; now += PACE) {
    const next = pick(left, now);
    left = left.filter((one) => one !== next);
    if (now + PACE > next.giveUpAt) missed.push(next);
  }
  return missed;
}

const earliest = (left: readonly Job[]): Job =>
  left.reduce((best, one) => (one.giveUpAt < best.giveUpAt ? one : best));
const highest = (left: readonly Job[]): Job =>
  left.reduce((best, one) => (one.rank < best.rank ? one : best));

/** The highest class goes, but whoever has to. */
function rescued(all: readonly Job[]): Job[] {
  const rescue = new Rescue<Job>();
  for (const job of all) {
    const { giveUpAt, rank, once } = job;
    rescue.set(job, once ? { deadlineAt: giveUpAt, giveUpAt, late: false, rank } : last(giveUpAt, rank));
  }
  return lost(all, (left, now) => {
    const next = rescue.next(now, EXACT) ?? highest(left);
    rescue.delete(next);
    return next;
  });
}

test('where all can be answered, nobody is lost, whoever goes first for its class', () => {
  let savable = 0;
  fc.assert(
    fc.property(jobs, (all) => {
      if (lost(all, earliest).length > 0) return;
      savable += 1;
      deepEqual(rescued(all), []);
    }),
    { numRuns: 400 },
  );
  ok(savable > 20, `${savable} of the runs could have been saved`);
});

test('where not all can be answered, no call of the highest class is lost that could be if it were alone', () => {
  fc.assert(
    fc.property(jobs, (all) => {
      const high = all.filter(({ rank }) => rank === 0);
      if (lost(high, earliest).length > 0) return;
      equal(rescued(all).filter(({ rank }) => rank === 0).length, 0);
    }),
    { numRuns: 400 },
  );
});

test('of two of whom one can be answered it is the one of the higher class, whoever came first', () => {
  for (const names of [
    ['low', 'high'],
    ['high', 'low'],
  ]) {
    const rescue = new Rescue<string>();
    for (const name of names) rescue.set(name, last(15, name === 'high' ? 0 : 1));
    equal(rescue.next(0, EXACT), 'high');
  }
});

test('nobody has to go while there is time for the others first', () => {
  const rescue = new Rescue<string>();
  rescue.set('high', last(1_000, 0));
  rescue.set('low', last(100, 2));
  equal(rescue.next(0, EXACT), undefined);
  equal(rescue.next(80, EXACT), undefined);
  equal(rescue.next(85, EXACT), 'low');
});

test('what is kept free for the late is kept free here too', () => {
  const rescue = new Rescue<string>();
  rescue.set('low', last(100, 2));
  equal(rescue.next(50, { ...EXACT, longestMs: 20 }), undefined);
  equal(rescue.next(50, { ...EXACT, longestMs: 20, margin: 2 }), 'low');
});

test('whoever was given up has its place back when there is time for it after all', () => {
  const rescue = new Rescue<string>();
  for (const name of ['a', 'b', 'c']) rescue.set(name, last(25, 1));
  equal(rescue.next(0, EXACT), 'b');
  rescue.delete('b');
  equal(rescue.next(1, { ...EXACT, paceMs: 1, serviceMs: 1 }), undefined);
  equal(rescue.next(22, { ...EXACT, paceMs: 1, serviceMs: 1 }), undefined);
  deepEqual([rescue.next(23, { ...EXACT, paceMs: 1, serviceMs: 1 }), rescue.size], ['c', 2]);
});

test('for whoever asks once alone less time is kept free than for whoever has been put off', () => {
  const prospect = { ...EXACT, longestMs: 50 };
  const once = { deadlineAt: 130, giveUpAt: 130, late: false, rank: 2 };
  const rescue = new Rescue<string>();
  rescue.set('once', once);
  deepEqual([rescue.next(61, prospect), rescue.next(89, prospect)], [undefined, undefined]);
  equal(rescue.next(91, prospect), 'once');
  rescue.set('often', { ...once, deadlineAt: 100 });
  equal(rescue.next(59, prospect), undefined);
  equal(rescue.next(61, prospect), 'often');
});
