/** What a report says of a run in numbers and in one sentence. */

import type { StageOutcome } from '../drill/outcome.js';
import type { RunHead, RunRecord } from '../drill/run.js';
import { type Fate, fatesOf } from './fates.js';
import { type Prefill, prefillOf } from './prefill.js';
import { aftermathStage, overloadStage } from './stages.js';
import { counted, percent, seconds } from './words.js';

export interface StageSummary {
  readonly stage: string;
  /** Planned calls; the fates sum to them. */
  readonly calls: number;
  readonly fates: Readonly<Record<Fate, number>>;
  readonly attemptsPerCall: number | null;
  /** null where nobody could count executions. */
  readonly executionsPerCall: number | null;
  /** Work for each call: executions per call, or attempts per call where executions are unknown. */
  readonly amplification: number | null;
  /** Seconds from the planned moment to the whole answer, of delivered calls. */
  readonly latenessSeconds: {
    readonly median: number | null;
    readonly p90: number | null;
    readonly p99: number | null;
  };
}

export interface Summary {
  readonly name: string;
  readonly kind: RunHead['kind'];
  readonly target: string;
  readonly seed: number;
  readonly capacity: number | null;
  readonly invalid: readonly string[];
  readonly stopped: boolean;
  readonly verdict: string;
  readonly stages: readonly StageSummary[];
  readonly total: StageSummary;
  readonly recovery: RunHead['recovery'];
  readonly executionsCountedBy: string | null;
  /** null where the record tells of no execution. */
  readonly prefill: Prefill | null;
}

export function summaryOf(record: RunRecord): Summary {
  const { head } = record;
  const { name, kind, target, seed, capacity, invalid, stopped, recovery, executionsCountedBy } = head;
  return {
    name,
    kind,
    target,
    seed,
    capacity,
    invalid,
    stopped,
    verdict: verdictOf(record),
    stages: head.stages.map(stageSummary),
    total: stageSummary(head.total),
    recovery,
    executionsCountedBy,
    prefill: prefillOf(record) ?? null,
  };
}

export function stageSummary(stage: StageOutcome): StageSummary {
  const { calls, attempts, executions, latenessMs } = stage;
  const perCall = (count: number | undefined): number | null =>
    count === undefined || calls === 0 ? null : count / calls;
  return {
    stage: stage.stage,
    calls,
    fates: fatesOf(stage),
    attemptsPerCall: perCall(attempts),
    executionsPerCall: perCall(executions),
    amplification: perCall(executions ?? attempts),
    latenessSeconds: {
      median: inSeconds(latenessMs.median),
      p90: inSeconds(latenessMs.p90),
      p99: inSeconds(latenessMs.p99),
    },
  };
}

function inSeconds(ms: number): number | null {
  return Number.isFinite(ms) ? ms / 1_000 : null;
}

/** What happened, in one breath: the stage that tells, and whether service came back. */
export function verdictOf({ head, samples }: Pick<RunRecord, 'head' | 'samples'>): string {
  const { plan, capacity, stages } = head;
  const last = aftermathStage(plan);
  const peak = overloadStage(plan, capacity);
  const stage = stages[last];
  if (stage === undefined || stage.calls === 0) return 'No call was planned in the last stage.';
  const share = percent(stage.deliveredByHorizon / stage.calls);
  const onTime = percent(stage.deliveredByDeadline / stage.calls);
  const which = stages.length === 1 ? '' : ` in “${stage.stage}”`;
  const delivered = `Of ${counted(stage.calls, 'call')} planned${which}, ${share} were delivered, ${onTime} by the deadline.`;
  if (peak >= last || stages.length === 1) return delivered;
  const seen = samples.some(({ waiting, line }) => waiting !== undefined || line !== undefined);
  return `${recoveryWords(head, stages[peak]?.stage ?? '', seen)} ${delivered}`;
}

function recoveryWords({ recovery, stopped }: RunHead, peak: string, backlogSeen: boolean): string {
  const { backlogSeconds, onTimeSeconds } = recovery;
  const backlog = `the backlog was back at its base within ${seconds(backlogSeconds)}`;
  const onTime = `calls were answered on time again within ${seconds(onTimeSeconds)}`;
  if (backlogSeconds !== null && onTimeSeconds !== null) {
    return `Service recovered: after “${peak}” ${backlog}, and ${onTime}.`;
  }
  if (stopped) return 'The run was stopped before service had recovered.';
  if (onTimeSeconds !== null) {
    const but = backlogSeen ? 'but the backlog stayed above its base' : 'though nobody could see the backlog';
    return `After “${peak}” ${onTime}, ${but}.`;
  }
  if (backlogSeconds !== null) {
    return `After “${peak}” ${backlog}, but calls were not answered on time again before the plan ended.`;
  }
  const neither = backlogSeen
    ? 'neither was the backlog back at its base nor were calls answered on time'
    : 'calls were not answered on time';
  return `Service did not recover: after “${peak}” ${neither} again before the plan ended.`;
}
