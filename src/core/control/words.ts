/** The words of the control as closed unions: how things end, and on what evidence they were decided. */

/** How an attempt ends; exactly one each. */
export const ATTEMPT_ENDINGS = [
  'delivered',
  'left_before_first_byte',
  'left_mid_answer',
  'left_unconfirmed',
  'refused_budget',
  'refused_guard',
  'refused_line_full',
  'refused_line_bytes',
  'refused_listeners',
  'refused_calls',
  'refused_draining',
  'refused_model',
  'taken_over',
  'gave_up',
  'slow_reader',
  'upstream_refused',
  'upstream_unavailable',
  'upstream_reset',
  'upstream_truncated',
  'upstream_timeout',
  'upstream_status_3xx',
  'upstream_status_4xx',
  'upstream_status_5xx',
  'upstream_error_event',
  'upstream_malformed',
  'drained',
  'rejected_too_large',
  'rejected_malformed',
  'rejected_bodies_full',
  'rejected_too_slow',
  'rejected_key',
  'rejected_tenant_full',
  'rejected_tenant_bytes',
] as const;
export type AttemptEnding = (typeof ATTEMPT_ENDINGS)[number];

/** The endings of an attempt that the gateway refuses on purpose: it sheds. */
export type RefusalReason = Extract<AttemptEnding, `refused_${string}` | 'gave_up'>;

/** The endings of an attempt whose request never became one of a call. */
export type RejectReason = Extract<AttemptEnding, `rejected_${string}`>;

/** How an execution ends; exactly one each. */
export const EXECUTION_ENDINGS = [
  'finished',
  'cancelled_grace',
  'cancelled_not_replayable',
  'cancelled_on_leave',
  'cancelled_drained',
  'failed_refused',
  'failed_unavailable',
  'failed_reset',
  'failed_truncated',
  'failed_timeout',
  'failed_status_3xx',
  'failed_status_4xx',
  'failed_status_5xx',
  'failed_error_event',
  'failed_malformed',
] as const;
export type ExecutionEnding = (typeof EXECUTION_ENDINGS)[number];
export type CancelEnding = Extract<ExecutionEnding, `cancelled_${string}`>;

/**
 * What the engine did wrong. `refused`: no connection; `unavailable`: it said 503, and so has done nothing; `reset`:
 * broken before its first body byte;
 * `truncated`: broken after it; `timeout`: a stated upstream limit passed; `status_3xx` and up: it
 * answered so; `error_event`: an error inside a 200; `malformed`: not HTTP, or not the promised length.
 */
export type Failure =
  | 'refused'
  | 'unavailable'
  | 'reset'
  | 'truncated'
  | 'timeout'
  | 'status_3xx'
  | 'status_4xx'
  | 'status_5xx'
  | 'error_event'
  | 'malformed';

/** How an entry (a call's place in the line) ends; exactly one each. */
export const ENTRY_ENDINGS = [
  'started',
  'merged',
  'expired',
  'gave_up',
  'displaced',
  'left',
  'unavailable',
  'drained',
] as const;
export type EntryEnding = (typeof ENTRY_ENDINGS)[number];

/** How a call ends; exactly one each. */
export const CALL_ENDINGS = [
  'delivered',
  'abandoned',
  'refused',
  'failed',
  'gave_up',
  'merged',
  'drained',
] as const;
export type CallEnding = (typeof CALL_ENDINGS)[number];

/** What ties a new attempt to a call, from proof down to hint. */
export const EVIDENCE = [
  'key',
  'traceparent',
  'retry_count',
  'session',
  'user_agent',
  'address',
  'gap',
  'fingerprint',
] as const;
export type Evidence = (typeof EVIDENCE)[number];

/** What the recognition said of an attempt; each goes to the trace with its evidence. */
export const DECISIONS = [
  'new_call',
  'new_call_not_shared',
  'new_call_beside_live',
  'unknown_predecessor',
  'retry_not_attached',
  'adopt_entry',
  'adopt_execution',
  'adopt_answer',
  'rejoin_owed',
  'rejoin_spent',
  'take_over',
  'late_merge',
  'replay_delivered',
  'join_identical',
] as const;
export type Decision = (typeof DECISIONS)[number];

/** What an attempt met, as its answer says it. */
export type Outcome = 'started' | 'attached' | 'replayed';
