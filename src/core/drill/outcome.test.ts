/** Counting what became of calls, and when an overload is over. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { amplification, outcomes, outcomesByClient, quantile, totalOutcome } from './outcome.js';
import { type Plan, type PlannedCall, PUBLISHED_CLIENT, PUBLISHED_PLAN } from './plan.js';
import type { AttemptRecord, CallRecord } from './record.js';
import { backlogRecovery, onTimeRecovery } from './recovery.js';

const PLAN: Plan = {
  ...PUBLISHED_PLAN,
  stages: [
    { name: 'one', rate: { perSecond: 1 }, seconds: 10 },
    { name: 'two', rate: { perSecond: 1 }, seconds: 10 },
  ],
};

function call(index: number, stage: number): PlannedCall {
  return {
    index,
    stage,
    atMs: index * 1_000,
    promptTokens: 10,
    sharedPrefixTokens: 0,
    responseTokens: 10,
    client: PUBLISHED_CLIENT,
  };
}

function ended(index: number, stage: number, seconds: number, delivered: boolean): CallRecord {
  return {
    call: index,
    stage,
    plannedMs: index * 1_000,
    endedMs: (index + seconds) * 1_000,
    attempts: 1,
    delivered,
  };
}

function attempt(index: number, ordinal: number, ending: AttemptRecord['ending']): AttemptRecord {
  return {
    call: index,
    attempt: ordinal,
    plannedMs: 0,
    sentMs: 0,
    firstByteMs: undefined,
    leftMs: 1,
    ending,
    status: undefined,
  };
}

test('calls are told apart by their kind of client, those of equal names together', () => {
  const kind = (name: string): PlannedCall['client'] => ({ ...PUBLISHED_CLIENT, name });
  const clients = [kind('patient'), kind('hasty'), { ...kind('patient'), tenant: 'other' }];
  const planned = [0, 1, 2, 0].map((at, index) =>
    Object.assign(call(index, 0), { client: clients[at] ?? kind('none') }),
  );
  const calls = [ended(0, 0, 10, true), ended(1, 0, 200, true), ended(2, 0, 10, true)];
  const parts = { plan: { ...PLAN, clients }, planned, calls, attempts: [attempt(1, 0, 'delivered')] };
  assert.deepEqual(
    outcomesByClient(parts).map((one) => [one.stage, one.calls, one.deliveredByDeadline, one.attempts]),
    [
      ['patient', 3, 2, 0],
      ['hasty', 1, 0, 1],
    ],
  );
});

test('every planned call of a stage is in its denominator, whatever became of it', () => {
  const [one, two] = outcomes({
    plan: PLAN,
    planned: [call(0, 0), call(1, 0), call(2, 0), call(3, 0), call(4, 1), call(5, 1)],
    calls: [
      ended(0, 0, 100, true),
      ended(1, 0, 500, true),
      ended(2, 0, 900, true),
      ended(3, 0, 490, false),
      ended(4, 1, 3, false),
    ],
    attempts: [
      attempt(0, 0, 'delivered'),
      attempt(1, 0, 'timed_out'),
      attempt(1, 1, 'delivered'),
      attempt(2, 0, 'delivered'),
      attempt(3, 0, 'timed_out'),
      attempt(4, 0, 'refused'),
      attempt(5, 0, 'timed_out'),
    ],
    executions: [{ call: 0 }, { call: 1 }, { call: 1 }, { call: 2 }, { call: 3 }],
  });
  assert.ok(one !== undefined && two !== undefined);
  assert.equal(one.calls, 4);
  assert.deepEqual([one.deliveredByDeadline, one.deliveredByHorizon, one.delivered], [1, 2, 3]);
  assert.deepEqual([one.refused, one.abandoned, one.broken, one.open], [0, 1, 0, 0]);
  assert.equal(one.latenessMs.median, 500_000);
  assert.equal(amplification(one), 1.25);
  assert.deepEqual([two.calls, two.refused, two.open, two.attempts], [2, 1, 1, 2]);
});

test('all stages in one have every planned call, and executions that were only counted', () => {
  const parts = {
    plan: PLAN,
    planned: [call(0, 0), call(1, 0), call(2, 1)],
    calls: [ended(0, 0, 100, true), ended(2, 1, 20, true)],
    attempts: [attempt(0, 0, 'delivered'), attempt(1, 0, 'timed_out'), attempt(2, 0, 'delivered')],
  };
  const total = totalOutcome(parts, 5);
  assert.deepEqual(
    [total.stage, total.calls, total.delivered, total.open, total.attempts, total.executions],
    ['total', 3, 2, 1, 3, 5],
  );
  assert.equal(total.latenessMs.median, 20_000);
  assert.equal(totalOutcome(parts).executions, undefined);
});

test('a quantile of nothing is no number, of one value that value', () => {
  assert.ok(Number.isNaN(quantile([], 0.5)));
  assert.equal(quantile([4], 0.99), 4);
  assert.equal(quantile([1, 2, 3, 4], 0.5), 2);
});

const OVERLOAD = { startSeconds: 120, endSeconds: 200, untilSeconds: 800 } as const;

function waitingUntil(second: number): { atMs: number; waiting: number }[] {
  return Array.from({ length: 800 }, (_, at) => ({
    atMs: at * 1_000,
    waiting: at >= 120 && at < second ? 50 : 0,
  }));
}

test('the backlog is back at its base at the end of the first whole minute without one', () => {
  assert.equal(backlogRecovery(waitingUntil(200), OVERLOAD), 60);
  assert.equal(backlogRecovery(waitingUntil(310), OVERLOAD), 180);
  assert.equal(backlogRecovery(waitingUntil(320), OVERLOAD), 180);
  assert.ok(Number.isNaN(backlogRecovery(waitingUntil(800), OVERLOAD)));
});

test('calls are on time again at the end of the first whole minute of calls that are', () => {
  const calls = (late: (second: number) => boolean): CallRecord[] =>
    Array.from({ length: 800 }, (_, at) => ended(at, 0, late(at) ? 200 : 20, true));
  assert.equal(
    onTimeRecovery(
      calls(() => false),
      OVERLOAD,
      120,
    ),
    60,
  );
  const between = calls((at) => at >= 150 && at < 330);
  assert.equal(onTimeRecovery(between, OVERLOAD, 120), 240);
  const relapse = calls((at) => at >= 700 && at < 730);
  assert.equal(onTimeRecovery(relapse, OVERLOAD, 120), 600);
  assert.ok(
    Number.isNaN(
      onTimeRecovery(
        calls((at) => at > 150),
        OVERLOAD,
        120,
      ),
    ),
  );
});
