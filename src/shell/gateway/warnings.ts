/** Settings that are allowed and defeat each other, said at the start rather than found out in an incident. */

import { CONTROL_DEFAULTS } from '../../core/control/options.js';
import type { GatewayConfig } from './config.js';
import { recognised } from './routes.js';
import { CLASS_CAUTIONS } from './warnings-classes.js';
import { ENGINE_CAUTIONS } from './warnings-engines.js';

/** A grace below this ends before any client's next attempt can arrive, milliseconds. */
const SHORTEST_USEFUL_GRACE_MS = 250;

export interface Caution {
  readonly holds: (config: GatewayConfig) => boolean;
  readonly text: string | ((config: GatewayConfig) => string);
}

const joins = ({ control }: GatewayConfig): boolean => control.coalesce !== 'off';

const CAUTIONS: readonly Caution[] = [
  ...ENGINE_CAUTIONS,
  {
    holds: (config) => joins(config) && cancelsAtOnce(config),
    text:
      'control.grace cancels at once while control.coalesce is on: cancelling destroys the work before its retry ' +
      'can find it, so nothing will be attached; use 60s, or turn coalescing off on purpose',
  },
  {
    holds: ({ control, tenants }) => control.shares === 'off' && tenants.some(({ weight }) => weight !== 1),
    text: 'tenants have weights while control.shares is off: the order alone decides, whoever weighs what',
  },
  {
    holds: ({ control, upstreams }) =>
      control.shares === 'tenant' &&
      control.room === 'off' &&
      upstreams.every(({ room }) => (room ?? 'off') === 'off'),
    text: 'control.shares has no effect while control.room is off: nobody waits in line',
  },
  ...CLASS_CAUTIONS,
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
    holds: ({ control }) => control.room === 'off' && control.order !== CONTROL_DEFAULTS.order,
    text:
      'control.order has no effect while control.room is off: calls wait in the engine, which serves them first ' +
      'come first served; set control.room to engine, to first-token, or to the number of executions that fill its batch',
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
  {
    holds: ({ upstreamTimeouts, control }) => upstreamTimeouts.connectMs > control.defaultDeadlineMs,
    text:
      'upstream_timeouts.connect is above control.default_deadline: a client leaves before an engine that does not ' +
      'answer is given up',
  },
  {
    holds: ({ control: { budget, capacity } }) =>
      budget.mode !== 'off' && budget.ratio === 0 && budget.floor === 0 && capacity === undefined,
    text:
      'control.budget.ratio and floor are both 0: while the engine is full, every execution beyond what a call is ' +
      'entitled to is refused',
  },
  {
    holds: ({ control: { budget } }) => budget.mode !== 'off' && budget.ratio >= 1,
    text:
      'control.budget.ratio is 1 or more: one retry is granted for each first attempt, so the budget bounds next to ' +
      'nothing; use 0.1',
  },
  {
    holds: ({ control: { budget, capacity } }) =>
      capacity !== undefined && budget.floor !== CONTROL_DEFAULTS.budget.floor,
    text: 'control.budget.floor has no effect while control.capacity is known: the floor is 2 % of it, in one window',
  },
  {
    holds: ({ control }) => control.defaultDeadlineMs < control.leastDeadlineMs,
    text: 'control.default_deadline is below control.least_deadline, which wins: no client is assumed to wait less',
  },
  {
    holds: ({ control: { grace, graceAfterFirstByteMs } }) =>
      typeof grace === 'number' && grace >= SHORTEST_USEFUL_GRACE_MS && graceAfterFirstByteMs > grace,
    text:
      'control.grace_after_first_byte is above control.grace: work whose client will hardly come back is kept longer ' +
      'than work whose client will',
  },
  {
    holds: (config) => joins(config) && config.control.retainKeyedMs < config.control.retainMs,
    text:
      'control.retain_keyed is below control.retain: the answer of a call that can prove itself is dropped sooner ' +
      'than that of one that cannot',
  },
  {
    holds: (config) =>
      joins(config) && config.control.bounds.replayBytes > config.control.bounds.liveReplayBytes,
    text:
      'control.bounds.replay_bytes is above control.bounds.live_replay_bytes: one answer alone outgrows what all ' +
      'running ones may hold, and cannot be replayed from there on',
  },
  {
    holds: (config) =>
      joins(config) && config.control.retainMs > 0 && keptBytes(config) < config.control.bounds.replayBytes,
    text:
      'control.bounds.retained_bytes times retained_tenant_share is below replay_bytes: an answer that large is kept ' +
      'while it runs and dropped when it is whole, before its retry can come',
  },
  {
    holds: ({ control }) => control.room !== 'off' && control.bounds.lineEntries === 0,
    text:
      'control.bounds.line_entries is 0 while control.room is not off: nobody can wait, and whatever finds the ' +
      'engine full is refused',
  },
  {
    holds: ({ control }) => control.room !== 'off' && control.bounds.lineWaitMs < control.defaultDeadlineMs,
    text:
      'control.bounds.line_wait is below control.default_deadline: a call is refused while its client would still ' +
      'wait for it',
  },
  {
    holds: ({ control: { room, bounds } }) => room !== 'off' && bounds.calls < bounds.lineEntries,
    text: 'control.bounds.calls is below control.bounds.line_entries: newcomers are refused before the line is full',
  },
  {
    holds: ({ control }) => control.coalesce === 'identical' && control.bounds.listeners === 1,
    text: 'control.bounds.listeners is 1 while control.coalesce is identical: no second request can share an execution',
  },
  {
    holds: (config) => headersOfTwoMeanings(config).length > 0,
    text: (config) =>
      `${headersOfTwoMeanings(config).join(', ')}: one header is read with two meanings; whatever it tells apart by ` +
      'one of them, it tells apart by the other as well',
  },
  {
    holds: ({ upstreams }) => new Set(upstreams.map(({ url }) => url)).size < upstreams.length,
    text: 'upstreams has an engine twice: it gets a double share of the calls',
  },
  {
    holds: (config) => config.upstreams.some(({ url }) => isItself(url, config)),
    text: 'upstreams has the address that this gateway listens on: a call would come back to it without end',
  },
  {
    holds: ({ routes }) => routes.some((path) => recognised('POST', path, []) !== undefined),
    text: 'routes has a path whose requests are calls in any case: it has no effect there',
  },
  {
    holds: ({ tls }) => (tls.certFile === undefined) !== (tls.keyFile === undefined),
    text: 'tls.cert_file and tls.key_file belong together: with one of them the gateway does not start',
  },
  {
    holds: ({ cors }) => cors.credentials && (cors.origins.length === 0 || cors.origins.includes('*')),
    text: 'cors.credentials has no effect unless cors.origins names the pages: browsers send none to whoever lets all read',
  },
  {
    holds: ({ drainMs }) => drainMs === 0,
    text: 'drain is 0ms: a stopping gateway cuts every answer that is under way',
  },
  {
    holds: ({ log }) => log.level === 'silent',
    text:
      'log.level is silent: a configuration that is refused while running is seen in ' +
      'holdfast_config_reloads_total alone',
  },
];

