/** Whether a series of readings rises: a straight line through them, and how sure one may be of its slope. */

export interface Reading {
  /** Minutes since the first one that counts. */
  readonly minutes: number;
  readonly value: number;
}

export interface Slope {
  /** In units of the value a minute. */
  readonly perMinute: number;
  /** Ends of the 95 % confidence interval. */
  readonly low: number;
  readonly high: number;
  readonly readings: number;
}

/** `flat`: the whole interval is below the threshold; `grows`: all of it is above; else nobody can tell. */
export type Verdict = 'flat' | 'grows' | 'undecided';

/** Fewer readings say nothing about how they hang together. */
export const LEAST_READINGS = 12;
const LEAST_DEGREES = 3;
const MOST_CARRIED = 0.95;
const Z_975 = 1.959964;

/**
 * Least squares. One reading of memory says much about the next one, so n readings are worth m = n (1 - r) / (1 + r)
 * independent ones, where r is the correlation of neighbouring residuals, corrected for what a fitted line takes from it:
 * r + (2 + 4 r) / n, from 0 to 0.95. The standard error is sqrt(sum of squared residuals / (m - 2) / sum of squared
 * distances in time), the quantile Student's for m - 2 degrees of freedom, at least 3 (Santer and others, 2000). Undefined for fewer than {@link LEAST_READINGS}.
 */
export function slopeOf(readings: readonly Reading[]): Slope | undefined {
  const n = readings.length;
  if (n < LEAST_READINGS) return undefined;
  const meanTime = mean(readings.map(({ minutes }) => minutes));
  const meanValue = mean(readings.map(({ value }) => value));
  const times = readings.map(({ minutes }) => minutes - meanTime);
  const values = readings.map(({ value }) => value - meanValue);
  const spread = dot(times, times);
  const perMinute = dot(times, values) / spread;
  const residuals = values.map((value, at) => value - perMinute * (times[at] as number));
  const squares = dot(residuals, residuals);
  const raw = squares === 0 ? 0 : dot(residuals.slice(1), residuals.slice(0, -1)) / squares;
  const carried = Math.min(MOST_CARRIED, Math.max(0, raw + (2 + 4 * raw) / n));
  const worth = Math.max(LEAST_DEGREES + 2, (n * (1 - carried)) / (1 + carried));
  const error = Math.sqrt(squares / (worth - 2) / spread);
  const half = studentQuantile(worth - 2) * error;
  return { perMinute, low: perMinute - half, high: perMinute + half, readings: n };
}

export function verdictOf(slope: Slope | undefined, threshold: number): Verdict {
  if (slope === undefined) return 'undecided';
  if (slope.high <= threshold) return 'flat';
  return slope.low > threshold ? 'grows' : 'undecided';
}

/** The 97.5 % point of Student's distribution, by Cornish and Fisher's expansion; good from 3 degrees on. */
function studentQuantile(degrees: number): number {
  const z = Z_975;
  const first = (z ** 3 + z) / (4 * degrees);
  const second = (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * degrees ** 2);
  const third = (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * degrees ** 3);
  return z + first + second + third;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function dot(left: readonly number[], right: readonly number[]): number {
  return left.reduce((sum, value, at) => sum + value * (right[at] as number), 0);
}
