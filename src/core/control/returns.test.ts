/** How often clients are counted on to ask: as often as was seen, and past that only few of them at once. */

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { AttemptFacts } from './event.js';
import { controlOptions } from './options.js';
import { Returns } from './returns.js';

const FACTS: AttemptFacts = {
  tenant: 'tenant',
  route: '/v1/completions',
  fingerprint: 'f',
  model: 'm',
  stream: false,
  bodyBytes: 1,
  userAgent: 'own code',
  address: 'a',
  shareable: true,
  stateful: false,
  noStore: false,
  cancelOnLeave: false,
};
const PYTHON: AttemptFacts = { ...FACTS, userAgent: 'OpenAI/Python 2' };

function returns(): Returns<number> {
  return new Returns(controlOptions({}));
}

/** `count` calls, from number `from` on, that wait in their attempt number `attempt`; what each is counted on for. */
function wait(some: Returns<number>, count: number, attempt: number, from = 0, facts = FACTS): number[] {
  return Array.from({ length: count }, (_, at) => some.stake(from + at, facts, attempt));
}

/** So many came back after `attempts`. */
function back(some: Returns<number>, count: number, attempts: number): void {
  for (let at = 0; at < count; at += 1) some.returned(FACTS, attempts);
}

test('nobody is counted on to come again of a program of which none was seen to, however many wait', () => {
  deepEqual(new Set(wait(returns(), 1_000, 1)), new Set([1]));
});

test('a family that is known is counted on for what it is known to ask, and all of its calls are', () => {
  const some = returns();
  deepEqual(new Set(wait(some, 1_000, 1, 0, PYTHON)), new Set([3]));
  equal(some.stake(1, PYTHON, 3), 3);
});

test('a family is counted on for less once it was seen to ask less, not for two that left and many that came', () => {
  const some = returns();
  for (let at = 0; at < 2; at += 1) some.lost(PYTHON, 1);
  equal(some.stake(1, PYTHON, 1), 3);
  for (let at = 0; at < 40; at += 1) some.returned(PYTHON, 1);
  for (let at = 0; at < 2; at += 1) some.lost(PYTHON, 1);
  equal(some.stake(2, PYTHON, 1), 3);
  for (let at = 0; at < 3; at += 1) some.lost(PYTHON, 2);
  equal(some.stake(3, PYTHON, 1), 2);
});

test('one that came back lets one more be counted on, and as soon as two have, all are', () => {
  const some = returns();
  wait(some, 10, 1);
  deepEqual(some.returned(FACTS, 1), [0]);
  deepEqual(
    [0, 1].map((call) => some.stake(call, FACTS, 1)),
    [2, 1],
  );
  some.release(0);
  equal(some.stake(99, FACTS, 1), 2);
  deepEqual(some.returned(FACTS, 1), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test('where some come back and some do not, no more are counted on than would be made good by those that came', () => {
  const some = returns();
  back(some, 10, 1);
  for (let at = 0; at < 4; at += 1) some.lost(FACTS, 1);
  deepEqual(wait(some, 10, 1), [2, 2, 1, 1, 1, 1, 1, 1, 1, 1]);
  back(some, 190, 1);
  deepEqual(new Set(wait(some, 10, 1)), new Set([2]));
});

/** All of `count` calls wait, and each comes back once. */
function askTwice(some: Returns<number>, count: number): number[] {
  wait(some, count, 1);
  return Array.from({ length: count }, (_, call) => {
    some.returned(FACTS, 1);
    return some.stake(call, FACTS, 2);
  });
}

/** Calls that are counted on for more attempts than `attempts`, of those in that attempt. */
function explorers(some: Returns<number>, count: number, attempts: number): number[] {
  return wait(some, count, attempts).flatMap((counted, call) => (counted > attempts ? [call] : []));
}

test('past the attempts that were seen one of two hundred that wait is counted on, whose attempts end first', () => {
  const some = returns();
  askTwice(some, 600);
  deepEqual(explorers(some, 600, 2), [0, 1, 2]);
  const few = returns();
  askTwice(few, 199);
  deepEqual(explorers(few, 199, 2), []);
});

test('those that were counted on and come back show that all can be, and those that do not that none can', () => {
  const some = returns();
  askTwice(some, 600);
  for (const call of [0, 1]) {
    some.returned(FACTS, 2);
    some.stake(call, FACTS, 3);
  }
  equal(explorers(some, 600, 3).length, 3);
  deepEqual(new Set(wait(some, 598, 2, 2)), new Set([3]));
  const none = returns();
  askTwice(none, 600);
  const less = [0, 1, 2].flatMap((call) => {
    const others = none.lost(FACTS, 2);
    none.release(call);
    return others;
  });
  deepEqual(less, [1, 2]);
  deepEqual(explorers(none, 600, 2), []);
});

test('where an end was seen none goes on beyond it, and before the first return nobody does', () => {
  const some = returns();
  equal(some.mayGoOn(FACTS, 1), false);
  equal(some.mayGoOn(PYTHON, 3), false);
  equal(some.mayGoOn(FACTS, 2), true);
  some.lost(FACTS, 2);
  equal(some.mayGoOn(FACTS, 2), false);
});

test('clients of one program that announce different deadlines are counted on apart', () => {
  const some = returns();
  const patient = { ...FACTS, announcedDeadlineMs: 300_000 };
  back(some, 9, 1);
  equal(some.expected(FACTS, 1), 2);
  equal(some.expected(patient, 1), 1);
});

test('one that was lost keeps its part of what is staked until that is known', () => {
  const some = returns();
  askTwice(some, 600);
  for (let call = 3; call < 600; call += 1) some.release(call);
  deepEqual(explorers(some, 3, 2), [0, 1, 2]);
  equal(wait(some, 597, 2, 600).includes(3), false);
});

test('who counts its attempts itself shows those that were not seen', () => {
  const some = returns();
  wait(some, 10, 1);
  some.returned(FACTS, 3);
  equal(some.expected(FACTS, 1), 4);
});

test('nothing is learned where that is switched off', () => {
  const none = new Returns<number>(controlOptions({ learnDeadlines: false }));
  none.returned(FACTS, 1);
  equal(none.stake(1, FACTS, 1), 1);
  equal(none.stake(1, PYTHON, 1), 3);
});

test('of a program that asks a certain number of times no more than one of two hundred waits past its last attempt', () => {
  const steps = fc.array(fc.record({ call: fc.nat(1_000), waits: fc.boolean() }), { maxLength: 6_000 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), steps, (most, script) => {
      const some = returns();
      const attempts = new Map<number, number>();
      const lost: number[] = [];
      let [waiting, past] = [0, 0];
      for (const { call, waits } of script) {
        const now = attempts.get(call);
        if (now === undefined) {
          attempts.set(call, 1);
          some.stake(call, FACTS, 1);
        } else if (!waits) {
          attempts.delete(call);
          some.release(call);
        } else if (now < most) {
          some.returned(FACTS, now);
          attempts.set(call, now + 1);
          some.stake(call, FACTS, now + 1);
        } else {
          if (some.stake(call, FACTS, now) > most) past += 1;
          attempts.delete(call);
          lost.push(call);
        }
        waiting = Math.max(waiting, attempts.size + lost.length);
        while (lost.length > 20) {
          some.lost(FACTS, most);
          some.release(lost.shift() as number);
        }
      }
      ok(past <= 0.005 * waiting, `${past} of ${waiting} were counted on for more than ${most}`);
    }),
  );
});
