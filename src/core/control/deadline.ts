/** How long a client waits on one attempt, when it may ask again, when its last is over: estimates from what it says. */

import type { AttemptFacts } from './event.js';
import { mannersOf } from './family.js';
import type { ControlOptions } from './options.js';

/** Node's fetch gives up after 300 s without headers, whatever the SDK announces. */
const NODE_FETCH_MS = 300_000;
const LONGEST_GIVE_UP_MS = 3_600_000;
/** A timer may fire early, and a `Retry-After` is rounded. */
const RETRY_AFTER_MARGIN = 0.9;
const STEPS_A_DOUBLING = 4;

/** Milliseconds from arrival to the expected disconnect; at least `leastDeadlineMs`. */
export function deadlineMs(facts: AttemptFacts, options: ControlOptions): number {
  return Math.max(options.leastDeadlineMs, statedMs(facts) ?? options.defaultDeadlineMs);
}

/** What the client says itself, milliseconds; undefined: nothing. */
export function statedMs(facts: AttemptFacts): number | undefined {
  if (facts.explicitDeadlineMs !== undefined) return facts.explicitDeadlineMs;
  if (facts.announcedDeadlineMs === undefined) return undefined;
  if (!mannersOf(facts.userAgent).nodeFetch) return facts.announcedDeadlineMs;
  return Math.min(facts.announcedDeadlineMs, NODE_FETCH_MS);
}

/** What the client says in steps: those that differ by less than about a fifth are taken for the same. */
export function statedStep(facts: AttemptFacts): number | undefined {
  const stated = statedMs(facts);
  return stated === undefined ? undefined : Math.round(STEPS_A_DOUBLING * Math.log2(Math.max(1, stated)));
}

/** Milliseconds that the client stays away at least, once its attempt was refused with that `Retry-After`, or failed. */
export function shortestGapMs({ userAgent }: AttemptFacts, retryAfterMs?: number): number {
  const manners = mannersOf(userAgent);
  if (retryAfterMs === undefined || manners.obeysRetryAfterMs === 0) return manners.shortestGapMs;
  return RETRY_AFTER_MARGIN * Math.min(retryAfterMs, manners.obeysRetryAfterMs);
}

/**
 * The latest moment at which its client may still ask: the attempts that are left, if none came before that we know of,
 * each a deadline long, and all back-offs of the client's family; at most an hour after `arrivedAt`.
 */
export function giveUpAt(facts: AttemptFacts, arrivedAt: number, options: ControlOptions): number {
  const manners = mannersOf(facts.userAgent);
  const left = Math.max(1, manners.attempts - (facts.retryCount ?? 0));
  const wait = left * deadlineMs(facts, options) + manners.backoffMs;
  return arrivedAt + Math.min(wait, LONGEST_GIVE_UP_MS);
}
