/** The published figures, computed from a run's record by the definitions stated here. */

import { inTime } from '../drill/outcome.js';
import type { AttemptRecord, ExecutionRecord } from '../drill/record.js';
import { type BacklogSample, backlogRecovery, onTimeRecovery } from '../drill/recovery.js';
import type { TrialSample } from './sampler.js';
import type { TrialRecord } from './trial.js';

const SECOND = 1_000;
/** Windows of the published plan, seconds. */
const HOLD = [227, 947] as const;
const LATER_HOLD = [347, 947] as const;
const DEADLINE_SECONDS = 120;

const OVERLOAD = { startSeconds: 120, endSeconds: 227, untilSeconds: 947 } as const;

type Window = readonly [from: number, to: number];

/** Name of a published figure → its value for one run; NaN when the run has nothing to say of it. */
export const FIGURES: Readonly<Record<string, (run: TrialRecord) => number>> = {
  hold_delivered_pct: (run) => deliveredPct(run, HOLD, run.plan.horizonSeconds),
  pulse_delivered_pct: (run) => deliveredPct(run, [120, 227], run.plan.horizonSeconds),
  pulse_and_hold_delivered_pct: (run) => deliveredPct(run, [120, 947], run.plan.horizonSeconds),
  later_hold_within_deadline_pct: (run) => deliveredPct(run, LATER_HOLD, DEADLINE_SECONDS),
  recovery_s: (run) => backlogRecovery(backlogOf(run), OVERLOAD),
  recovery_on_time_s: (run) => onTimeRecovery(run.calls, OVERLOAD, DEADLINE_SECONDS),
  accepted_per_capacity: (run) => perCapacity(run, ({ createdMs }) => createdMs),
  completed_per_capacity: (run) =>
    perCapacity(run, ({ ending, endedMs }) => (ending === 'finished' ? endedMs : undefined)),
  retry_execution_share_pct: (run) => {
    const made = run.executions.filter(({ createdMs }) => within(createdMs, LATER_HOLD));
    return pct(made.filter(({ attempt }) => attempt > 0).length, made.length);
  },
  aborted_share_of_computed_prompt_pct: (run) => {
    const computed = sum(run.executions, ({ computedPromptTokens }) => computedPromptTokens);
    return pct(
      sum(aborted(run), ({ computedPromptTokens }) => computedPromptTokens),
      computed,
    );
  },
  in_flight_share_of_aborted_pct: (run) =>
    pct(
      sum(aborted(run), ({ inFlightPromptTokens }) => inFlightPromptTokens),
      sum(aborted(run), ({ computedPromptTokens }) => computedPromptTokens),
    ),
  missed_by_prompt_counter_pct: (run) =>
    pct(
      sum(run.executions, ({ hiddenPromptTokens }) => hiddenPromptTokens),
      sum(run.executions, ({ computedPromptTokens }) => computedPromptTokens),
    ),
  first_step_before_deadline_s_median: firstStepBeforeDeadline,
  counter_shortfall_hold_pct: (run) => {
    const [from, to] = [sampleAt(run, HOLD[0]), sampleAt(run, HOLD[1])];
    const counted = to.promptTokens - from.promptTokens;
    return pct(
      to.prefixCacheQueries - from.prefixCacheQueries - counted,
      to.prefixCacheQueries - from.prefixCacheQueries,
    );
  },
  retries_refused_pct: (run) => pct(run.refused, run.retries),
  retries_attached_pct: (run) => pct(run.attached, run.retries),
};

function pct(part: number, whole: number): number {
  return (100 * part) / whole;
}

function sum<T>(items: readonly T[], value: (item: T) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}

function within(ms: number, [from, to]: Window): boolean {
  return ms >= from * SECOND && ms < to * SECOND;
}

function aborted(run: TrialRecord): readonly ExecutionRecord[] {
  return run.executions.filter(({ ending }) => ending === 'aborted');
}

function sampleAt(run: TrialRecord, second: number): TrialSample {
  return run.samples[Math.min(second, run.samples.length - 1)] as TrialSample;
}

/** Of all calls planned in the window, those whose client had the whole answer within `seconds` of that moment. */
function deliveredPct(run: TrialRecord, window: Window, seconds: number): number {
  const calls = run.calls.filter(({ plannedMs }) => within(plannedMs, window));
  return pct(calls.filter((call) => inTime(call, seconds)).length, calls.length);
}

/** Events of 347–947 s a second, in multiples of Ĉ. */
function perCapacity(run: TrialRecord, moment: (execution: ExecutionRecord) => number | undefined): number {
  const inside = run.executions.filter((execution) => within(moment(execution) ?? -1, LATER_HOLD));
  return inside.length / (LATER_HOLD[1] - LATER_HOLD[0]) / run.capacity;
}

/** Seconds from a retry's first step to the moment its own client gives up on it; the median. */
function firstStepBeforeDeadline(run: TrialRecord): number {
  const sent = new Map<string, AttemptRecord>();
  for (const attempt of run.attempts) sent.set(`${attempt.call}.${attempt.attempt}`, attempt);
  const margins: number[] = [];
  for (const { call, attempt, firstStepMs } of run.executions) {
    const its = sent.get(`${call}.${attempt}`);
    if (attempt === 0 || firstStepMs === undefined || its === undefined) continue;
    margins.push(DEADLINE_SECONDS - (firstStepMs - its.sentMs) / SECOND);
  }
  margins.sort((a, b) => a - b);
  return margins[Math.floor(margins.length / 2)] ?? Number.NaN;
}

/** What waits: the engine's queue and the gateway's line. */
export function backlogOf(run: TrialRecord): readonly BacklogSample[] {
  return run.samples.map(({ atMs, waiting, line }) => ({ atMs, waiting: waiting + line }));
}
