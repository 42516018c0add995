/** The three tiers: who goes first, who is let go for whom, and that no more are let go than must be. */

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Dues, type Prospect, Tiers } from './tiers.js';

const PROSPECT: Prospect = { paceMs: 10, serviceMs: 20, longestMs: 40, margin: 1 };
const FAR = 1_000_000;

function dues(deadlineAt: number, changes: Partial<Dues> = {}): Dues {
  return { deadlineAt, giveUpAt: FAR, late: false, tenant: 't', weight: 1, ...changes };
}

/** Serves everything at the prospect's pace from `now` on; whom, when, and from which tier. */
function served(tiers: Tiers<string>, from: number, prospect = PROSPECT): [string, string][] {
  const all: [string, string][] = [];
  for (let now = from; tiers.size > 0; now += prospect.paceMs) {
    const next = tiers.next(now, prospect);
    if (next === undefined) break;
    all.push([next, tiers.tierOf(next, now, prospect) ?? 'gone']);
    tiers.delete(next);
  }
  return all;
}

test('whoever can be on time is served nearest deadline first, before the late', () => {
  const tiers = new Tiers<string>();
  tiers.set('late', dues(0, { late: true }));
  tiers.set('b', dues(300));
  tiers.set('a', dues(200));
  deepEqual(served(tiers, 0), [
    ['a', 'on_time'],
    ['b', 'on_time'],
    ['late', 'late'],
  ]);
});

test('the late go first when they would not all make it otherwise', () => {
  const tiers = new Tiers<string>();
  tiers.set('late', dues(0, { late: true, giveUpAt: 100 }));
  tiers.set('a', dues(300));
  equal(tiers.next(40, PROSPECT), 'a');
  equal(tiers.next(50, PROSPECT), 'late');
  equal(tiers.tierOf('late', 50, PROSPECT), 'pressing');
  const wide = { ...PROSPECT, margin: 1.5 };
  equal(tiers.next(30, wide), 'late');
});

test('many late ones that all make it do not go before one that can still be on time', () => {
  const tiers = new Tiers<string>();
  for (let at = 0; at < 50; at += 1) tiers.set(`late${at}`, dues(0, { late: true, giveUpAt: 800 }));
  tiers.set('a', dues(300));
  const wide = { ...PROSPECT, margin: 1.5 };
  equal(tiers.next(100, wide), 'a');
  equal(tiers.next(200, wide), 'late0');
});

test('whoever cannot make its give-up is hopeless and last, until its client gives it more time', () => {
  const tiers = new Tiers<string>();
  tiers.set('gone', dues(0, { late: true, giveUpAt: 25 }));
  tiers.set('late', dues(0, { late: true, giveUpAt: 500 }));
  equal(tiers.next(10, PROSPECT), 'late');
  equal(tiers.tierOf('gone', 10, PROSPECT), 'hopeless');
  tiers.set('gone', dues(0, { late: true, giveUpAt: 400 }));
  equal(tiers.next(10, PROSPECT), 'gone');
});

test('when not all can be on time, those nearest their deadline are let go at once, and the others keep time in hand', () => {
  const tiers = new Tiers<string>();
  for (let at = 0; at < 20; at += 1) tiers.set(`c${at}`, dues(120 + at));
  equal(tiers.next(0, PROSPECT), 'c8');
  equal(tiers.tierOf('c7', 0, PROSPECT), 'late');
  equal(served(tiers, 0).filter(([, tier]) => tier === 'on_time').length, 12);
});

test('one that was let go early is on time again when there is time for it after all', () => {
  const tiers = new Tiers<string>();
  for (let at = 0; at < 20; at += 1) tiers.set(`c${at}`, dues(120 + at));
  tiers.next(0, PROSPECT);
  for (let at = 10; at < 20; at += 1) tiers.delete(`c${at}`);
  tiers.next(0, PROSPECT);
  equal(tiers.tierOf('c7', 0, PROSPECT), 'on_time');
});

test('a call whose client would not come again is let go after all others, and is then hopeless at once', () => {
  const tiers = new Tiers<string>();
  tiers.set('once', dues(30, { giveUpAt: 30 }));
  tiers.set('again', dues(30));
  tiers.set('other', dues(30));
  equal(tiers.next(0, PROSPECT), 'once');
  equal(tiers.tierOf('again', 0, PROSPECT), 'late');
  tiers.set('twice', dues(29, { giveUpAt: 29 }));
  tiers.set('thrice', dues(29, { giveUpAt: 29 }));
  tiers.next(0, PROSPECT);
  const tiersNow = ['once', 'twice', 'thrice'].map((name) => tiers.tierOf(name, 0, PROSPECT));
  equal(tiersNow.filter((tier) => tier === 'hopeless').length, 1);
  equal(tiersNow.filter((tier) => tier === 'on_time').length, 2);
});

