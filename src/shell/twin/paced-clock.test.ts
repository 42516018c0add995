/** Time held to the machine's pace: the same moments and order as virtual time, no sooner than they are due. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Random } from '../../core/chance/random.js';
import { Engine } from '../../core/engine/engine.js';
import { linearCost } from '../../core/engine/profiles.js';
import { Prompt } from '../../core/engine/tokens.js';
import { traceLine } from '../../core/engine/trace.js';
import { type Clock, RANK } from '../../core/time/clock.js';
import { VirtualClock } from '../../core/time/virtual-clock.js';
import { PacedClock } from './paced-clock.js';

const PLAN_MS = 60_000;

/** A minute of arrivals and departures planned on `clock`; the trace fills as it runs. */
function play(clock: Clock): string[] {
  const trace: string[] = [];
  const random = new Random(5, 'paced');
  const engine = new Engine({
    clock,
    cost: linearCost(20, 0.05),
    options: { maxNumBatchedTokens: 512, numGpuBlocks: 400 },
    trace: (event) => trace.push(traceLine(event)),
  });
  for (let number = 0; number < 100; number += 1) {
    const prompt = Prompt.ofSegments([[number, random.integer(10, 2_000)]]);
    const maxTokens = random.integer(1, 100);
    const leaves = random.uniform() < 0.3;
    clock.after(random.between(0, PLAN_MS / 2), () => {
      const execution = engine.add({ id: `e${number}`, prompt, maxTokens }, () => {});
      if (leaves) clock.after(random.between(0, 2_000), () => engine.abort(execution));
    });
  }
  return trace;
}

function reaches(clock: PacedClock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(ms, resolve, RANK.retry);
  });
}

test('a plan gives the same trace in virtual time and at 300 times the machine’s pace', async () => {
  const virtual = new VirtualClock();
  const expected = play(virtual);
  virtual.runUntil(PLAN_MS);
  const paced = new PacedClock(300);
  const actual = play(paced);
  await reaches(paced, PLAN_MS);
  paced.close();
  assert.ok(expected.length > 1_000);
  assert.deepEqual(actual, expected);
});

test('nothing fires before its time, and a moment’s events fire by rank, then in order', async () => {
  const began = performance.now();
  const clock = new PacedClock(10);
  const fired: string[] = [];
  clock.after(300, () => fired.push('plain'));
  clock.after(300, () => fired.push('second'));
  clock.after(300, () => fired.push('answer'), RANK.answer);
  clock.after(300, () => fired.push('never'))();
  await reaches(clock, 300);
  clock.close();
  assert.ok(performance.now() - began >= 30);
  assert.deepEqual(fired, ['answer', 'plain', 'second']);
});

test('while it is paused no time passes, and none is made up for afterwards', async () => {
  const clock = new PacedClock();
  clock.pause();
  const at = clock.now();
  await new Promise((resolve) => setTimeout(resolve, 300));
  const resumed = performance.now();
  clock.resume();
  clock.catchUp();
  const passed = clock.now() - at;
  assert.ok(passed <= performance.now() - resumed, `${passed} ms passed`);
  clock.close();
});
