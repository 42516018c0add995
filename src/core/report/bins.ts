/** Moments counted by time: what happened in each span of a run. */

import { binSeconds } from './scale.js';

/** Equal spans from the start of a run; the last one may reach beyond its end. */
export interface Bins {
  readonly seconds: number;
  readonly count: number;
}

/** At most `most` spans of a round length over `seconds`. */
export function binsOver(seconds: number, most: number): Bins {
  const width = binSeconds(Math.max(1, seconds), most);
  return { seconds: width, count: Math.max(1, Math.ceil(seconds / width)) };
}

/** How many of `momentsMs` fall into each bin; one at or beyond the end counts in the last, so that none is lost. */
export function countIn(bins: Bins, momentsMs: Iterable<number>): readonly number[] {
  const counts = new Array<number>(bins.count).fill(0);
  for (const ms of momentsMs) counts[binOf(bins, ms)] = (counts[binOf(bins, ms)] ?? 0) + 1;
  return counts;
}

/** The bin of a moment. */
export function binOf({ seconds, count }: Bins, ms: number): number {
  return Math.min(count - 1, Math.max(0, Math.floor(ms / 1_000 / seconds)));
}

/** The mean of what was read in each bin; undefined where nothing was. */
export function meansIn(
  bins: Bins,
  read: Iterable<readonly [ms: number, value: number]>,
): readonly (number | undefined)[] {
  const sums = new Array<number>(bins.count).fill(0);
  const counts = new Array<number>(bins.count).fill(0);
  for (const [ms, value] of read) {
    const bin = binOf(bins, ms);
    sums[bin] = (sums[bin] ?? 0) + value;
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return sums.map((sum, bin) => ((counts[bin] ?? 0) === 0 ? undefined : sum / (counts[bin] ?? 1)));
}

/** By how much a cumulative counter rose in each bin: a rise is spread evenly from one reading to the next. */
export function risesIn(
  bins: Bins,
  read: readonly (readonly [ms: number, value: number])[],
): readonly number[] {
  const rises = new Array<number>(bins.count).fill(0);
  for (let at = 1; at < read.length; at += 1) {
    const [fromMs, before] = read[at - 1] as readonly [number, number];
    const [toMs, after] = read[at] as readonly [number, number];
    // A counter that falls has begun anew with its process.
    const rise = after >= before ? after - before : after;
    const [first, last] = [binOf(bins, fromMs), binOf(bins, toMs)];
    if (first === last || toMs <= fromMs) {
      rises[last] = (rises[last] ?? 0) + rise;
      continue;
    }
    for (let bin = first; bin <= last; bin += 1) {
      const startMs = Math.max(fromMs, bin * bins.seconds * 1_000);
      const endMs = bin === last ? toMs : Math.min(toMs, (bin + 1) * bins.seconds * 1_000);
      rises[bin] = (rises[bin] ?? 0) + (rise * (endMs - startMs)) / (toMs - fromMs);
    }
  }
  return rises;
}
