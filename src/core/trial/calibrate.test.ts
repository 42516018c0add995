/** Ĉ of the engine model by the search that a live engine gets: known queues, chance, refusals, and repeatability. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Workload } from '../drill/plan.js';
import { linearCost } from '../engine/profiles.js';
import { calibrateEngine, type VirtualCalibration } from './calibrate.js';

const WORKLOAD: Workload = {
  promptTokens: { kind: 'fixed', tokens: 100 },
  sharedPrefixTokens: 0,
  responseTokens: { kind: 'fixed', tokens: 22 },
};
const TOY: VirtualCalibration = {
  cost: linearCost(10, 0.1),
  engine: { maxNumSeqs: 1, numGpuBlocks: 1_000, maxNumBatchedTokens: 100, asyncScheduling: false },
  workload: WORKLOAD,
  options: { settleSeconds: 30, judgedSeconds: 120 },
};
/** A prompt's step of 10 + 100 × 0.1 ms, then 21 of 10 + 0.1 ms. */
const CALLS_PER_SECOND = 1_000 / (20 + 21 * 10.1);

test('Ĉ of an engine that serves one call at a time is what arithmetic says, to the grain', () => {
  const result = calibrateEngine(TOY);
  assert.ok(result.verdict === 'found', JSON.stringify(result));
  assert.ok(Math.abs(result.capacity / CALLS_PER_SECOND - 1) <= 0.02, `${result.capacity}`);
  assert.ok(Math.abs((result.servedPerSecond ?? 0) / CALLS_PER_SECOND - 1) <= 0.02);
});

test('the same parts give the same result', () => {
  assert.deepEqual(calibrateEngine(TOY), calibrateEngine(TOY));
});

test('twice as many at once have twice the capacity where a step costs the same', () => {
  const parts = { ...TOY, cost: linearCost(10, 0) };
  const [one, two] = [1, 2].map((maxNumSeqs) =>
    calibrateEngine({ ...parts, engine: { ...TOY.engine, maxNumSeqs } }),
  );
  assert.ok(one?.verdict === 'found' && two?.verdict === 'found');
  assert.ok(Math.abs(two.capacity / one.capacity - 2) < 0.15, `${two.capacity} and ${one.capacity}`);
});

test('an engine that refuses instead of queueing is not given a capacity', () => {
  const result = calibrateEngine({ ...TOY, engine: { ...TOY.engine, maxNumQueuedReqs: 2 } });
  assert.deepEqual([result.verdict, 'reason' in result && result.reason], ['could_not_tell', 'refused']);
});
