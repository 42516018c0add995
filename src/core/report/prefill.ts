/** Where prefill went: each computed prompt token by what became of the execution it was computed for. */

import type { AttemptRecord, ExecutionRecord } from '../drill/record.js';
import type { RunRecord } from '../drill/run.js';
import { deadlineOf } from './stages.js';

/** In the order in which they are drawn, best first. */
export const PREFILL_ENDS = ['onTime', 'late', 'nobody', 'aborted', 'inFlight', 'open'] as const;
export type PrefillEnd = (typeof PREFILL_ENDS)[number];

export const PREFILL_WORDS: Readonly<Record<PrefillEnd, string>> = {
  onTime: 'for an answer delivered by the deadline',
  late: 'for an answer delivered later',
  nobody: 'finished, and reached nobody',
  aborted: 'aborted',
  inFlight: 'aborted, in flight at the abort',
  open: 'not ended when the run was',
};

export interface Prefill {
  /** Prompt tokens; the ends sum to `computed`. */
  readonly computed: number;
  readonly ends: Readonly<Record<PrefillEnd, number>>;
  /** Of the computed ones, those that the engine's prompt counter never counts. */
  readonly hidden: number;
}

/** Undefined where the record tells of no execution. */
export function prefillOf(record: RunRecord): Prefill | undefined {
  if (record.executions.length === 0) return undefined;
  const served = servingExecutions(record);
  const ends: Record<PrefillEnd, number> = {
    onTime: 0,
    late: 0,
    nobody: 0,
    aborted: 0,
    inFlight: 0,
    open: 0,
  };
  let [computed, hidden] = [0, 0];
  for (const execution of record.executions) {
    const { computedPromptTokens, hiddenPromptTokens, inFlightPromptTokens, ending } = execution;
    computed += computedPromptTokens;
    hidden += hiddenPromptTokens;
    if (ending === 'aborted') {
      ends.inFlight += inFlightPromptTokens;
      ends.aborted += computedPromptTokens - inFlightPromptTokens;
    } else if (ending === 'finished') {
      ends[served.get(execution) ?? 'nobody'] += computedPromptTokens;
    } else ends.open += computedPromptTokens;
  }
  return { computed, ends, hidden };
}

/** The execution whose answer each delivered call got, and whether it came by the deadline. */
function servingExecutions(record: RunRecord): ReadonlyMap<ExecutionRecord, 'onTime' | 'late'> {
  const finished = new Map<number, ExecutionRecord[]>();
  for (const execution of record.executions) {
    if (execution.ending !== 'finished') continue;
    const its = finished.get(execution.call);
    if (its === undefined) finished.set(execution.call, [execution]);
    else its.push(execution);
  }
  const delivering = new Map<number, AttemptRecord>();
  for (const attempt of record.attempts) {
    if (attempt.ending === 'delivered') delivering.set(attempt.call, attempt);
  }
  const serving = new Map<ExecutionRecord, 'onTime' | 'late'>();
  for (const call of record.calls) {
    const attempt = delivering.get(call.call);
    if (!call.delivered || attempt === undefined) continue;
    const execution = servingOf(finished.get(call.call) ?? [], attempt);
    const onTime = call.endedMs - call.plannedMs <= deadlineOf(record.head.plan, call) * 1_000;
    if (execution !== undefined) serving.set(execution, onTime ? 'onTime' : 'late');
  }
  return serving;
}

/** The attempt's own execution; for one that was attached, the last that had finished when its answer was whole. */
function servingOf(
  finished: readonly ExecutionRecord[],
  attempt: AttemptRecord,
): ExecutionRecord | undefined {
  const own = finished.find((execution) => execution.attempt === attempt.attempt);
  if (own !== undefined) return own;
  const before = finished.filter(({ endedMs }) => (endedMs ?? Number.POSITIVE_INFINITY) <= attempt.leftMs);
  const latest = (a: ExecutionRecord, b: ExecutionRecord): ExecutionRecord =>
    (b.endedMs ?? 0) > (a.endedMs ?? 0) ? b : a;
  const [first, ...rest] = before.length > 0 ? before : finished;
  return first === undefined ? undefined : rest.reduce(latest, first);
}