test('what one tenant has too much is let go of its own calls, by weight', () => {
  const tiers = new Tiers<string>();
  for (let at = 0; at < 20; at += 1) tiers.set(`noisy${at}`, dues(100 + at, { tenant: 'noisy' }));
  for (let at = 0; at < 3; at += 1) tiers.set(`quiet${at}`, dues(100 + at, { tenant: 'quiet' }));
  const onTime = served(tiers, 0).filter(([, tier]) => tier === 'on_time');
  equal(onTime.filter(([name]) => name.startsWith('quiet')).length, 3);

  const weighed = new Tiers<string>();
  for (let at = 0; at < 20; at += 1) {
    weighed.set(`heavy${at}`, dues(100, { tenant: 'heavy', weight: 3 }));
    weighed.set(`light${at}`, dues(100, { tenant: 'light' }));
  }
  const kept = served(weighed, 0).filter(([, tier]) => tier === 'on_time');
  ok(kept.filter(([name]) => name.startsWith('heavy')).length >= 2 * kept.length * 0.33);
});

test('whoever turns out to be of another tenant keeps its place', () => {
  const tiers = new Tiers<string>();
  for (const name of ['one', 'two', 'three']) tiers.set(name, dues(100, { tenant: 'unknown' }));
  for (const name of ['one', 'two', 'three']) tiers.set(name, dues(100, { tenant: 'known' }));
  deepEqual(
    served(tiers, 0).map(([name, tier]) => `${name} ${tier}`),
    ['one on_time', 'two on_time', 'three on_time'],
  );
});

test('whoever could not make its give-up at a slow pace is late again, and not last, at a faster one', () => {
  const tiers = new Tiers<string>();
  for (let at = 0; at < 10; at += 1) tiers.set(`late${at}`, dues(50, { late: true, giveUpAt: 100 + at }));
  const tierAt = (paceMs: number): (string | undefined)[] => {
    const prospect = { ...PROSPECT, paceMs };
    tiers.next(0, prospect);
    return Array.from({ length: 10 }, (_, at) => tiers.tierOf(`late${at}`, 0, prospect));
  };
  equal(tierAt(50).filter((tier) => tier === 'hopeless').length > 5, true);
  equal(tierAt(1).includes('hopeless'), false);
});

/** The most of these deadlines that can be met one after another: Moore and Hodgson's rule for equal work. */
function most(deadlines: readonly number[], { paceMs, serviceMs }: Prospect): number {
  let count = 0;
  for (const deadline of deadlines.toSorted((a, b) => a - b)) {
    if (count * paceMs + serviceMs <= deadline) count += 1;
  }
  return count;
}

test('no more are let go than have to be, whatever the deadlines and whoever comes again', () => {
  const item = fc.record({ deadlineAt: fc.integer({ min: 0, max: 300 }), once: fc.boolean() });
  fc.assert(
    fc.property(fc.array(item, { maxLength: 40 }), (items) => {
      const tiers = new Tiers<number>();
      items.forEach(({ deadlineAt, once }, at) => {
        tiers.set(at, dues(deadlineAt, { giveUpAt: once ? deadlineAt : FAR }));
      });
      tiers.next(0, PROSPECT);
      const kept = items.filter((_, at) => tiers.tierOf(at, 0, PROSPECT) === 'on_time');
      const deadlines = items.map(({ deadlineAt }) => deadlineAt);
      equal(kept.length, most(deadlines, PROSPECT));
    }),
  );
});

test('whatever comes, changes and goes, everything in line is in one tier and is served once', () => {
  const change = fc.record({
    name: fc.integer({ min: 0, max: 12 }),
    deadlineAt: fc.integer({ min: 0, max: 500 }),
    giveUpIn: fc.integer({ min: 0, max: 800 }),
    late: fc.boolean(),
    tenant: fc.constantFrom('a', 'b', 'c'),
    afterMs: fc.integer({ min: 0, max: 40 }),
    act: fc.constantFrom('set', 'set', 'set', 'delete', 'next'),
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 80 }), (changes) => {
      const tiers = new Tiers<string>();
      const there = new Set<string>();
      let now = 0;
      for (const { name, deadlineAt, giveUpIn, late, tenant, afterMs, act } of changes) {
        now += afterMs;
        const item = `i${name}`;
        if (act === 'set') {
          tiers.set(item, dues(deadlineAt, { giveUpAt: deadlineAt + giveUpIn, late, tenant }));
          there.add(item);
        } else if (act === 'delete') {
          tiers.delete(item);
          there.delete(item);
        } else equal(tiers.next(now, PROSPECT) === undefined, there.size === 0);
        for (const one of there) ok(tiers.tierOf(one, now, PROSPECT) !== undefined, `${one} is nowhere`);
        equal(tiers.size, there.size);
      }
      deepEqual(
        served(tiers, now)
          .map(([name]) => name)
          .toSorted(),
        [...there].toSorted(),
      );
    }),
  );
});
