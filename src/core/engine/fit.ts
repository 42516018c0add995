/** Fits the closed form of a step's time to measured steps, so that a profile can be of anyone's own engine. */

import { type StepCost, type StepLoad, stepMs } from './cost.js';

/** One measured step. */
export interface StepSample extends StepLoad {
  readonly ms: number;
}

export interface Fit {
  readonly cost: StepCost;
  /** Shares of the measured times: mean and largest distance of the form from them. */
  readonly meanResidual: number;
  readonly maxResidual: number;
}

/** Fixed, weights, token, pair, context: the coefficients that a fit can tell apart. */
type Parameters = readonly number[];

const COUNT = 5;
const LEAST_SAMPLES = 10;
const MOST_ROUNDS = 500;

function costOf([fixedMs = 0, weightsMs = 0, tokenMs = 0, pairMs = 0, contextMs = 0]: Parameters): StepCost {
  return { hostMs: 0, efficiency: 1, fixedMs, weightsMs, tokenMs, pairMs, contextMs };
}

/**
 * Least squares of the relative errors (Levenberg and Marquardt, coefficients kept ≥ 0). Host cost and efficiency
 * cannot be told from the rest: they come out as 0 and 1. Throws a `RangeError` for fewer than ten usable samples.
 */
export function fitCost(samples: readonly StepSample[]): Fit {
  const used = samples.filter(({ tokens, ms }) => tokens > 0 && ms > 0);
  if (used.length < LEAST_SAMPLES) {
    throw new RangeError(
      `a fit needs at least ${LEAST_SAMPLES} steps with tokens and a time, not ${used.length}`,
    );
  }
  let parameters: Parameters = firstGuess(used);
  let error = squares(parameters, used);
  let damping = 1e-3;
  for (let round = 0; round < MOST_ROUNDS && damping < 1e12; round += 1) {
    const moved = step(parameters, used, damping);
    const next = squares(moved, used);
    if (next < error) {
      [parameters, error] = [moved, next];
      damping /= 3;
    } else damping *= 4;
  }
  const residuals = used.map((sample) => Math.abs(relativeError(parameters, sample)));
  return {
    cost: costOf(parameters),
    meanResidual: residuals.reduce((sum, each) => sum + each, 0) / residuals.length,
    maxResidual: Math.max(...residuals),
  };
}

function firstGuess(samples: readonly StepSample[]): Parameters {
  const shortest = Math.min(...samples.map(({ ms }) => ms));
  const perToken = Math.min(...samples.map(({ ms, tokens }) => ms / tokens));
  const perPair = Math.min(...samples.map(({ ms, prefillPairs }) => ms / Math.max(1, prefillPairs)));
  const perContext = Math.min(...samples.map(({ ms, decodeContext }) => ms / Math.max(1, decodeContext)));
  return [shortest / 4, shortest / 2, perToken / 2, perPair / 10, perContext / 10];
}

function relativeError(parameters: Parameters, sample: StepSample): number {
  return stepMs(costOf(parameters), sample) / sample.ms - 1;
}

function squares(parameters: Parameters, samples: readonly StepSample[]): number {
  return samples.reduce((sum, sample) => sum + relativeError(parameters, sample) ** 2, 0);
}

/** How the relative error changes with each coefficient. */
function gradient(parameters: Parameters, { tokens, prefillPairs, decodeContext, ms }: StepSample): number[] {
  const [, weights = 0, token = 0] = parameters;
  const dense = Math.cbrt(weights ** 3 + (token * tokens) ** 3) || Number.MIN_VALUE;
  const byWeights = (weights / dense) ** 2;
  const byToken = tokens * ((token * tokens) / dense) ** 2;
  return [1, byWeights, byToken, prefillPairs, decodeContext].map((each) => each / ms);
}

function step(parameters: Parameters, samples: readonly StepSample[], damping: number): Parameters {
  const matrix = Array.from({ length: COUNT }, () => new Array<number>(COUNT + 1).fill(0));
  for (const sample of samples) {
    const slopes = gradient(parameters, sample);
    const off = relativeError(parameters, sample);
    for (let row = 0; row < COUNT; row += 1) {
      const line = matrix[row] as number[];
      const slope = slopes[row] as number;
      for (let column = 0; column < COUNT; column += 1) {
        line[column] = (line[column] as number) + slope * (slopes[column] as number);
      }
      line[COUNT] = (line[COUNT] as number) - slope * off;
    }
  }
  for (let row = 0; row < COUNT; row += 1) {
    const line = matrix[row] as number[];
    line[row] = (line[row] as number) * (1 + damping) || 1;
  }
  const change = solved(matrix);
  return parameters.map((each, at) => Math.max(0, each + (change[at] as number)));
}

/** Gauss and Jordan with the largest pivot; rows are [coefficients…, right side]. */
function solved(matrix: number[][]): number[] {
  const size = matrix.length;
  for (let column = 0; column < size; column += 1) {
    let pivot = column;
    for (let row = column + 1; row < size; row += 1) {
      if (Math.abs(matrix[row]?.[column] ?? 0) > Math.abs(matrix[pivot]?.[column] ?? 0)) pivot = row;
    }
    const line = matrix[pivot] as number[];
    matrix[pivot] = matrix[column] as number[];
    const scale = line[column] as number;
    const unit = scale === 0 ? line.map(() => 0) : line.map((each) => each / scale);
    matrix[column] = unit;
    for (let row = 0; row < size; row += 1) {
      const factor = matrix[row]?.[column] ?? 0;
      if (row === column || factor === 0) continue;
      matrix[row] = (matrix[row] as number[]).map((each, at) => each - factor * (unit[at] as number));
    }
  }
  return matrix.map((line) => line[size] as number);
}
