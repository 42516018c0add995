/** A plan's stages as spans of time, and which of them a report looks at. */

import type { Plan } from '../drill/plan.js';
import type { CallRecord } from '../drill/record.js';
import type { RunRecord } from '../drill/run.js';

export interface StageSpan {
  readonly name: string;
  readonly fromSeconds: number;
  readonly toSeconds: number;
}

export function stageSpans({ stages }: Plan): readonly StageSpan[] {
  let from = 0;
  return stages.map(({ name, seconds }) => {
    const fromSeconds = from;
    from += seconds;
    return { name, fromSeconds, toSeconds: from };
  });
}

/** The stage of the highest rate, the first of them if there are several. */
export function overloadStage({ stages }: Plan, capacity: number | null): number {
  const rates = stages.map(({ rate }) =>
    'perSecond' in rate ? rate.perSecond : rate.capacity * (capacity ?? 1),
  );
  return rates.indexOf(Math.max(...rates));
}

/** The stage that shows whether service came back: the last one. */
export function aftermathStage({ stages }: Plan): number {
  return stages.length - 1;
}

/** Seconds until the last thing that a record tells of. */
export function runSeconds({ head, calls, attempts, executions, samples }: RunRecord): number {
  let last = head.plan.stages.reduce((sum, { seconds }) => sum + seconds, 0) * 1_000;
  for (const { endedMs } of calls) last = Math.max(last, endedMs);
  for (const { leftMs } of attempts) last = Math.max(last, leftMs);
  for (const { endedMs, createdMs } of executions) last = Math.max(last, endedMs ?? createdMs);
  for (const { atMs } of samples) last = Math.max(last, atMs);
  return last / 1_000;
}

/** The deadline of the client that made `call`, seconds; the first client's where the record does not say which. */
export function deadlineOf({ clients }: Plan, { client }: Pick<CallRecord, 'client'>): number {
  const its = clients.find(({ name }) => name === client) ?? clients[0];
  return its?.deadlineSeconds ?? Number.POSITIVE_INFINITY;
}

/** Every deadline that the plan's clients have, shortest first. */
export function deadlinesOf({ clients }: Plan): readonly number[] {
  return [...new Set(clients.map(({ deadlineSeconds }) => deadlineSeconds))].toSorted((a, b) => a - b);
}
