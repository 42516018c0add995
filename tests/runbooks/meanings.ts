/**
 * What each word of the meter means to whoever is on call. A word that is added to the code does not compile here until
 * it has a meaning; `npm run docs:metrics` then writes the page.
 */

import type { Warning } from '../../src/core/control/verdict.js';
import type {
  AttemptEnding,
  CallEnding,
  Decision,
  EntryEnding,
  ExecutionEnding,
} from '../../src/core/control/words.js';

/** Who has something to mend; `nobody` where it is how things should be. */
type Whose = 'nobody' | 'client' | 'engine' | 'load' | 'operator' | 'way between';

export interface Meaning {
  readonly happened: string;
  readonly whose: Whose;
  readonly todo: string;
}

const NOTHING = 'nothing';

export const ATTEMPTS: Readonly<Record<AttemptEnding, Meaning>> = {
  delivered: { happened: 'the client received the whole answer', whose: 'nobody', todo: NOTHING },
  left_before_first_byte: {
    happened: 'the client went before anything was sent to it: its deadline, or a stop button',
    whose: 'load',
    todo: 'harmless while its next attempt attaches; many with few attached afterwards: look at the time in line and at clients without retries',
  },
  left_mid_answer: {
    happened: 'the client went while its answer was arriving',
    whose: 'client',
    todo: 'nothing for stop buttons; if it is every long stream, a proxy cuts them: docs/proxies.md',
  },
  left_unconfirmed: {
    happened: 'everything was handed over, and the connection was reset before that counted as received',
    whose: 'client',
    todo: 'nothing; the answer is kept for its next attempt',
  },
  refused_budget: {
    happened: 'the attempt needed an execution beyond its call’s own, and the retry budget was used up',
    whose: 'load',
    todo: 'nothing in an overload, it is what ends it; without one, find the tenant whose retries show no key',
  },
  refused_guard: {
    happened:
      'the attempt is a retry that needed a further execution, and retries already ask the engines for more than their capacity',
    whose: 'load',
    todo: 'nothing in an overload, it is what ends it; without one, `control.capacity` is set too low, or retries are not recognised',
  },
  refused_line_full: {
    happened: 'as many calls waited as `control.bounds.line_entries` allows',
    whose: 'load',
    todo: 'more engines; a longer line only turns refusals into timeouts',
  },
  refused_line_bytes: {
    happened: 'the waiting calls’ bodies had reached `control.bounds.line_bytes`',
    whose: 'load',
    todo: 'as above; with long prompts and memory to spare, raise the bound: docs/sizing.md',
  },
  refused_model: {
    happened: 'every engine declares its models, and none declares the one that was asked for',
    whose: 'client',
    todo: 'the name in the request, or `upstreams[].models`; `/v1/models` lists what there is',
  },
  upstream_unavailable: {
    happened: 'the engine said 503, and no engine was there again before the client’s deadline',
    whose: 'engine',
    todo: 'engines that load, are at their own cap, or are missing behind a router; `holdfast_engine_away` says which',
  },
  refused_listeners: {
    happened: 'as many attempts as `control.bounds.listeners` allows already waited for this answer',
    whose: 'client',
    todo: 'find the client that asks again without leaving first',
  },
  refused_calls: {
    happened: 'as many calls were known as `control.bounds.calls` allows, and none could be forgotten',
    whose: 'load',
    todo: 'raise the bound if there is memory: docs/sizing.md',
  },
  refused_draining: {
    happened: 'the gateway was stopping',
    whose: 'operator',
    todo: 'take it out of the load balancer before it stops: docs/restart.md',
  },
  taken_over: {
    happened: 'a later attempt of the same call came while this one still looked connected',
    whose: 'way between',
    todo: 'something hides disconnects: docs/proxies.md',
  },
  gave_up: {
    happened: 'a connected client waited in line for `control.bounds.line_wait`',
    whose: 'load',
    todo: 'more engines; clients that wait so long want a queue of their own',
  },
  slow_reader: {
    happened: 'the client did not read its answer, and was cut at the bound `reader_bytes`',
    whose: 'client',
    todo: 'nothing for single ones; many at once: the way to the clients is slower than the engine',
  },
  upstream_refused: {
    happened: 'no engine could be connected to',
    whose: 'engine',
    todo: 'is it running, and is its address right? The log names it and says why',
  },
  upstream_reset: {
    happened: 'the engine closed the connection before its first body byte',
    whose: 'engine',
    todo: 'look for its crash; with a proxy before the engine, for that one’s timeout',
  },
  upstream_truncated: {
    happened: 'the engine broke off inside its answer',
    whose: 'engine',
    todo: 'as above; streams that always break at the same age meet a timeout between here and the engine',
  },
  upstream_timeout: {
    happened: 'a limit of `upstream_timeouts` passed',
    whose: 'operator',
    todo: 'is the engine stuck, or the limit below the longest honest answer?',
  },
  upstream_status_3xx: {
    happened: 'the engine answered with a redirect, which is not followed',
    whose: 'operator',
    todo: 'put the address that it redirects to into `upstreams`',
  },
  upstream_status_4xx: {
    happened: 'the engine refused the request; the client has its answer',
    whose: 'client',
    todo: '404: the wrong model; 401: the wrong credential; 400: too long a prompt',
  },
  upstream_status_5xx: {
    happened: 'the engine failed; the client has its answer',
    whose: 'engine',
    todo: 'read the engine’s log; a 503 is `upstream_unavailable`',
  },
  upstream_error_event: {
    happened: 'the engine sent an error inside a stream that had begun with 200',
    whose: 'engine',
    todo: 'read the engine’s log',
  },
  upstream_malformed: {
    happened: 'what came was not HTTP, or not of the promised length',
    whose: 'engine',
    todo: 'is the port the engine’s? TLS on one side only looks like this',
  },
  drained: {
    happened: 'the gateway stopped while this attempt waited or read',
    whose: 'operator',
    todo: 'a longer `drain`: docs/restart.md',
  },
  rejected_too_large: {
    happened: 'the body was above `request_bytes`',
    whose: 'client',
    todo: 'raise the bound if such requests are meant',
  },
  rejected_malformed: {
    happened: 'the request could not be read, or could be read in two ways',
    whose: 'client',
    todo: 'nothing for scanners; else the message of the 400 says what was wrong',
  },
  rejected_bodies_full: {
    happened: 'all bodies being read together had reached `inbound.body_bytes`',
    whose: 'load',
    todo: 'are bodies trickling in? A proxy that buffers requests takes that away: docs/proxies.md',
  },
  rejected_too_slow: {
    happened: 'headers or body took longer than `inbound` allows',
    whose: 'client',
    todo: 'nothing for single ones',
  },
  rejected_tenant_bytes: {
    happened: 'bodies of the tenant that are being read or wait in line hold `inbound.tenant_bytes`',
    whose: 'client',
    todo: 'of a tenant that means it, raise the bound; memory is what it protects: [sizing.md](sizing.md)',
  },
  rejected_key: {
    happened: 'the credential is not in `allowed_keys_file`',
    whose: 'client',
    todo: 'was a key forgotten when the file changed?',
  },
  rejected_tenant_full: {
    happened: 'the tenant had as many requests waiting as `inbound.tenant_attempts` allows',
    whose: 'client',
    todo: 'nothing: the others are served because of it',
  },
};

