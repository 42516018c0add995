/** A recorded trace in virtual time: every call is played at its moment, and named blocks are shared in the cache. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PUBLISHED_PLAN } from '../drill/plan.js';
import { planOfTrace, type TraceCall } from '../drill/trace.js';
import { settingsOf } from './scenario.js';
import { runTrial } from './trial.js';

function played(calls: readonly TraceCall[]) {
  const plan = planOfTrace(PUBLISHED_PLAN, {
    source: 'trace',
    calls,
    leftOut: { failed: 0, retries: 0, tooLong: 0 },
  });
  return runTrial(settingsOf('coalesce', 1, { plan }));
}

const call = (atMs: number, blocks?: readonly number[]): TraceCall => ({
  atMs,
  promptTokens: 1_400,
  responseTokens: 5,
  ...(blocks === undefined ? {} : { blocks }),
});

test('calls come when the trace says and have its lengths', () => {
  const { planned, attempts, calls } = played([call(0), call(2_500), call(2_500)]);
  assert.deepEqual(
    attempts.map(({ sentMs }) => sentMs),
    [0, 2_500, 2_500],
  );
  assert.ok(calls.every(({ delivered }) => delivered));
  assert.ok(
    planned.every(({ promptTokens, responseTokens }) => promptTokens === 1_400 && responseTokens === 5),
  );
});

test('a prompt finds the blocks it shares with an earlier one in the cache, and no others', () => {
  const { executions } = played([
    call(0, [7, 8, 9]),
    call(10_000, [7, 8, 9]),
    call(20_000, [7, 8, 3]),
    call(30_000, [5, 8, 9]),
    call(40_000, [7]),
    call(50_000),
  ]);
  // Whole blocks of 16 tokens; the last token of a prompt is always computed.
  assert.deepEqual(
    executions.map(({ cachedTokens }) => cachedTokens),
    [0, 1_392, 1_024, 0, 512, 0],
  );
});
