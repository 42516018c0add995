/** Calls that were recorded somewhere, as a plan: their moments and lengths are the trace's, their clients the plan's. */

import type { Plan } from './plan.js';

/** One recorded call. */
export interface TraceCall {
  /** Milliseconds from the first call of the trace, as it is played. */
  readonly atMs: number;
  readonly promptTokens: number;
  readonly responseTokens: number;
  /** Names of the prompt's leading blocks of 512 tokens; equal names are equal tokens. */
  readonly blocks?: readonly number[];
}

export interface Trace {
  /** The file it was read from. */
  readonly source: string;
  /** In order of time; at least one, none in a record. */
  readonly calls: readonly TraceCall[];
  /** Lines of the file that became no call. */
  readonly leftOut: {
    /** Recorded without an answer, or without a prompt. */
    readonly failed: number;
    /** The clients of the plan make their own. */
    readonly retries: number;
    /** More tokens than were asked for. */
    readonly tooLong: number;
  };
}

/** The only stage of a plan that plays a trace. */
export const TRACE_STAGE = 'trace';

/** `plan` with the trace's calls in the place of its stages: one stage of the trace's length and mean rate. */
export function planOfTrace(plan: Plan, trace: Trace): Plan {
  const lastMs = trace.calls.at(-1)?.atMs ?? 0;
  const seconds = Math.max(1, Math.ceil(lastMs / 1_000));
  const rate = { perSecond: trace.calls.length / seconds };
  return { ...plan, stages: [{ name: TRACE_STAGE, rate, seconds }], trace };
}

/** `plan` without the calls themselves, for a record that lists them anyway. */
export function withoutCalls(plan: Plan): Plan {
  return plan.trace === undefined ? plan : { ...plan, trace: { ...plan.trace, calls: [] } };
}
