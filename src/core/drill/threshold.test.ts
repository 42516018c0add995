/** Thresholds: what is read, what is refused with its position, and when a run meets one. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StageOutcome } from './outcome.js';
import { type Judged, judge, readThreshold, ThresholdError } from './threshold.js';

function outcome(stage: string, of: Partial<StageOutcome>): StageOutcome {
  return {
    stage,
    calls: 200,
    deliveredByDeadline: 150,
    deliveredByHorizon: 199,
    delivered: 200,
    refused: 0,
    abandoned: 0,
    broken: 0,
    open: 0,
    attempts: 260,
    executions: undefined,
    latenessMs: { median: 2_000, p90: 9_000, p99: 61_000 },
    ...of,
  };
}

const RUN: Judged = {
  stages: [outcome('hold', {}), outcome('the pulse', { deliveredByHorizon: 100 })],
  total: outcome('total', { executions: 210 }),
  recovery: { backlogSeconds: 120, onTimeSeconds: null },
  generator: { sendMs: { p50: 1, p99: 12, most: 40 }, loopMs: { p50: 0, p99: 3, most: 9 } },
};
const STAGES = RUN.stages.map(({ stage }) => stage);

function met(text: string, run: Judged = RUN): boolean {
  return judge(readThreshold(text, STAGES), run).met;
}

test('shares are of all planned calls, times are seconds, counts and ratios have no unit', () => {
  for (const text of [
    'hold.delivered > 99%',
    'hold.delivered<=99.5 %',
    '"the pulse".delivered == 50%',
    'hold.on_time >= 75%',
    'total.executions_per_call <= 1.05',
    'total.attempts_per_call < 1.31',
    'hold.calls == 200',
    'recovery.backlog < 300s',
    'recovery.backlog <= 2m',
    'hold.answer_p90 < 9500ms',
    'generator.send_p99 < 50ms',
  ]) {
    assert.ok(met(text), text);
  }
  for (const text of ['hold.delivered > 99.5%', '"the pulse".delivered > 50%', 'recovery.backlog < 120s']) {
    assert.ok(!met(text), text);
  }
});

test('what a run could not tell meets no threshold, and is told as nothing', () => {
  for (const text of ['recovery.on_time < 9000s', 'hold.executions_per_call < 5', 'hold.executions > 0']) {
    assert.deepEqual(judge(readThreshold(text, STAGES), RUN), {
      text,
      value: null,
      unit: text.startsWith('recovery') ? 's' : '',
      met: false,
    });
  }
  assert.ok(!met('generator.loop_p99 < 1s', { ...RUN, generator: null }));
  const empty = { ...RUN, stages: [outcome('hold', { calls: 0, deliveredByHorizon: 0 })] };
  assert.ok(!met('hold.delivered >= 0%', empty));
});

test('an expression that cannot be read is refused with its position and what would be right', () => {
  const refused = (text: string): string => {
    try {
      readThreshold(text, STAGES);
    } catch (error) {
      assert.ok(error instanceof ThresholdError);
      return error.message;
    }
    throw new Error(`taken: ${text}`);
  };
  assert.equal(
    refused('hld.delivered > 1%'),
    '"hld.delivered > 1%", character 1: there is no hld; there is hold, the pulse, total, recovery, generator',
  );
  assert.match(
    refused('hold.delivred > 1%'),
    /character 6: hold has no delivred; it has delivered, on_time, /,
  );
  assert.match(refused('hold delivered > 1%'), /character 6: wanted a full stop/);
  assert.match(refused('hold.delivered = 1%'), /character 16: wanted one of > >= < <= ==/);
  assert.match(refused('hold.delivered > x'), /character 18: wanted a number/);
  assert.match(refused('hold.delivered > 0.99'), /character 22: delivered takes %/);
  assert.match(refused('hold.answer_p99 < 3'), /takes s or ms or m/);
  assert.match(refused('hold.calls > 3%'), /character 15: calls takes no unit/);
  assert.match(refused('hold.calls > 3 of 4'), /character 16: calls takes no unit/);
  assert.match(refused('hold.delivered > 3% 4'), /character 21: wanted nothing more/);
  assert.match(refused(''), /character 1: wanted a stage/);
  assert.match(refused('total.constructor > 3'), /total has no constructor/);
  assert.match(refused('constructor.calls > 3'), /there is no constructor/);
});
