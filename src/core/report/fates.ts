/** What can become of a planned call: each call has exactly one fate, so that the shares of a stage sum to one. */

import type { StageOutcome } from '../drill/outcome.js';

/** In the order in which they are drawn, best first. */
export const FATES = ['onTime', 'late', 'tooLate', 'refused', 'abandoned', 'broken', 'open'] as const;
export type Fate = (typeof FATES)[number];

export const FATE_WORDS: Readonly<Record<Fate, string>> = {
  onTime: 'delivered by the deadline',
  late: 'delivered later, by the horizon',
  tooLate: 'delivered after the horizon',
  refused: 'refused',
  abandoned: 'abandoned by its client',
  broken: 'broken off',
  open: 'not ended when the run was',
};

/** For the head of a column. */
export const FATE_NAMES: Readonly<Record<Fate, string>> = {
  onTime: 'on time',
  late: 'later',
  tooLate: 'past the horizon',
  refused: 'refused',
  abandoned: 'abandoned',
  broken: 'broken off',
  open: 'open',
};

/** Planned calls of a stage by fate; they sum to its calls. */
export function fatesOf(stage: StageOutcome): Readonly<Record<Fate, number>> {
  const { deliveredByDeadline, deliveredByHorizon, delivered, refused, abandoned, broken, open } = stage;
  // A deadline beyond the horizon leaves nothing between the two.
  const late = Math.max(0, deliveredByHorizon - deliveredByDeadline);
  return {
    onTime: deliveredByDeadline,
    late,
    tooLate: delivered - deliveredByDeadline - late,
    refused,
    abandoned,
    broken,
    open,
  };
}
