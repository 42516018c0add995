/** One run of a plan, whole: what `--record` writes down and what the reports read, of a trial and of a drill alike. */

import type { StageOutcome } from './outcome.js';
import type { Plan } from './plan.js';
import type { AttemptRecord, CallRecord, ExecutionRecord, Sample } from './record.js';

/** Written into every `run.json`; another number when a reader of this one could go wrong. */
export const RUN_FORMAT = 'holdfast-run/1';

/** `run.json`: everything of a run but its lists. */
export interface RunHead {
  readonly format: typeof RUN_FORMAT;
  /** What a comparison calls it: a trial's arm, or the name given to a drill. */
  readonly name: string;
  readonly kind: 'trial' | 'drill';
  /** Where the attempts went: a URL, or `virtual time`. */
  readonly target: string;
  /** ISO 8601; absent for a trial, whose record is the same bytes at any hour. */
  readonly startedAt?: string;
  readonly seed: number;
  /** Ĉ, calls per second; null where nobody knows it and the plan does not need it. */
  readonly capacity: number | null;
  /** Seconds of the plan in one second of the wall clock; every time of the record is the plan's. */
  readonly timeScale: number;
  readonly plan: Plan;
  /** Planned calls. */
  readonly calls: number;
  /** Why the run proves nothing; empty for a valid one. */
  readonly invalid: readonly string[];
  /** The run was stopped before its calls had settled. */
  readonly stopped: boolean;
  /** How far the generator itself was behind, milliseconds of the wall clock; null in virtual time. */
  readonly generator: GeneratorLag | null;
  readonly stages: readonly StageOutcome[];
  /** All stages in one. */
  readonly total: StageOutcome;
  /** Seconds after the overload, by both definitions; null: not before the last stage ended. */
  readonly recovery: { readonly backlogSeconds: number | null; readonly onTimeSeconds: number | null };
  /** Who counted the executions; null where nobody could. */
  readonly executionsCountedBy: string | null;
}

export interface GeneratorLag {
  /** From the moment an attempt was due to its bytes being handed to the socket. */
  readonly sendMs: Quantiles;
  /** Delay of the event loop. */
  readonly loopMs: Quantiles;
}

export interface Quantiles {
  readonly p50: number;
  readonly p99: number;
  readonly most: number;
}

export interface RunRecord {
  readonly head: RunHead;
  readonly calls: readonly CallRecord[];
  readonly attempts: readonly AttemptRecord[];
  /** Empty where the engine does not tell of each execution. */
  readonly executions: readonly ExecutionRecord[];
  /** In order of time; empty where nothing could be read. */
  readonly samples: readonly Sample[];
}
