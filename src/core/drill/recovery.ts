/** When an overload is over, by two definitions: the backlog is back at its base; calls are answered on time again. */

import { inTime } from './outcome.js';
import type { Plan } from './plan.js';
import { perSecond } from './planning.js';
import type { CallRecord } from './record.js';

/** Bins in which recovery is told, seconds. */
export const BIN_SECONDS = 60;
/** A bin of calls is on time when at least this share of the base's share is delivered within the deadline. */
const ON_TIME_SHARE = 0.95;

/** The spans of a plan, seconds from its start: before, during and after the overload. */
export interface Overload {
  readonly startSeconds: number;
  readonly endSeconds: number;
  /** Where the stage after the overload ends: later bins say nothing. */
  readonly untilSeconds: number;
}

/** Something that waited at one moment. */
export interface BacklogSample {
  readonly atMs: number;
  readonly waiting: number;
}

/** The first stage of the highest rate is the overload; what comes after it is where recovery may show. */
export function overloadOf(plan: Plan, capacity: number | undefined): Overload {
  const rates = plan.stages.map(({ rate }) => perSecond(rate, capacity));
  const highest = rates.indexOf(Math.max(...rates));
  const before = (stages: Plan['stages']): number => stages.reduce((sum, { seconds }) => sum + seconds, 0);
  return {
    startSeconds: before(plan.stages.slice(0, highest)),
    endSeconds: before(plan.stages.slice(0, highest + 1)),
    untilSeconds: before(plan.stages),
  };
}

/**
 * Seconds from the end of the overload to the end of the first whole bin of 60 s that, like every later one, has no
 * more calls waiting (mean of the samples) than the fullest bin before the overload, and one call more. A bin has
 * to be over before it can be judged, which is why its end counts. NaN: not before the span's end.
 */
export function backlogRecovery(samples: readonly BacklogSample[], overload: Overload): number {
  const mean = (from: number, to: number): number => meanWaiting(samples, from, to);
  const before = bins(0, overload.startSeconds).map(([from, to]) => mean(from, to));
  const base = 1 + Math.max(0, ...before);
  return settled(overload, (from, to) => mean(from, to) <= base);
}

/**
 * Seconds from the end of the overload to the end of the first whole bin of 60 s of planned moments of which, as of
 * every later one, the share delivered within the deadline is at least 95 % of what it was before the overload.
 * NaN: not before the span's end.
 */
export function onTimeRecovery(
  calls: readonly CallRecord[],
  overload: Overload,
  deadlineSeconds: number,
): number {
  const base = shareOnTime(calls, 0, overload.startSeconds, deadlineSeconds);
  return settled(
    overload,
    (from, to) => shareOnTime(calls, from, to, deadlineSeconds) >= ON_TIME_SHARE * base,
  );
}

/** The end of the first bin that holds and after which all hold. */
function settled(
  { endSeconds, untilSeconds }: Overload,
  holds: (from: number, to: number) => boolean,
): number {
  const after = bins(endSeconds, untilSeconds);
  const lastBad = after.findLastIndex(([from, to]) => !holds(from, to));
  const first = after[lastBad + 1];
  return first === undefined ? Number.NaN : first[1] - endSeconds;
}

function bins(from: number, to: number): readonly (readonly [from: number, to: number])[] {
  const count = Math.floor((to - from) / BIN_SECONDS);
  return Array.from({ length: count }, (_, at) => [from + at * BIN_SECONDS, from + (at + 1) * BIN_SECONDS]);
}

function meanWaiting(samples: readonly BacklogSample[], from: number, to: number): number {
  let [total, count] = [0, 0];
  for (const { atMs, waiting } of samples) {
    if (atMs < from * 1_000 || atMs >= to * 1_000) continue;
    total += waiting;
    count += 1;
  }
  return count === 0 ? 0 : total / count;
}

/** 1 where no call was planned: nothing was late. */
function shareOnTime(
  calls: readonly CallRecord[],
  from: number,
  to: number,
  deadlineSeconds: number,
): number {
  const planned = calls.filter(({ plannedMs }) => plannedMs >= from * 1_000 && plannedMs < to * 1_000);
  if (planned.length === 0) return 1;
  return planned.filter((call) => inTime(call, deadlineSeconds)).length / planned.length;
}
