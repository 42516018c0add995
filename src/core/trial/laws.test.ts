/** What every run in virtual time must keep to, whatever the arm: repeatable, complete, balanced. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outcomes } from '../drill/outcome.js';
import type { Plan, Stage } from '../drill/plan.js';
import { profile } from '../engine/profiles.js';
import { ARMS, type Arm, armOf, planOf } from './arms.js';
import { runTrial, type TrialRecord } from './trial.js';

const CAPACITY = 2.78;

/** The published plan with a shorter hold: long enough for every arm to show what it does. */
function short(arm: Arm): Plan {
  const plan = planOf(arm);
  const shortened = (stage: Stage): Stage => ({ ...stage, seconds: Math.min(stage.seconds, 120) });
  return { ...plan, stages: plan.stages.map(shortened) };
}

function run(arm: Arm, seed = 1): TrialRecord {
  const { cost, numGpuBlocks } = profile('qwen2.5-7b');
  return runTrial({
    plan: short(arm),
    seed,
    capacity: CAPACITY,
    control: arm.control,
    engine: { numGpuBlocks, ...arm.engine },
    cost,
  });
}

const RUNS = new Map(ARMS.map((arm) => [arm.name, run(arm)]));

test('the same seed gives the same record, byte for byte', () => {
  for (const name of ['retries=on cancel=on', 'coalesce', 'holdfast']) {
    const arm = armOf(name);
    assert.ok(arm !== undefined);
    assert.equal(JSON.stringify(run(arm)), JSON.stringify(RUNS.get(name)), name);
  }
});

test('two policies under one seed meet the same calls', () => {
  const calls = [...RUNS.values()].map(({ planned }) =>
    JSON.stringify(
      planned.map(({ atMs, promptTokens, responseTokens }) => [atMs, promptTokens, responseTokens]),
    ),
  );
  assert.equal(new Set(calls).size, 1);
});

test('every planned call ends once: delivered, refused, abandoned or broken', () => {
  for (const [name, { plan, planned, calls, attempts, executions }] of RUNS) {
    assert.equal(new Set(calls.map(({ call }) => call)).size, planned.length, name);
    assert.equal(calls.length, planned.length, name);
    for (const stage of outcomes({ plan, planned, calls, attempts, executions })) {
      const { delivered, refused, abandoned, broken, open } = stage;
      assert.equal(delivered + refused + abandoned + broken, stage.calls, `${name}, ${stage.stage}`);
      assert.equal(open, 0);
    }
  }
});

test('attempts of a call follow one another, and the last one says how the call ended', () => {
  for (const [name, { calls, attempts }] of RUNS) {
    const made = new Map<number, number>();
    for (const { call, attempt } of attempts) {
      assert.equal(attempt, made.get(call) ?? 0, name);
      made.set(call, attempt + 1);
    }
    for (const { call, attempts: count } of calls) assert.equal(made.get(call), count, name);
    const delivered = attempts.filter(({ ending }) => ending === 'delivered').length;
    assert.equal(delivered, calls.filter((call) => call.delivered).length, name);
  }
});

test('every execution ends once, and the engine counts as many of each ending as the book', () => {
  for (const [name, { executions, samples }] of RUNS) {
    const last = samples.at(-1);
    assert.ok(last !== undefined);
    const ended = (ending: string): number => executions.filter((one) => one.ending === ending).length;
    assert.equal(executions.filter(({ endedMs }) => endedMs === undefined).length, 0, name);
    assert.equal(last.executionsFinished, ended('finished'), name);
    assert.equal(last.executionsAborted, ended('aborted'), name);
    assert.equal(last.executionsCreated, executions.length - ended('refused'), name);
  }
});

test('computed prompt tokens of the book are the engine’s, and so are the hidden ones', () => {
  for (const [name, { executions, samples }] of RUNS) {
    const last = samples.at(-1);
    const sum = (of: (one: (typeof executions)[number]) => number): number =>
      executions.reduce((total, one) => total + of(one), 0);
    assert.equal(
      last?.computedPromptTokens,
      sum((one) => one.computedPromptTokens),
      name,
    );
    assert.equal(
      last?.hiddenPromptTokens,
      sum((one) => one.hiddenPromptTokens),
      name,
    );
  }
});

test('coalescing makes hardly more executions than calls, where none is cancelled at once', () => {
  for (const name of ['coalesce', 'coalesce+cancel-10s', 'holdfast']) {
    const record = RUNS.get(name);
    assert.ok(record !== undefined);
    const perCall = record.executions.length / record.planned.length;
    assert.ok(perCall <= 1.03, `${name}: ${perCall}`);
  }
});

test('a name that says nothing is no arm, variants are read from the name', () => {
  assert.equal(armOf('nothing'), undefined);
  assert.equal(armOf('budget pulse=1.5')?.pulse, 1.5);
  assert.equal(armOf('budget step=2048')?.engine.maxNumBatchedTokens, 2_048);
});
