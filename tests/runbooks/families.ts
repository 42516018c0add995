/** Every family of `/metrics`: the labels that it has, and what to make of it. HELP has what it counts. */

export interface Watched {
  readonly labels?: readonly string[];
  readonly make: string;
}

/** A family that the gateway exposes and this does not name fails the page's test, and so does one that is gone. */
export const FAMILIES: Readonly<Record<string, Watched>> = {
  holdfast_attempts_total: { make: 'divided by calls: attempts a call; well above 1 clients are retrying' },
  holdfast_attempts_ended_total: {
    labels: ['ending'],
    make: 'the first thing to look at; [what each ending means](#endings-of-attempts)',
  },
  holdfast_attempts_open: { make: 'clients that are waiting or reading now' },
  holdfast_attempts_outcome_total: {
    labels: ['outcome'],
    make: 'attached + replayed over all: the share of attempts that cost the engine nothing',
  },
  holdfast_calls_total: { make: 'the demand, without retries: scale on this, not on requests' },
  holdfast_calls_ended_total: {
    labels: ['ending'],
    make: '`delivered` over all endings is the share that an SLO is about; [the endings](#endings-of-calls)',
  },
  holdfast_calls_open: {
    make: 'includes calls that are only remembered; up to `control.bounds.calls`, and back some minutes after the load',
  },
  holdfast_executions_total: {
    make: 'work made for the engine; over calls: executions a call, 1 where no work is done twice',
  },
  holdfast_executions_ended_total: { labels: ['ending'], make: '[the endings](#endings-of-executions)' },
  holdfast_running_executions: { make: 'how full the engines are, as the gateway sees it' },
  holdfast_entries_total: { make: 'calls that had to wait; over calls: how often there was no room' },
  holdfast_entries_ended_total: { labels: ['ending'], make: '[the endings](#endings-of-places-in-line)' },
  holdfast_line_entries: {
    make: 'the backlog; not falling while calls are fewer than capacity is an incident',
  },
  holdfast_engine_running_executions: {
    labels: ['engine'],
    make: 'how the work is shared; far apart by their rooms: affinity, or an engine that is slowly taken back',
  },
  holdfast_engine_gauges_trusted: {
    labels: ['engine'],
    make: '0 for long: `/metrics` of the engine cannot be read or is not its own; absent where no room follows it, and where it never had gauges and need not',
  },
  holdfast_engine_room: {
    labels: ['engine'],
    make: 'the limit that the gateway keeps to; absent where there is none',
  },
  holdfast_engine_away: {
    labels: ['engine'],
    make: '1 for longer than a restart takes: look at that engine',
  },
  holdfast_engine_probes_total: {
    labels: ['engine'],
    make: 'what it costs to find out; a few a minute at most',
  },
  holdfast_engine_rests_total: {
    labels: ['engine', 'failure'],
    make: 'how often each engine was let be, and why; rising by day is an engine that restarts',
  },
  holdfast_requests_kept_bytes: { make: 'memory, bounded by `repeat_bytes`' },
  holdfast_requests_not_kept_total: {
    make: 'should stay at 0: these calls could not have been sent again; a larger `repeat_bytes`',
  },
  holdfast_class_line_entries: {
    labels: ['class'],
    make: 'whose backlog it is; a lower class that only grows has no more than its least part',
  },
  holdfast_class_queue_seconds: {
    labels: ['class'],
    make: 'how long each class waits, and by its count how many started; a high class that waits: look at what presses, or at how many may ask for it',
  },
  holdfast_line_bytes: { make: 'memory of the line, bounded by `control.bounds.line_bytes`' },
  holdfast_decisions_total: { labels: ['decision'], make: '[what each means](#decisions)' },
  holdfast_refusals_total: {
    labels: ['reason'],
    make: 'shed on purpose; the reasons are endings of attempts',
  },
  holdfast_warnings_total: { labels: ['warning'], make: 'should stay at 0; [what to do](#warnings)' },
  holdfast_deliveries_total: {
    labels: ['outcome'],
    make: 'attached + replayed: answers that only reached their client because work was kept',
  },
  holdfast_passthrough_total: {
    labels: ['status'],
    make: 'models lists, tokenizers and the like; a call that turns up here has a path that `routes` should name',
  },
  holdfast_prompt_tokens_total: {
    labels: ['tenant'],
    make: 'cost by tenant, once an execution; cancelled work is missing, see the next but one',
  },
  holdfast_completion_tokens_total: { labels: ['tenant'], make: 'cost by tenant, once an execution' },
  holdfast_executions_without_usage_total: {
    make: 'how much the two counters above cannot see: rises with cancelled work and with streams whose usage was not asked for',
  },
  holdfast_wasted_tokens_total: {
    labels: ['kind', 'tenant'],
    make: 'paid for and received by nobody; at low load it is clients that leave on purpose',
  },
  holdfast_wasted_executions_total: { make: 'the same as a count, with those whose tokens nobody told' },
  holdfast_wasted_bytes_total: { make: 'the same in answer bytes' },
  holdfast_queue_seconds: { make: 'the wait in line; near the clients’ timeout it makes retries' },
  holdfast_first_byte_seconds: {
    make: 'queue and prefill inside the engine; growing while `queue_seconds` is small: `control.room` is too large or `off`',
  },
  holdfast_orphans: { make: 'work kept for clients that will be back; high in an overload, 0 at rest' },
  holdfast_retained_answers: { make: 'finished answers that nobody has fetched yet' },
  holdfast_retained_bytes: {
    make: 'their memory; at `control.bounds.retained_bytes` the oldest are dropped, and their retries make new work',
  },
  holdfast_replay_bytes: {
    make: 'memory of running answers; at `control.bounds.live_replay_bytes` the newest cannot be attached to any more',
  },
  holdfast_budget_first_attempts: { make: 'what the allowance is taken from' },
  holdfast_budget_used: { make: 'at the allowance for minutes: retries come that cannot be attached' },
  holdfast_budget_allowance: { make: 'how many such executions a window may have' },
  holdfast_loop_gain: {
    make: 'above 1 for longer than a pulse: retries ask for more than the engines can do, and the overload feeds itself; absent without `control.capacity`',
  },
  holdfast_executions_per_capacity: {
    make: 'how much of its capacity the engine is given; near 1 it is full, and above 1 its own queue grows; absent without `control.capacity`',
  },
  holdfast_budget_granted_total: { make: 'further executions that were let through' },
  holdfast_budget_refused_total: { make: 'and those that were not' },
  holdfast_connections_open: {
    make: 'against `inbound.connections` and the limit of file handles: docs/sizing.md',
  },
  holdfast_connections_dropped_total: { make: 'should stay at 0: clients saw a closed connection' },
  holdfast_connections_overrun_total: {
    make: 'should stay at 0: no client that is meant well sends so many requests on one connection without reading; a proxy that does wants `inbound.pipelined` raised',
  },
  holdfast_tls_handshakes_failed_total: {
    labels: ['failure'],
    make: '`plain_http`: somebody was given the address without the https; `left`: mostly checks of a load balancer that connect and go; `failed`: rising after a renewal, clients do not trust the new certificate',
  },
  holdfast_tls_certificate_expires_timestamp_seconds: {
    make: 'alarm a week before: `holdfast_tls_certificate_expires_timestamp_seconds > 0 and holdfast_tls_certificate_expires_timestamp_seconds - time() < 604800`',
  },
  holdfast_request_body_bytes: { make: 'against `inbound.body_bytes`; high and steady: bodies trickle in' },
  holdfast_config_reloads_total: {
    labels: ['result'],
    make: '`refused`: the file on disk is wrong and would not survive a restart; the log says where',
  },
  holdfast_config_last_success_timestamp_seconds: { make: 'whether the last roll-out has arrived' },
  holdfast_config_keys_waiting: { make: 'above 0: a restart is due for a change to be in force' },
  holdfast_log_lines_lost_total: {
    make: 'should stay at 0: the reader of stderr is slow, or the disk is full',
  },
  holdfast_event_loop_lag_seconds: {
    make: 'above 0.2: this process has no CPU left, and answers late for reasons of its own',
  },
  process_resident_memory_bytes: { make: 'against the sum of the bounds: docs/sizing.md' },
  process_cpu_seconds_total: {
    make: 'its rate near 1: one core is used up, which is all that a process has',
  },
  process_start_time_seconds: { make: 'a change is a restart, and what that loses: docs/restart.md' },
};
