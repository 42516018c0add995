/** What share of a plan's calls could be on time at all, for whoever knew every arrival and every length beforehand. */

import { planCalls } from '../drill/planning.js';
import { mostInTime } from './bound.js';
import { leastWorkMs, mostTogether } from './least-work.js';
import type { TrialSettings } from './trial.js';

/** Most calls for which the bound is worked out; its time grows with their square. */
export const MOST_BOUND_CALLS = 20_000;

export interface Clairvoyant {
  /** Planned calls. */
  readonly calls: number;
  /** No order of any kind has more of them inside their first deadline. */
  readonly most: number;
  /** The same if all calls were alike, each with the mean work: nothing is gained by preferring short ones. */
  readonly mostAlike: number;
}

/**
 * The engine is taken for one machine that gives each call its least possible engine time (see `leastWorkMs`) between
 * its arrival and its first deadline, breaking off and switching at no cost. Throws a `RangeError` for too many calls.
 */
export function clairvoyant({ plan, seed, capacity, cost, engine }: TrialSettings): Clairvoyant {
  const calls = planCalls(plan, seed, capacity);
  if (calls.length > MOST_BOUND_CALLS) {
    throw new RangeError(`a bound is worked out for at most ${MOST_BOUND_CALLS} calls, not ${calls.length}`);
  }
  const together = mostTogether(calls, engine);
  const works = calls.map((call) => leastWorkMs(call, cost, engine, together));
  const mean = works.reduce((sum, work) => sum + work, 0) / works.length;
  const jobs = (workMs: (at: number) => number): Parameters<typeof mostInTime>[0] =>
    calls.map(({ atMs, client }, at) => ({
      releaseMs: atMs,
      dueMs: atMs + 1_000 * client.deadlineSeconds,
      workMs: workMs(at),
    }));
  return {
    calls: calls.length,
    most: mostInTime(jobs((at) => works[at] ?? mean)),
    mostAlike: mostInTime(jobs(() => mean)),
  };
}
