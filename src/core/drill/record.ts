/** What a drill writes down: one record an attempt, one a call; times in milliseconds from the start of the run. */

/** How an attempt ended for its client. */
export type AttemptEnding = 'delivered' | 'timed_out' | 'refused' | 'broken';

export interface AttemptRecord {
  readonly call: number;
  /** From 0. */
  readonly attempt: number;
  readonly plannedMs: number;
  readonly sentMs: number;
  readonly firstByteMs: number | undefined;
  /** When the client had the whole answer, or left, or was refused. */
  readonly leftMs: number;
  readonly ending: AttemptEnding;
  readonly status: number | undefined;
}

export interface CallRecord {
  readonly call: number;
  /** Index of the plan's stage. */
  readonly stage: number;
  readonly plannedMs: number;
  readonly endedMs: number;
  readonly attempts: number;
  /** Its client has the whole answer. */
  readonly delivered: boolean;
}
