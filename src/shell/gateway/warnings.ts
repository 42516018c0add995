/** Settings that are allowed and defeat each other, said at the start rather than found out in an incident. */

import type { GatewayConfig } from './config.js';

/** A grace below this ends before any client's next attempt can arrive, milliseconds. */
const SHORTEST_USEFUL_GRACE_MS = 250;

interface Caution {
  readonly holds: (config: GatewayConfig) => boolean;
  readonly text: string;
}

const joins = ({ control }: GatewayConfig): boolean => control.coalesce !== 'off';

const CAUTIONS: readonly Caution[] = [
  {
    holds: (config) => joins(config) && cancelsAtOnce(config),
    text:
      'control.grace cancels at once while control.coalesce is on: cancelling destroys the work before its retry ' +
      'can find it, so nothing will be attached; use 60s, or turn coalescing off on purpose',
  },
  {
    holds: ({ control }) => control.grace === 'never',
    text: 'control.grace is never: a client that leaves on purpose keeps the engine busy to the end of its answer',
  },
  {
    holds: ({ control }) => control.coalesce === 'off' && control.budget.mode === 'off',
    text:
      'control.coalesce and control.budget.mode are both off: every retry becomes work for the engine, and ' +
      'nothing keeps an overload from outliving its cause',
  },
  {
    holds: ({ control }) => control.coalesce === 'off' && control.budget.mode !== 'off',
    text:
      'control.coalesce is off: a retry that brings neither key, traceparent nor retry count is taken for a new ' +
      'call, so the retry budget cannot see it',
  },
  {
    holds: ({ control }) => control.coalesce === 'identical',
    text:
      'control.coalesce is identical: concurrent equal requests get one and the same answer, so parallel samples ' +
      'of one prompt are no samples any more',
  },
  {
    holds: (config) => joins(config) && config.control.retainMs === 0,
    text:
      'control.retain is 0ms while control.coalesce is on: an answer that finishes between two attempts is thrown ' +
      'away, and its retry needs new work; use 120s',
  },
  {
    holds: (config) => joins(config) && config.control.bounds.replayBytes === 0,
    text:
      'control.bounds.replay_bytes is 0B while control.coalesce is on: no answer can be replayed, so no retry can ' +
      'be attached; use 2MiB',
  },
  {
    holds: ({ control }) => control.room === 'off' && control.order !== 'oldest-first',
    text:
      'control.order has no effect while control.room is off: calls wait in the engine, which serves them first ' +
      'come first served; set control.room to the number of executions that fill its batch',
  },
  {
    holds: ({ control, requestBytes }) => control.room !== 'off' && control.bounds.lineBytes < requestBytes,
    text: 'control.bounds.line_bytes is below request_bytes: a large request is taken and then refused for its size',
  },
  {
    holds: ({ control }) => control.lateMergeHoldMs > control.lateMergeMs,
    text: 'control.late_merge_hold is above control.late_merge: a call is held back longer than it could be merged',
  },
  {
    holds: ({ anonymous }) => anonymous === 'shared',
    text:
      'anonymous is shared: whoever sends no credential belongs to one tenant, and a request may be given an ' +
      'answer that another such client left behind',
  },
  {
    holds: ({ keyHeaders }) => keyHeaders.some((name) => MINTED_PER_ATTEMPT.has(name)),
    text:
      'key_headers has a header that routers and SDKs make afresh for each attempt: a retry will look like ' +
      'another call; use idempotency-key',
  },
  {
    holds: ({ upstreamTimeouts, control }) =>
      upstreamTimeouts.firstByteMs > 0 && upstreamTimeouts.firstByteMs < control.defaultDeadlineMs,
    text:
      'upstream_timeouts.first_byte is below control.default_deadline: work is ended while its client still ' +
      'waits, and waiting in the queue of the engine counts',
  },
];

const MINTED_PER_ATTEMPT: ReadonlySet<string> = new Set([
  'x-request-id',
  'request-id',
  'x-correlation-id',
  'x-client-request-id',
]);

function cancelsAtOnce({ control: { grace } }: GatewayConfig): boolean {
  return grace === 'now' || (typeof grace === 'number' && grace < SHORTEST_USEFUL_GRACE_MS);
}

/** One sentence for each pair of settings in force that defeat each other. */
export function warnings(config: GatewayConfig): readonly string[] {
  return CAUTIONS.filter(({ holds }) => holds(config)).map(({ text }) => text);
}