export const EXECUTIONS: Readonly<Record<ExecutionEnding, Meaning>> = {
  finished: { happened: 'the engine gave a whole answer', whose: 'nobody', todo: NOTHING },
  cancelled_grace: {
    happened: 'nobody came back for it within its grace',
    whose: 'client',
    todo: 'clients that never retry, or retry later than `control.grace`',
  },
  cancelled_not_replayable: {
    happened: 'its last client left an answer that had outgrown its replay buffer',
    whose: 'client',
    todo: 'long answers are worth a larger `control.bounds.replay_bytes`',
  },
  cancelled_on_leave: {
    happened: 'its client left for good: it said so, or clients of its kind never come back',
    whose: 'nobody',
    todo: NOTHING,
  },
  cancelled_drained: {
    happened: 'the gateway stopped',
    whose: 'operator',
    todo: 'a longer `drain`: docs/restart.md',
  },
  failed_refused: {
    happened: 'no engine could be connected to',
    whose: 'engine',
    todo: 'as `upstream_refused`',
  },
  failed_unavailable: {
    happened: 'the engine said 503, and did nothing; its call waits for an engine',
    whose: 'engine',
    todo: 'a few while an engine starts are probes; a steady rate is an engine at its own cap: set its `room`',
  },
  failed_reset: {
    happened: 'closed before the first body byte',
    whose: 'engine',
    todo: 'as `upstream_reset`',
  },
  failed_truncated: { happened: 'broken off after it', whose: 'engine', todo: 'as `upstream_truncated`' },
  failed_timeout: {
    happened: 'a limit of `upstream_timeouts` passed',
    whose: 'operator',
    todo: 'as `upstream_timeout`',
  },
  failed_status_3xx: { happened: 'a redirect', whose: 'operator', todo: 'as `upstream_status_3xx`' },
  failed_status_4xx: { happened: 'the engine refused it', whose: 'client', todo: 'as `upstream_status_4xx`' },
  failed_status_5xx: { happened: 'the engine failed', whose: 'engine', todo: 'as `upstream_status_5xx`' },
  failed_error_event: {
    happened: 'an error inside a 200',
    whose: 'engine',
    todo: 'as `upstream_error_event`',
  },
  failed_malformed: {
    happened: 'not HTTP, or not the promised length',
    whose: 'engine',
    todo: 'as `upstream_malformed`',
  },
};

