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
