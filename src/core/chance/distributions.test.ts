/** The draws of a workload have the mean, median and spread that their names promise. */

import { equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { exponential, lognormal, normal } from './distributions.js';
import { Random } from './random.js';

const COUNT = 200_000;

function sample(draw: (random: Random) => number): { mean: number; median: number; deviation: number } {
  const random = new Random(11, 'sample');
  const values = Array.from({ length: COUNT }, () => draw(random)).toSorted((a, b) => a - b);
  const mean = values.reduce((sum, value) => sum + value, 0) / COUNT;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / COUNT;
  return { mean, median: values[COUNT / 2] as number, deviation: Math.sqrt(variance) };
}

/** Fails unless `actual` is within `tolerance` (a share) of `expected`. */
function near(actual: number, expected: number, tolerance: number): void {
  ok(Math.abs(actual - expected) <= tolerance * Math.abs(expected), `${actual} is not near ${expected}`);
}

test('an exponential draw has its mean, and a deviation equal to it', () => {
  const { mean, median, deviation } = sample((random) => exponential(random, 40));
  near(mean, 40, 0.01);
  near(deviation, 40, 0.02);
  near(median, 40 * Math.LN2, 0.01);
});

test('a normal draw has mean 0 and deviation 1', () => {
  const { mean, deviation } = sample(normal);
  ok(Math.abs(mean) < 0.01);
  near(deviation, 1, 0.01);
});

test('a lognormal draw with median 300 and σ = 0.5 has the mean 300 · e^(σ²/2) ≈ 340', () => {
  const { mean, median } = sample((random) => lognormal(random, 300, 0.5));
  near(median, 300, 0.01);
  near(mean, 300 * Math.exp(0.125), 0.01);
});

test('a lognormal draw with σ = 0 is its median', () => {
  equal(lognormal(new Random(1), 300, 0), 300);
});

test('every draw is finite and of the right sign', () => {
  const random = new Random(5);
  for (let draw = 0; draw < 100_000; draw += 1) {
    const wait = exponential(random, 1);
    ok(wait >= 0 && Number.isFinite(wait));
    const length = lognormal(random, 300, 0.5);
    ok(length > 0 && Number.isFinite(length));
  }
});
