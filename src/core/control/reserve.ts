/** How sure the order is of what it expects: the time kept free for those who must not be lost, and when a pace is another. */

/** A pace is known this much better than the time of one execution: it is a mean of many. */
const PACE_CERTAINTY = 2;
/** A pace that differs by no more than this share is taken for the same. */
const SAME_PACE = 0.01;

interface Certainty {
  /** Longer than this hardly any execution takes, milliseconds. */
  readonly longestMs: number;
  /** ≥ 1: how many times that is kept free. */
  readonly margin: number;
}

/** Time kept free, milliseconds, for calls that take `workMs` one after another. */
export function reserveMs(workMs: number, { longestMs, margin }: Certainty): number {
  return margin * longestMs + ((margin - 1) / PACE_CERTAINTY) * workMs;
}

/** Time kept free for whoever is lost by its first late second, beyond what most executions take; milliseconds. */
export function lastChanceMs({ serviceMs, longestMs }: { serviceMs: number; longestMs: number }): number {
  return Math.max(0, (longestMs - serviceMs) / 2);
}

/** The pace at which that much more than the work of each is kept free; milliseconds. */
export function carefulPaceMs(paceMs: number, { margin }: Pick<Certainty, 'margin'>): number {
  return paceMs * (1 + (margin - 1) / PACE_CERTAINTY);
}

/** Another pace costs a look at everything in line, so it has to differ enough; milliseconds. */
export function isSamePace(seenMs: number, usedMs: number): boolean {
  return Math.abs(seenMs - usedMs) <= SAME_PACE * usedMs;
}
