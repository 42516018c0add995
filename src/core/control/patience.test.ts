/** What is expected of clients: their word first, then what they were seen to do, and never much from little. */

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import type { AttemptFacts } from './event.js';
import { controlOptions } from './options.js';
import { lowQuantile, Patience } from './patience.js';

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

function patience(): Patience {
  return new Patience(controlOptions({}));
}

test('a deadline in so many words is believed, whatever was learned', () => {
  const learned = patience();
  for (let at = 0; at < 10; at += 1) learned.left(FACTS, 20_000);
  deepEqual(learned.expected({ ...FACTS, explicitDeadlineMs: 90_000 }), {
    deadlineMs: 90_000,
    basis: 'explicit',
  });
  deepEqual(learned.expected({ ...FACTS, explicitDeadlineMs: 1 }), { deadlineMs: 5_000, basis: 'explicit' });
});

test('of what is announced and what was learned the shorter counts; with neither, a minute', () => {
  const some = patience();
  deepEqual(some.expected(FACTS), { deadlineMs: 60_000, basis: 'assumed' });
  const announced = { ...FACTS, announcedDeadlineMs: 600_000 };
  deepEqual(some.expected(announced), { deadlineMs: 600_000, basis: 'announced' });
  for (let at = 0; at < 3; at += 1) some.left(announced, 30_000);
  deepEqual(some.expected(announced), { deadlineMs: 30_000, basis: 'learned' });
  const sooner = { ...FACTS, announcedDeadlineMs: 20_000 };
  for (let at = 0; at < 3; at += 1) some.left(sooner, 30_000);
  deepEqual(some.expected(sooner).basis, 'announced');
  for (let at = 0; at < 3; at += 1) some.left(FACTS, 30_000);
  deepEqual(some.expected(FACTS), { deadlineMs: 30_000, basis: 'learned' });
  equal(some.expected({ ...FACTS, tenant: 'another' }).basis, 'assumed');
});

test('of one program, clients that announce a long wait are not taken for those that announce a short one', () => {
  const some = patience();
  const short = { ...FACTS, announcedDeadlineMs: 60_000 };
  const long = { ...FACTS, announcedDeadlineMs: 300_000 };
  for (let at = 0; at < 10; at += 1) some.left(short, 60_000);
  deepEqual(some.expected(long), { deadlineMs: 300_000, basis: 'announced' });
  for (let at = 0; at < 10; at += 1) some.left({ ...long, announcedDeadlineMs: 300_000 + at }, 90_000);
  deepEqual(some.expected(long), { deadlineMs: 90_000, basis: 'learned' });
});

test('two stops by hand do not make a tenant late, nor do a few among many that were served', () => {
  const some = patience();
  some.left(FACTS, 2_000);
  some.left(FACTS, 3_000);
  equal(some.expected(FACTS).basis, 'assumed');
  for (let at = 0; at < 40; at += 1) some.served(FACTS, 10_000);
  some.left(FACTS, 2_000);
  equal(some.expected(FACTS).basis, 'assumed');
  for (let at = 0; at < 5; at += 1) some.left(FACTS, 120_000);
  deepEqual(some.expected(FACTS), { deadlineMs: 120_000, basis: 'learned' });
});

test('clients that outlast the assumed minute raise it, a little beyond what they have shown', () => {
  const some = patience();
  equal(some.waits(FACTS, 60_000), false);
  equal(some.waits(FACTS, 60_000), false);
  equal(some.waits(FACTS, 60_000), true);
  const { deadlineMs, basis } = some.expected(FACTS);
  equal(basis, 'assumed');
  ok(deadlineMs > 60_000 && deadlineMs <= 70_000);
});

test('of whom nothing is known, one that is not expected to ask again is assumed to wait two minutes, not one', () => {
  const some = patience();
  deepEqual(some.expected(FACTS, 1), { deadlineMs: 120_000, basis: 'assumed' });
  deepEqual(some.expected(FACTS, 2), { deadlineMs: 60_000, basis: 'assumed' });
  equal(some.lastEndsAt(FACTS, { attempt: 1, attempts: 1, arrivedAt: 0 }), 120_000);
  equal(some.expected({ ...FACTS, announcedDeadlineMs: 30_000 }, 1).deadlineMs, 30_000);
  for (let at = 0; at < 3; at += 1) some.left(FACTS, 40_000);
  deepEqual(some.expected(FACTS, 1), { deadlineMs: 40_000, basis: 'learned' });
  equal(new Patience(controlOptions({ learnDeadlines: false })).expected(FACTS, 1).deadlineMs, 60_000);
});

test('the last attempt ends after those that are left, attempts and pauses that came before taken off', () => {
  const some = patience();
  const python = { ...FACTS, userAgent: 'OpenAI/Python 2', announcedDeadlineMs: 100_000 };
  equal(some.lastEndsAt(python, { attempt: 1, attempts: 3, arrivedAt: 0 }), 301_500);
  equal(some.lastEndsAt(python, { attempt: 2, attempts: 3, arrivedAt: 0 }), 200_750);
  equal(some.lastEndsAt(python, { attempt: 3, attempts: 3, arrivedAt: 0 }), 100_000);
  equal(some.lastEndsAt(python, { attempt: 9, attempts: 3, arrivedAt: 0 }), 100_000);
  equal(some.lastEndsAt(FACTS, { attempt: 2, attempts: 2, arrivedAt: 7 }), 60_007);
});

test('whoever was served counts for as long as it waited, and no longer', () => {
  equal(lowQuantile([5, 6, 7]), 5);
  equal(lowQuantile([-1, -2, -3, 100, 100, 100]), 100);
  equal(lowQuantile([...Array.from({ length: 30 }, () => -50), 2, 2]), undefined);
  equal(lowQuantile([...Array.from({ length: 30 }, () => -50), 2, 2, 60]), 60);
  equal(lowQuantile([]), undefined);
});

test('nothing is learned where that is switched off', () => {
  const none = new Patience(controlOptions({ learnDeadlines: false }));
  for (let at = 0; at < 9; at += 1) none.left(FACTS, 20_000);
  equal(none.expected(FACTS).basis, 'assumed');
  equal(none.expected(FACTS).deadlineMs, 60_000);
});
