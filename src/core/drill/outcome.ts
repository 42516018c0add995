/** What became of a plan's calls, stage by stage; the denominator is always all planned calls of the stage. */

import type { Plan, PlannedCall } from './plan.js';
import type { AttemptRecord, CallRecord } from './record.js';

export interface StageOutcome {
  readonly stage: string;
  /** Planned calls. */
  readonly calls: number;
  /** Calls whose client had the whole answer within its first attempt's deadline of the planned moment. */
  readonly deliveredByDeadline: number;
  /** … within the plan's horizon. */
  readonly deliveredByHorizon: number;
  /** … ever. */
  readonly delivered: number;
  /** Calls that ended without an answer: their last attempt was refused, or timed out, or broke off. */
  readonly refused: number;
  readonly abandoned: number;
  readonly broken: number;
  /** Calls that had not ended when the run was cut off. */
  readonly open: number;
  readonly attempts: number;
  /** Executions made for its calls; absent where nobody could count them. */
  readonly executions: number | undefined;
  /** Milliseconds from the planned moment to the whole answer, of delivered calls; NaN without any. */
  readonly latenessMs: { readonly median: number; readonly p90: number; readonly p99: number };
}

export interface OutcomeParts {
  readonly plan: Plan;
  readonly planned: readonly PlannedCall[];
  readonly calls: readonly CallRecord[];
  readonly attempts: readonly AttemptRecord[];
  /** The call of each execution, where executions are known. */
  readonly executions?: readonly { readonly call: number }[];
}

/** One outcome a stage, in the plan's order. */
export function outcomes(parts: OutcomeParts): readonly StageOutcome[] {
  const { plan, planned } = parts;
  return outcomesBy(
    plan.stages.map(({ name }) => name),
    (call) => planned[call]?.stage ?? Number.NaN,
    parts,
  );
}

/** One outcome a kind of client, by its name in the plan. */
export function outcomesByClient(parts: OutcomeParts): readonly StageOutcome[] {
  const names = [...new Set(parts.plan.clients.map(({ name }) => name))];
  const places = new Map(names.map((name, at) => [name, at]));
  return outcomesBy(names, (call) => places.get(parts.planned[call]?.client.name ?? '') ?? Number.NaN, parts);
}

/** All stages in one. `executions`: how many were made, where their calls are not known. */
export function totalOutcome(parts: OutcomeParts, executions?: number): StageOutcome {
  const [total] = outcomesBy(['total'], () => 0, parts) as [StageOutcome];
  return executions === undefined ? total : { ...total, executions };
}

/** One outcome a name; `groupOf` says to which of them a call belongs. */
function outcomesBy(
  names: readonly string[],
  groupOf: (call: number) => number,
  parts: OutcomeParts,
): readonly StageOutcome[] {
  const { plan, planned, calls, attempts, executions } = parts;
  const groups = names.map(() => ({ calls: 0, ended: [] as CallRecord[], attempts: 0, executions: 0 }));
  const group = (call: number): (typeof groups)[number] | undefined => groups[groupOf(call)];
  const last = new Map<number, AttemptRecord>();
  for (const { index } of planned) {
    const its = group(index);
    if (its !== undefined) its.calls += 1;
  }
  for (const ended of calls) group(ended.call)?.ended.push(ended);
  for (const attempt of attempts) {
    const its = group(attempt.call);
    if (its !== undefined) its.attempts += 1;
    last.set(attempt.call, attempt);
  }
  for (const { call } of executions ?? []) {
    const its = group(call);
    if (its !== undefined) its.executions += 1;
  }
  return groups.map((its, at): StageOutcome => {
    const counted = executions === undefined ? undefined : its.executions;
    return Object.assign(deliveries(its.ended, planned, plan.horizonSeconds), failures(its.ended, last), {
      stage: names[at] ?? '',
      calls: its.calls,
      open: its.calls - its.ended.length,
      attempts: its.attempts,
      executions: counted,
    });
  });
}

/** Whether the client had the whole answer within `seconds` of the planned moment. */
export function inTime({ delivered, endedMs, plannedMs }: CallRecord, seconds: number): boolean {
  return delivered && endedMs - plannedMs <= seconds * 1_000;
}

type Deliveries = Pick<
  StageOutcome,
  'deliveredByDeadline' | 'deliveredByHorizon' | 'delivered' | 'latenessMs'
>;

function deliveries(
  ended: readonly CallRecord[],
  planned: readonly PlannedCall[],
  horizonSeconds: number,
): Deliveries {
  const deadline = ({ call }: CallRecord): number => planned[call]?.client.deadlineSeconds ?? 0;
  const delivered = ended.filter((call) => call.delivered);
  const lateness = delivered.map(({ endedMs, plannedMs }) => endedMs - plannedMs).toSorted((a, b) => a - b);
  return {
    deliveredByDeadline: delivered.filter((call) => inTime(call, deadline(call))).length,
    deliveredByHorizon: delivered.filter((call) => inTime(call, horizonSeconds)).length,
    delivered: delivered.length,
    latenessMs: {
      median: quantile(lateness, 0.5),
      p90: quantile(lateness, 0.9),
      p99: quantile(lateness, 0.99),
    },
  };
}

function failures(
  ended: readonly CallRecord[],
  last: ReadonlyMap<number, AttemptRecord>,
): Pick<StageOutcome, 'refused' | 'abandoned' | 'broken'> {
  let [refused, abandoned, broken] = [0, 0, 0];
  for (const { call, delivered } of ended) {
    if (delivered) continue;
    const ending = last.get(call)?.ending;
    if (ending === 'refused') refused += 1;
    else if (ending === 'timed_out') abandoned += 1;
    else broken += 1;
  }
  return { refused, abandoned, broken };
}

/** The smallest value that at least a share `q` of `sorted` does not exceed; NaN without values. */
export function quantile(sorted: readonly number[], q: number): number {
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? Number.NaN;
}

/** Executions (or attempts, where executions are unknown) per call: 1 when nothing is done twice. */
export function amplification({ calls, attempts, executions }: StageOutcome): number {
  return calls === 0 ? Number.NaN : (executions ?? attempts) / calls;
}
