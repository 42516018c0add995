/** The one fitted constant: the rate at which the engine's waiting queue begins to grow is the published capacity. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PUBLISHED_CLIENT, PUBLISHED_PLAN } from '../drill/plan.js';
import { profile } from '../engine/profiles.js';
import { armOf } from './arms.js';
import { CAPACITIES } from './capacities.js';
import { runTrial } from './trial.js';

/** Calls that wait at the end of 25 minutes at that rate, with clients that do not leave. */
function waitingAfter(perSecond: number): number {
  const { cost, numGpuBlocks } = profile('qwen2.5-7b');
  const seconds = 1_500;
  const { samples } = runTrial({
    plan: {
      ...PUBLISHED_PLAN,
      arrivals: 'counted',
      stages: [{ name: 'only', rate: { perSecond }, seconds }],
      clients: [{ ...PUBLISHED_CLIENT, deadlineSeconds: 100_000 }],
    },
    seed: 1,
    capacity: 1,
    control: armOf('retries=off cancel=off')?.control ?? {},
    engine: { numGpuBlocks },
    cost,
  });
  const last = samples.slice(seconds - 120, seconds);
  return last.reduce((sum, { waiting }) => sum + waiting, 0) / last.length;
}

test('2 % below its capacity the queue of Qwen2.5-7B does not grow, 4 % above it does', () => {
  const capacity = CAPACITIES['qwen2.5-7b'] ?? 0;
  assert.ok(waitingAfter(0.98 * capacity) < 15);
  assert.ok(waitingAfter(1.04 * capacity) > 30);
});