export const ENTRIES: Readonly<Record<EntryEnding, Meaning>> = {
  started: { happened: 'there was room, and the call went to the engine', whose: 'nobody', todo: NOTHING },
  merged: {
    happened: 'it turned out to be a retry of a call that was there, and joined it',
    whose: 'nobody',
    todo: NOTHING,
  },
  expired: {
    happened: 'its client left and did not come back within its grace; the engine never saw it',
    whose: 'load',
    todo: 'the line is longer than clients wait: more engines',
  },
  gave_up: {
    happened: 'waited for `control.bounds.line_wait`',
    whose: 'load',
    todo: 'as the attempt’s `gave_up`',
  },
  displaced: {
    happened: 'newest first: its place went to a newcomer, since nobody listened to it',
    whose: 'load',
    todo: 'more engines',
  },
  left: {
    happened: 'its client left for good, and cost the engine nothing',
    whose: 'nobody',
    todo: NOTHING,
  },
  unavailable: {
    happened: 'no engine was there before its clients’ deadlines, and they were told so',
    whose: 'engine',
    todo: 'as the attempt’s `upstream_unavailable`',
  },
  drained: { happened: 'the gateway stopped', whose: 'operator', todo: 'docs/restart.md' },
};

export const CALLS: Readonly<Record<CallEnding, Meaning>> = {
  delivered: {
    happened: 'its client has the answer, however many attempts that took',
    whose: 'nobody',
    todo: NOTHING,
  },
  abandoned: {
    happened: 'its client left and never came back for the answer',
    whose: 'client',
    todo: 'by `holdfast_wasted_tokens_total`, what that cost; clients that give up need a longer timeout or a retry',
  },
  refused: {
    happened: 'shed, and not asked again',
    whose: 'load',
    todo: 'by `holdfast_refusals_total`, why',
  },
  failed: {
    happened: 'the engine failed it, and it was not asked again',
    whose: 'engine',
    todo: 'by `holdfast_executions_ended_total`, how',
  },
  gave_up: { happened: 'waited in line as long as it may', whose: 'load', todo: 'more engines' },
  merged: {
    happened: 'turned out to be a retry of another call, which counts in its place',
    whose: 'nobody',
    todo: NOTHING,
  },
  drained: { happened: 'the gateway stopped', whose: 'operator', todo: 'docs/restart.md' },
};

export const WARNINGS: Readonly<Record<Warning, Meaning>> = {
  listener_taken_over: {
    happened: 'a retry came while its predecessor still looked connected',
    whose: 'way between',
    todo: 'a proxy hides disconnects: docs/proxies.md. Until it is mended retries attach on proof alone',
  },
  unknown_class: {
    happened:
      'a request asked for a class that is none of `control.classes`, and was served in the default one',
    whose: 'client',
    todo: 'name the classes as clients do, or have the clients mended; `log.level: debug` has the attempts',
  },
  key_on_overlapping_attempts: {
    happened: 'one key or traceparent came on several attempts at the same time',
    whose: 'client',
    todo: 'a key must name one call: find the client that shares it between calls',
  },
  engine_gauges_absent: {
    happened:
      'a room follows the engine’s own gauges, and they could not be read three times in a row; with `auto`: any more',
    whose: 'operator',
    todo: '`/metrics` of the engine must answer; until then it gets twice what it ran when full, or has no limit',
  },
  engine_gauges_wrong: {
    happened: 'a room follows gauges that show less than the engine has been given, or stand still',
    whose: 'engine',
    todo: 'a proxy that caches `/metrics`, or a meter of another engine; until they agree again, as above',
  },
};

/** Decisions have their own page; here stands only what makes one worth a look. */
export const DECISIONS_TODO: Readonly<Record<Decision, string>> = {
  new_call: 'a call of its own: the usual case',
  new_call_not_shared: 'a call that shares nothing: no tenant, or its end user’s header is missing',
  new_call_beside_live:
    'an equal request is in flight; many: clients that ask twice, or a proxy that hides disconnects',
  unknown_predecessor:
    'a retry of something this gateway never met: after a restart, or a load balancer that spreads',
  retry_not_attached: 'only with `control.coalesce: off`',
  adopt_entry: 'attached in line: work saved',
  adopt_execution: 'attached at the engine: work saved',
  adopt_answer: 'given the finished answer: work saved',
  rejoin_owed: 'came back after a refusal or a failure, and starts free',
  rejoin_spent: 'came back for a further execution, on the budget',
  take_over: 'took the place of a listener that still looked connected; see the warning',
  late_merge: 'merged when its predecessor’s disconnect was seen; many: disconnects arrive late',
  replay_delivered: 'given once more what had been delivered',
  join_identical: 'only with `control.coalesce: identical`',
};

/** Codes in `x-holdfast-reason` and in error bodies that are no ending, since their requests were never attempts. */
export const FURTHER_CODES: Readonly<Record<string, Meaning>> = {
  rejected_headers_too_large: {
    happened: '431: more bytes or fields of headers than `inbound.header_bytes` and `inbound.header_fields`',
    whose: 'client',
    todo: 'raise the bound; cookies of a browser are the usual cause',
  },
  rejected_origin: {
    happened: '403: a browser asked for a page of an origin that is not in `cors.origins`',
    whose: 'operator',
    todo: 'add the origin where that page is meant to be served',
  },
  not_found: {
    happened: '404: the path belongs to the other port',
    whose: 'operator',
    todo: 'metrics are on `admin.port` where one is set',
  },
};
