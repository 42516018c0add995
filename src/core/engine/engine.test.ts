/** The loop in virtual time: when outputs come, what an abort spends, what never fits. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VirtualClock } from '../time/virtual-clock.js';
import { Engine } from './engine.js';
import type { EngineOptions } from './options.js';
import { linearCost } from './profiles.js';
import type { Step } from './step.js';
import { Prompt } from './tokens.js';
import type { TraceEvent } from './trace.js';

function rig(options: Partial<EngineOptions> = {}) {
  const clock = new VirtualClock();
  const trace: TraceEvent[] = [];
  const engine = new Engine({ clock, cost: linearCost(10, 0), options, trace: (event) => trace.push(event) });
  const heard: string[] = [];
  let segment = 1;
  const add = (id: string, promptTokens: number, maxTokens: number, prompt?: Prompt) =>
    engine.add(
      { id, prompt: prompt ?? Prompt.ofSegments([[segment++, promptTokens]]), maxTokens },
      (execution, ended) =>
        heard.push(`${clock.now()} ${id} ${execution.outputTokens} ${ended ?? ''}`.trim()),
    );
  return { clock, engine, trace, heard, add };
}

test('an idle engine starts at once and brings one token a step', () => {
  const { clock, add, heard } = rig();
  add('a', 100, 3);
  clock.runUntil(1_000);
  assert.deepEqual(heard, ['10 a 1', '20 a 2', '30 a 3 length']);
});

test('a long prompt is computed in chunks and brings nothing before its last', () => {
  const { clock, add, heard, trace } = rig({ maxNumBatchedTokens: 64 });
  add('a', 100, 1);
  clock.runUntil(1_000);
  assert.deepEqual(heard, ['20 a 1 length']);
  const chunks = trace
    .filter((event) => event.event === 'scheduled')
    .map(({ at, base, tokens }) => [at, base, tokens]);
  assert.deepEqual(chunks, [
    [0, 0, 64],
    [0, 64, 36],
  ]);
});

test('an abort takes effect when the awaited step ends, and issued work is spent', () => {
  const { clock, engine, add, heard, trace } = rig({ maxNumBatchedTokens: 64 });
  const execution = add('a', 1_000, 1);
  clock.after(15, () => engine.abort(execution));
  clock.runUntil(1_000);
  assert.deepEqual(heard, []);
  const aborted = trace.find((event) => event.event === 'aborted');
  assert.deepEqual([aborted?.at, aborted?.computedTokens, aborted?.inFlightTokens], [20, 192, 128]);
  const { truth, vllm } = engine.counters;
  assert.deepEqual([truth.computedPromptTokens, truth.hiddenPromptTokens], [192, 192]);
  assert.deepEqual([vllm.prefixCacheQueries, vllm.promptTokens], [1_000, 0]);
});

test('a retry soon after finds what its aborted predecessor left', () => {
  const { clock, engine, add, trace } = rig({ maxNumBatchedTokens: 64 });
  const prompt = Prompt.ofSegments([[9, 1_000]]);
  const first = add('a', 0, 1, prompt);
  clock.after(15, () => engine.abort(first));
  clock.after(50, () => add('b', 0, 1, prompt));
  clock.runUntil(1_000);
  const base = trace.find((event) => event.event === 'scheduled' && event.id === 'b');
  assert.equal(base?.event === 'scheduled' ? base.base : undefined, 192);
});

test('a prompt that can never fit waits for ever without turning the loop', () => {
  const { clock, engine, add, heard } = rig({ numGpuBlocks: 4 });
  const stuck = add('a', 100, 1);
  let turns = 0;
  while (clock.step()) turns += 1;
  assert.ok(turns < 10, `${turns} turns`);
  add('b', 10, 1);
  while (clock.step()) turns += 1;
  assert.deepEqual(heard, []);
  engine.abort(stuck);
  clock.runUntil(1_000);
  assert.equal(heard.length, 1);
});

test('after an empty step the loop goes back to the top while requests remain, before it hears of that step', () => {
  const moments: string[] = [];
  const clock = new VirtualClock();
  const observer = {
    scheduled: ({ number, total }: Step) => moments.push(`scheduled ${number} of ${total}`),
    updated: ({ number }: Step) => moments.push(`updated ${number}`),
  };
  const engine = new Engine({ clock, cost: linearCost(10, 0), options: { numGpuBlocks: 4 }, observer });
  const [first] = [1, 2].map((segment) =>
    engine.add({ id: `e${segment}`, prompt: Prompt.ofSegments([[segment, 100]]), maxTokens: 1 }, () => {}),
  );
  clock.runUntil(1_000);
  moments.length = 0;
  assert.ok(first !== undefined);
  engine.abort(first);
  clock.runUntil(2_000);
  assert.deepEqual(moments, ['scheduled 2 of 0', 'scheduled 3 of 0', 'updated 2', 'updated 3']);
});

test('the caps count running executions, and prompt tokens before a first answer', () => {
  const { clock, engine, add } = rig({ maxNumQueuedReqs: 2, maxNumQueuedTokens: 150 });
  add('a', 100, 5);
  assert.equal(engine.refusal(1), undefined);
  add('b', 100, 5);
  assert.equal(engine.refusal(1), 'requests');
  assert.equal(engine.refusal(0), 'tokens');
  clock.runUntil(1_000);
  assert.equal(engine.refusal(2), undefined);
});

test('options out of bounds are refused by name', () => {
  assert.throws(() => rig({ numGpuBlocks: 1 }), /numGpuBlocks must be a whole number from 2 to/);
});
