/** What a drill writes down: one record an attempt, one a call; times in milliseconds from the start of the run. */

import type { Told } from './target.js';

/** How an attempt ended for its client; `stopped`: the run was stopped while it waited. */
export type AttemptEnding = 'delivered' | 'timed_out' | 'refused' | 'broken' | 'stopped';

/** With what the server told of it, where it told anything. */
export interface AttemptRecord extends Told {
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
  /** Its kind of client, by the name that the plan gives it. */
  readonly client?: string;
  /** Its client has the whole answer. */
  readonly delivered: boolean;
}

/** One execution in the engine, where the engine tells of each: virtual time, or a scheduler trace. */
export interface ExecutionRecord {
  readonly id: string;
  /** The planned call it worked for, and the attempt that made it. */
  readonly call: number;
  readonly attempt: number;
  readonly promptTokens: number;
  readonly createdMs: number;
  /** When its first step was scheduled, about one step before it begins on the device: vLLM's SCHEDULED. */
  readonly firstStepMs: number | undefined;
  readonly firstTokenMs: number | undefined;
  readonly endedMs: number | undefined;
  readonly ending: 'finished' | 'aborted' | 'refused' | undefined;
  /** Found in the prefix cache at its first admission. */
  readonly cachedTokens: number;
  /** Prompt tokens of all steps issued for it, steps that outlive an abort included. */
  readonly computedPromptTokens: number;
  /** Of these, computed for an execution that the engine's prompt counter never counts. */
  readonly hiddenPromptTokens: number;
  /** Of these, in steps whose result was not processed when the abort took effect. */
  readonly inFlightPromptTokens: number;
  readonly outputTokens: number;
}

/** What gauges and counters showed at one moment; what nobody could read is absent. Counters are cumulative. */
export interface Sample {
  readonly atMs: number;
  /** The engine's own gauges, as of its last processed step. */
  readonly running?: number;
  readonly waiting?: number;
  readonly kvCacheUsage?: number;
  /** The gateway's line. */
  readonly line?: number;
  /** The engine's own counters. */
  readonly promptTokens?: number;
  readonly prefixCacheQueries?: number;
  readonly prefixCacheHits?: number;
  readonly generationTokens?: number;
  /** The truth beside them, where the engine tells it. */
  readonly computedPromptTokens?: number;
  readonly hiddenPromptTokens?: number;
  readonly executionsCreated?: number;
  readonly executionsFinished?: number;
  readonly executionsAborted?: number;
}