/** What one tenant may have of kept answers, in bytes. */
function keptBytes({ control: { bounds } }: GatewayConfig): number {
  return bounds.retainedBytes * bounds.retainedTenantShare;
}

/** `x-tenant (tenant_headers, key_headers)`, for each header that stands in two places. */
function headersOfTwoMeanings(config: GatewayConfig): readonly string[] {
  const { tenantHeaders, endUserHeader, keyHeaders, sessionHeaders, classHeaders, deadlineHeader } = config;
  const places = new Map<string, string[]>();
  const read = (place: string, names: readonly string[]): void => {
    for (const name of new Set(names)) places.set(name, [...(places.get(name) ?? []), place]);
  };
  read('tenant_headers', tenantHeaders);
  read('end_user_header', endUserHeader === undefined ? [] : [endUserHeader]);
  read('key_headers', keyHeaders);
  read('session_headers', sessionHeaders);
  read('class_headers', classHeaders);
  read('deadline_header', [deadlineHeader]);
  return [...places].filter(([, all]) => all.length > 1).map(([name, all]) => `${name} (${all.join(', ')})`);
}

/** Addresses that listen to everything, or to this machine alone. */
const HERE: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost']);
const ANYWHERE: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

function isItself(url: string, { host, port }: GatewayConfig): boolean {
  const { hostname, port: told, protocol } = new URL(url);
  const its = told === '' ? (protocol === 'https:' ? '443' : '80') : told;
  if (port === 0 || its !== String(port)) return false;
  const own = host.includes(':') ? `[${host}]` : host;
  return hostname === own || (HERE.has(hostname) && (HERE.has(own) || ANYWHERE.has(host)));
}

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
  return CAUTIONS.filter(({ holds }) => holds(config)).map(({ text }) =>
    typeof text === 'string' ? text : text(config),
  );
}
