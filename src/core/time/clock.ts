/** The only source of time in the core: handed in, never reached for. */

/**
 * Order of events that fall on the same moment; the lower rank fires first:
 * an answer beats a deadline, a deadline beats a retry.
 */
export const RANK = { answer: 0, plain: 1, deadline: 2, retry: 3 } as const;
export type Rank = (typeof RANK)[keyof typeof RANK];

/** Cancels a pending timer; calling it again, or after it fired, does nothing. */
export type Cancel = () => void;

export interface Clock {
  /** Milliseconds since an arbitrary origin; never goes backwards. */
  now(): number;
  /** Calls `fire` once, `ms` (≥ 0) from now. */
  after(ms: number, fire: () => void, rank?: Rank): Cancel;
}
