/** From what happened to what is told of it: the head of a run's record, the same for a trial and a drill. */

import { type OutcomeParts, outcomes, totalOutcome } from './outcome.js';
import { type BacklogSample, backlogRecovery, onTimeRecovery, overloadOf } from './recovery.js';
import { RUN_FORMAT, type RunHead } from './run.js';
import { withoutCalls } from './trace.js';

/** What a run knows of itself besides what is computed from its lists. */
export type RunFacts = Omit<RunHead, 'format' | 'plan' | 'calls' | 'stages' | 'total' | 'recovery'>;

export interface HeadParts extends OutcomeParts {
  readonly facts: RunFacts;
  /** How many calls waited, over time; undefined where nobody could see. */
  readonly backlog: readonly BacklogSample[] | undefined;
  /** Executions in all, where they were counted without telling their calls. */
  readonly executionCount?: number | undefined;
}

/** Throws a `RangeError` when the plan needs a capacity that `facts` do not have. */
export function runHead(parts: HeadParts): RunHead {
  const { facts, plan, planned, calls, backlog, executionCount } = parts;
  const overload = overloadOf(plan, facts.capacity ?? undefined);
  const deadline = plan.clients[0]?.deadlineSeconds ?? 0;
  return {
    format: RUN_FORMAT,
    ...facts,
    plan: withoutCalls(plan),
    calls: planned.length,
    stages: outcomes(parts),
    total: totalOutcome(parts, executionCount),
    recovery: {
      backlogSeconds: backlog === undefined ? null : orNull(backlogRecovery(backlog, overload)),
      onTimeSeconds: orNull(onTimeRecovery(calls, overload, deadline)),
    },
  };
}

function orNull(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
