/** From rounds to figures: the middle of what was measured, and how far it went to both sides. */

import type { Compared } from './comparison.js';
import type { Spread, Taken } from './job.js';
import { DIRECT, PIPE_NAME } from './own.js';
import type { WorkloadName } from './workload.js';

export const DIRECT_NAME = DIRECT.name;
/** Fewer requests have no hundredth part. */
const LEAST_FOR_P99 = 100;

/** The middle of the rounds, and their extremes; NaN where nothing was measured. */
export interface Figure {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  return (upper + lower) / 2;
}

export function figureOf(values: readonly number[]): Figure {
  const known = values.filter((value) => Number.isFinite(value));
  if (known.length === 0) return { median: Number.NaN, least: Number.NaN, most: Number.NaN };
  return { median: median(known), least: Math.min(...known), most: Math.max(...known) };
}

export function rate(of: Compared, workload: WorkloadName): Figure {
  return figureOf(of.rates[workload].map(({ perSecond }) => perSecond));
}

/** Of each round, the share of another's rate in the same round. */
export function rateRatio(of: Compared, to: Compared | undefined, workload: WorkloadName): Figure {
  return figureOf(
    of.rates[workload].map(
      ({ perSecond }, round) => perSecond / (to?.rates[workload][round]?.perSecond ?? Number.NaN),
    ),
  );
}

/** Milliseconds of its processes' CPU for one answer. */
export function cpuMs(of: Compared, workload: WorkloadName): Figure {
  return figureOf(of.rates[workload].map(({ cpu }) => cpu.contender));
}

/** Bytes, at the end of a window. */
export function resident(of: Compared, workload: WorkloadName): Figure {
  return figureOf(of.rates[workload].map(({ residentBytes }) => residentBytes));
}

/** Milliseconds over the direct way in the same round, at one quantile, to the first or to the last of an answer. */
export function added(
  of: Compared,
  workload: WorkloadName,
  quantile: keyof Spread,
  to: 'firstMs' | 'endMs' = 'endMs',
): Figure {
  return figureOf(
    of.latencies[workload].map(({ through, direct }) => {
      const enough = quantile === 'p50' || Math.min(through.whole, direct.whole) >= LEAST_FOR_P99;
      const [its, base] = [through[to][quantile], direct[to][quantile]];
      return enough ? (its ?? Number.NaN) - (base ?? Number.NaN) : Number.NaN;
    }),
  );
}

/** All that was taken of one contender. */
export function everyTaken(of: Compared): readonly Taken[] {
  const rates = Object.values(of.rates).flatMap((rounds) => rounds.map(({ taken }) => taken));
  const latencies = Object.values(of.latencies).flatMap((rounds) => rounds.map(({ through }) => through));
  return [...rates, ...latencies, ...(typeof of.held === 'object' ? [of.held.taken] : [])];
}

/** Requests without a whole answer, in all of its measurements. */
export function faults(of: Compared): number {
  return everyTaken(of).reduce((sum, each) => sum + each.faults, 0);
}

/** Answers that were whole, in all of its measurements of rate. */
export function answers(of: Compared): number {
  return Object.values(of.rates)
    .flat()
    .reduce((sum, { taken }) => sum + taken.whole, 0);
}

export function named(all: readonly Compared[], name: string): Compared | undefined {
  return all.find((each) => each.name === name && each.leftOut === undefined);
}

export function pipeOf(all: readonly Compared[]): Compared | undefined {
  return named(all, PIPE_NAME);
}
