/** The virtual clock's law: events fire by time, then rank, then order of asking, and time never goes back. */

import { deepEqual, equal, ok, throws } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { InvariantError } from '../assert.js';
import { RANK, type Rank } from './clock.js';
import { VirtualClock } from './virtual-clock.js';

test('a new clock stands at zero and has nothing to fire', () => {
  const clock = new VirtualClock();
  equal(clock.now(), 0);
  equal(clock.step(), false);
});

test('on one moment an answer beats a deadline and a deadline beats a retry', () => {
  const clock = new VirtualClock();
  const fired: string[] = [];
  clock.after(5, () => fired.push('retry'), RANK.retry);
  clock.after(5, () => fired.push('deadline'), RANK.deadline);
  clock.after(5, () => fired.push('plain'));
  clock.after(5, () => fired.push('answer'), RANK.answer);
  clock.runUntil(5);
  deepEqual(fired, ['answer', 'plain', 'deadline', 'retry']);
});

test('equal moments of equal rank fire in the order they were asked for', () => {
  const clock = new VirtualClock();
  const fired: number[] = [];
  for (let asked = 0; asked < 100; asked += 1) clock.after(1, () => fired.push(asked));
  clock.runUntil(1);
  deepEqual(
    fired,
    Array.from({ length: 100 }, (_, asked) => asked),
  );
});

test('a cancelled timer never fires, and cancelling again or after it fired does nothing', () => {
  const clock = new VirtualClock();
  let fired = 0;
  const cancelled = clock.after(1, () => {
    fired += 1;
  });
  const kept = clock.after(2, () => {
    fired += 1;
  });
  cancelled();
  cancelled();
  clock.runUntil(3);
  kept();
  equal(fired, 1);
  equal(clock.step(), false);
});

test('a cancelled timer does not carry the clock past the moment it was asked to stop at', () => {
  const clock = new VirtualClock();
  let fired = false;
  const cancel = clock.after(1, () => {});
  clock.after(10, () => {
    fired = true;
  });
  cancel();
  clock.runUntil(5);
  equal(fired, false);
  equal(clock.now(), 5);
});

test('a timer may ask for another on the same moment, which fires within the same run', () => {
  const clock = new VirtualClock();
  const fired: string[] = [];
  clock.after(3, () => {
    fired.push('first');
    clock.after(0, () => fired.push('second'));
  });
  clock.runUntil(3);
  deepEqual(fired, ['first', 'second']);
  equal(clock.now(), 3);
});

test('running to a moment in the past leaves the clock where it stands', () => {
  const clock = new VirtualClock();
  clock.runUntil(10);
  clock.runUntil(4);
  equal(clock.now(), 10);
});

test('a timer in the past is a broken invariant', () => {
  throws(() => new VirtualClock().after(-1, () => {}), InvariantError);
  throws(() => new VirtualClock().after(Number.NaN, () => {}), InvariantError);
});

interface Asked {
  readonly ms: number;
  readonly rank: Rank;
  readonly cancelled: boolean;
}

const asked: fc.Arbitrary<Asked> = fc.record({
  ms: fc.integer({ min: 0, max: 5 }),
  rank: fc.constantFrom(...Object.values(RANK)),
  cancelled: fc.boolean(),
});

test('any set of timers fires once each, sorted by time, rank and order of asking', () => {
  fc.assert(
    fc.property(fc.array(asked, { maxLength: 60 }), (timers) => {
      const clock = new VirtualClock();
      const fired: number[] = [];
      const cancels = timers.map((timer, order) =>
        clock.after(
          timer.ms,
          () => {
            equal(clock.now(), timer.ms);
            fired.push(order);
          },
          timer.rank,
        ),
      );
      timers.forEach((timer, order) => {
        if (timer.cancelled) cancels[order]?.();
      });
      let before = clock.now();
      while (clock.step()) {
        ok(clock.now() >= before);
        before = clock.now();
      }
      const expected = timers
        .map((timer, order) => ({ ...timer, order }))
        .filter((timer) => !timer.cancelled)
        .toSorted((a, b) => a.ms - b.ms || a.rank - b.rank || a.order - b.order)
        .map((timer) => timer.order);
      deepEqual(fired, expected);
    }),
  );
});
