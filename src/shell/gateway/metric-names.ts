/** The names of the gateway's metrics, and what each of them says: its unit and the law it obeys. */

import type { Control, ControlGauges } from '../../core/control/control.js';
import type { Ledger } from '../../core/control/ledger.js';

export const HELP = {
  holdfast_attempts_total:
    'HTTP requests of calls, first tries and retries. Always attempts_ended_total over all endings + attempts_open.',
  holdfast_attempts_ended_total: 'Attempts by how they ended; each ends exactly once.',
  holdfast_attempts_open: 'Attempts that have not ended yet.',
  holdfast_attempts_outcome_total:
    'Ended attempts by what they met: a new execution (started), one that their call had (attached), a finished answer (replayed). Attempts that were refused or rejected met none.',
  holdfast_calls_total: 'Calls: answers wanted. Always calls_ended_total over all endings + calls_open.',
  holdfast_calls_ended_total:
    'Calls by how they ended; one answer delivered is one call delivered, however many attempts it took.',
  holdfast_calls_open: 'Calls that have not ended yet, those that are only remembered included.',
  holdfast_executions_total:
    'Requests sent to the engine. At most calls + what the retry budget granted + executions that the engine failed.',
  holdfast_executions_ended_total: 'Executions by how they ended; each ends exactly once.',
  holdfast_running_executions: 'Executions at the engine now: executions_total - executions_ended_total.',
  holdfast_entries_total:
    'Places taken in line; a call that starts at once takes none, one that its engine sent back takes one more. Always entries_ended_total over all endings + line_entries.',
  holdfast_entries_ended_total: 'Places in line by how they ended.',
  holdfast_line_entries: 'Calls waiting in line now.',
  holdfast_engine_running_executions: 'Executions at each engine now.',
  holdfast_engine_gauges_trusted:
    'Whether the room of each engine follows its own gauges (1), or does without them (0).',
  holdfast_engine_room: 'Executions that each engine may hold at once, where it has a limit.',
  holdfast_engine_away:
    '1 while an engine has failed and nothing has shown since that it works again; 0 otherwise.',
  holdfast_engine_probes_total: 'Executions that were sent to see whether an engine is back.',
  holdfast_engine_rests_total: 'Times that an engine was let be for a while, by what it had met.',
  holdfast_class_line_entries: 'Calls waiting in line now, by the class that they are served as.',
  holdfast_class_queue_seconds:
    'Time that executions had waited in line when they started, in seconds, by class; one an execution, and without control.classes none.',
  holdfast_line_bytes: 'Request bodies of the calls waiting in line, in bytes.',
  holdfast_decisions_total:
    'Recognitions by what was decided. An attempt has one when it arrives, and one more when it is merged late.',
  holdfast_refusals_total: 'Attempts shed on purpose, by reason; each is among attempts_ended_total as well.',
  holdfast_warnings_total:
    'Signs that something between client and gateway hides disconnects or shares keys, that gauges are of no use, or that a class is asked for which there is not.',
  holdfast_deliveries_total:
    'Whole answers that reached a client, by what the attempt had met; counted apart from the work that made them.',
  holdfast_passthrough_total:
    'Requests that are no calls and went straight through, by class of status; left: the client went first.',
  holdfast_prompt_tokens_total:
    'Prompt tokens as the engine reported them, once an execution, by tenant (an HMAC; the first 100, then other).',
  holdfast_completion_tokens_total:
    'Completion tokens as the engine reported them, once an execution, by tenant (an HMAC; the first 100, then other).',
  holdfast_executions_without_usage_total:
    'Ended executions whose usage the engine never told, as it tells none of a cancelled one: the token counters miss their work.',
  holdfast_wasted_tokens_total:
    'Tokens of executions whose answer reached nobody, where the engine told them, by kind and tenant. Part of the two token counters.',
  holdfast_wasted_executions_total: 'Executions whose answer reached nobody, with or without told usage.',
  holdfast_wasted_bytes_total: 'Answer bytes of executions whose answer reached nobody, in bytes.',
  holdfast_queue_seconds:
    'Time that executions had waited in line when they started, in seconds; one an execution.',
  holdfast_first_byte_seconds:
    'Time from the start of an execution to its first body byte, in seconds; none for executions that had no byte.',
  holdfast_orphans: 'Calls in line or at the engine whose last listener has left.',
  holdfast_retained_answers: 'Finished answers kept for a retry.',
  holdfast_retained_bytes: 'Finished answers kept for a retry, in bytes.',
  holdfast_replay_bytes: 'Replay buffers of executions still at the engine, in bytes.',
  holdfast_budget_first_attempts: 'First attempts in the window of the retry budget.',
  holdfast_budget_used:
    'Executions that the retry budget granted in its window; it grants while this + 1 is at most the allowance.',
  holdfast_budget_allowance:
    'Executions that the retry budget grants in one window in all: max(ratio x first attempts, floor).',
  holdfast_loop_gain:
    "Executions per call x arrival rate / capacity in the budget's window: all that were asked for, those refused included, as a share of what the capacity allows.",
  holdfast_executions_per_capacity:
    "Executions sent to the engines in the budget's window, as a share of what the capacity allows.",
  holdfast_budget_granted_total: "Executions beyond their call's entitlement that the retry budget granted.",
  holdfast_budget_refused_total: "Executions beyond their call's entitlement that the retry budget refused.",
} as const satisfies Record<string, string>;

/** What the control tells of itself at the moment of asking. */
export type Followed = Pick<Control, 'gauges' | 'ledger' | 'lineByClass'>;

export interface Reading {
  readonly name: keyof typeof HELP;
  readonly type: 'gauge' | 'counter';
  /** Undefined: it is not known, and shown without a sample. */
  readonly of: (gauges: ControlGauges, ledger: Ledger) => number | undefined;
}

export const READINGS: readonly Reading[] = [
  { name: 'holdfast_line_bytes', type: 'gauge', of: ({ lineBytes }) => lineBytes },
  { name: 'holdfast_orphans', type: 'gauge', of: ({ orphans }) => orphans },
  { name: 'holdfast_retained_answers', type: 'gauge', of: ({ retainedAnswers }) => retainedAnswers },
  { name: 'holdfast_retained_bytes', type: 'gauge', of: ({ retainedBytes }) => retainedBytes },
  { name: 'holdfast_replay_bytes', type: 'gauge', of: ({ liveReplayBytes }) => liveReplayBytes },
  { name: 'holdfast_budget_first_attempts', type: 'gauge', of: ({ budget }) => budget.firsts },
  { name: 'holdfast_budget_used', type: 'gauge', of: ({ budget }) => budget.granted },
  { name: 'holdfast_budget_allowance', type: 'gauge', of: ({ budget }) => budget.allowance },
  { name: 'holdfast_loop_gain', type: 'gauge', of: ({ guard }) => guard?.loopGain },
  {
    name: 'holdfast_executions_per_capacity',
    type: 'gauge',
    of: ({ guard }) => guard?.executionsPerCapacity,
  },
  { name: 'holdfast_budget_granted_total', type: 'counter', of: (_, { granted }) => granted },
  { name: 'holdfast_budget_refused_total', type: 'counter', of: (_, { refused }) => refused },
];
