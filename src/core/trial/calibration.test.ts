/** The published capacity and those of the other models against what the one search finds. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runs } from '../../../tests/support/seeds.js';
import { PUBLISHED_PLAN } from '../drill/plan.js';
import { profile } from '../engine/profiles.js';
import { calibrateEngine } from './calibrate.js';
import { CAPACITIES } from './capacities.js';

/** By stages of a third of the length that the command plays; a long run plays them whole. */
function found(name: string): number {
  const { cost, numGpuBlocks, maxModelLen } = profile(name);
  const result = calibrateEngine({
    cost,
    engine: { numGpuBlocks, maxModelLen },
    workload: PUBLISHED_PLAN.workload,
    options: {
      firstPerSecond: CAPACITIES[name] ?? 1,
      settleSeconds: runs(120, 300),
      judgedSeconds: runs(300, 900),
    },
  });
  assert.ok(result.verdict === 'found', `${name}: ${JSON.stringify(result)}`);
  return result.capacity;
}

test('the search finds the published capacity of Qwen2.5-7B to 4 %, and the other two in the same proportion', () => {
  const scale = found('qwen2.5-7b') / (CAPACITIES['qwen2.5-7b'] ?? 0);
  assert.ok(scale > 0.99 && scale < 1.04, `${scale} of the published capacity`);
  for (const name of ['llama-3.1-8b', 'qwen3-14b']) {
    const apart = found(name) / (scale * (CAPACITIES[name] ?? 0)) - 1;
    assert.ok(Math.abs(apart) < 0.025, `${name}: ${apart}`);
  }
});
