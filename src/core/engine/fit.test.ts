/** A fit finds the step times it was given, and says how far it stays from those it cannot reach. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forEachSeed } from '../../../tests/support/seeds.js';
import { normal } from '../chance/distributions.js';
import { Random } from '../chance/random.js';
import { type StepLoad, stepMs } from './cost.js';
import { fitCost, type StepSample } from './fit.js';
import { linearCost, PROFILES } from './profiles.js';

/** Steps as an engine meets them: decodes alone, chunks alone, both. */
function loads(random: Random, count: number): Omit<StepSample, 'ms'>[] {
  return Array.from({ length: count }, () => {
    const decodes = random.uniform() < 0.8 ? random.integer(1, 128) : 0;
    const chunk = decodes === 0 || random.uniform() < 0.5 ? random.integer(16, 8_192) : 0;
    const before = random.integer(0, 12_000);
    return {
      tokens: decodes + chunk,
      prefillPairs: chunk * (before + chunk / 2),
      decodeContext: decodes * random.integer(200, 12_000),
    };
  });
}

function timed(all: readonly Omit<StepSample, 'ms'>[], time: (load: StepLoad) => number): StepSample[] {
  return all.map((load) => Object.assign({ ms: time(load) }, load));
}

test('step times of a profile are found again', () => {
  for (const { name, cost } of PROFILES) {
    forEachSeed(5, (seed) => {
      const samples = timed(loads(new Random(seed, name), 300), (load) => stepMs(cost, load));
      const { maxResidual } = fitCost(samples);
      assert.ok(maxResidual < 0.002, `${name}: ${maxResidual}`);
    });
  }
});

test('noise is told as a residual of its own size, and not fitted', () => {
  const [{ cost }] = PROFILES as readonly [(typeof PROFILES)[number]];
  forEachSeed(5, (seed) => {
    const random = new Random(seed, 'noise');
    const samples = timed(loads(random, 400), (load) => stepMs(cost, load) * (1 + 0.03 * normal(random)));
    const fit = fitCost(samples);
    assert.ok(fit.meanResidual > 0.018 && fit.meanResidual < 0.03, `${fit.meanResidual}`);
    for (const sample of samples) {
      const off = stepMs(fit.cost, sample) / stepMs(cost, sample) - 1;
      assert.ok(Math.abs(off) < 0.03, `${off}`);
    }
  });
});

test('an engine whose steps are a line is fitted too, and too few steps are refused', () => {
  const random = new Random(1, 'line');
  const line = linearCost(4, 0.2);
  const samples = timed(loads(random, 200), (load) => stepMs(line, load));
  assert.ok(fitCost(samples).maxResidual < 0.02);
  assert.throws(() => fitCost(samples.slice(0, 5)), /at least 10 steps/);
});
