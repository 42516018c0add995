/** The closed form against the kernel tables it was fitted to. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type StepLoad, stepMs } from './cost.js';
import { profile } from './profiles.js';

/** Prefill chunks as tokens and context before them; milliseconds for the three models below. */
const PREFILL: readonly (readonly [tokens: number, before: number, ...ms: number[]])[] = [
  [512, 0, 10.5, 11.1, 20.4],
  [2_048, 0, 40.9, 43.0, 79.0],
  [2_048, 2_000, 43.3, 45.7, 83.6],
  [2_048, 10_000, 52.5, 58.5, 102.9],
  [8_192, 0, 187.9, 202.2, 367.6],
  [8_192, 2_000, 197.6, 213.7, 386.9],
  [1_808, 10_192, 45.2, 52.1, 91.5],
  [16_384, 0, 398.7, 451.3, 816.7],
];

/** Decode batches at a context of 12,300 tokens. */
const DECODE: readonly (readonly [sequences: number, ...ms: number[]])[] = [
  [1, 5.7, 6.4, 11.1],
  [8, 7.5, 10.8, 17.0],
  [16, 9.7, 15.4, 22.3],
  [32, 13.2, 23.0, 32.4],
  [64, 20.6, 39.5, 54.3],
  [128, 36.2, 72.7, 100.7],
];

/**
 * The tables interpolate the measurements the form was fitted to, with element-wise work estimated on top; the
 * form leaves them by at most this share (8,192 tokens on an empty cache), and by half of it on average.
 */
const MOST = 0.12;

for (const [column, name] of ['qwen2.5-7b', 'llama-3.1-8b', 'qwen3-14b'].entries()) {
  test(`the kernel time of ${name} stays near the measured tables`, () => {
    const cost = { ...profile(name).cost, hostMs: 0, efficiency: 1 };
    const off = (load: StepLoad, measured: number | undefined): number =>
      Math.abs(stepMs(cost, load) / (measured ?? Number.NaN) - 1);
    const residuals = [
      ...PREFILL.map(([tokens, before, ...ms]) =>
        off({ tokens, prefillPairs: tokens * (before + tokens / 2), decodeContext: 0 }, ms[column]),
      ),
      ...DECODE.map(([tokens, ...ms]) =>
        off({ tokens, prefillPairs: 0, decodeContext: tokens * 12_300 }, ms[column]),
      ),
    ];
    assert.ok(Math.max(...residuals) <= MOST, residuals.map((each) => each.toFixed(3)).join(' '));
    const mean = residuals.reduce((sum, each) => sum + each, 0) / residuals.length;
    assert.ok(mean <= MOST / 2, `mean ${mean.toFixed(3)}`);
  });
}

test('an empty step takes no time', () => {
  assert.equal(stepMs(profile('qwen2.5-7b').cost, { tokens: 0, prefillPairs: 0, decodeContext: 0 }), 0);
});
