/** Draws that a workload needs, from the uniform stream alone. */

import type { Random } from './random.js';

/** Exponential with the given mean (> 0). */
export function exponential(random: Random, mean: number): number {
  return -mean * Math.log(1 - random.uniform());
}

/** Standard normal, Box and Muller (1958); two uniform draws a value. */
export function normal(random: Random): number {
  const radius = Math.sqrt(-2 * Math.log(1 - random.uniform()));
  return radius * Math.cos(2 * Math.PI * random.uniform());
}

/** Lognormal with the given median (> 0) and shape σ (≥ 0): median · e^(σ·N(0,1)). */
export function lognormal(random: Random, median: number, sigma: number): number {
  return median * Math.exp(sigma * normal(random));
}

/** Gamma with the given shape and scale (> 0); Marsaglia and Tsang (2000), with their boost below shape 1. */
export function gamma(random: Random, shape: number, scale: number): number {
  if (shape < 1) return gamma(random, shape + 1, scale) * (1 - random.uniform()) ** (1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = normal(random);
    const v = (1 + c * x) ** 3;
    if (v <= 0) continue;
    const u = 1 - random.uniform();
    if (Math.log(u) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v * scale;
  }
}
