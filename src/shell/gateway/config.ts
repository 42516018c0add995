/** The settings of one gateway: each named here once, with what it takes, its default, its meaning and when it may change. */

import { CONTROL_RANGES, checkClass, checkClassNames, NAMED_ROOMS } from '../../core/control/options.js';
import { LOG_LEVELS } from '../shared/log.js';
import { LOG_BUFFER_BYTES } from '../shared/log-output.js';
import {
  boolean,
  choice,
  countOr,
  duration,
  durationOrOff,
  list,
  number,
  size,
} from '../shared/settings/kinds.js';
import {
  complete,
  entry,
  type Given,
  leavesOf,
  optional,
  required,
  setting,
  type Values,
  viewOf,
} from '../shared/settings/table.js';
import { CONTROL } from './config-control.js';
import { CORS } from './config-cors.js';
import { INBOUND } from './config-inbound.js';
import {
  bearer,
  className,
  engineName,
  filePath,
  header,
  host,
  keyHash,
  modelName,
  network,
  path,
  upstreamUrl,
} from './config-kinds.js';
import { TLS } from './config-tls.js';
import { PRIORITY_PLACES } from './engine-priority.js';

/** What a request without a credential is scoped by: its address, one common tenant, or nothing shared. */
const ANONYMOUS = ['address', 'shared', 'none'] as const;
export type Anonymous = (typeof ANONYMOUS)[number];

/** Begins the name of every setting's variable. */
export const PREFIX = 'HOLDFAST_';

const MIB = 1024 * 1024;
const HOUR = 3_600_000;
const BODY = { least: 1, most: 1024 * MIB, whole: true };

/** One engine. */
const UPSTREAM = {
  url: required(upstreamUrl, {
    changes: 'restart',
    about:
      '`http(s)://host[:port][/prefix]`; the path and query of a request follow it, so it ends before `/v1`',
  }),
  name: optional(engineName, {
    changes: 'restart',
    about: 'what metrics and logs call the engine; its address when absent',
  }),
  models: optional(list(modelName, 'models'), {
    changes: 'restart',
    about:
      'the models that it serves, as requests name them; any model when absent. A model that no engine serves is answered with 404',
  }),
  room: optional(countOr(NAMED_ROOMS, CONTROL_RANGES.room), {
    changes: 'live',
    about: 'how many executions this engine may hold at once; as `control.room` says when absent',
  }),
  priority: optional(choice(PRIORITY_PLACES), {
    changes: 'restart',
    about:
      'where an engine that goes by priority (vLLM with `--scheduling-policy priority`) is told how urgent a call is: in the `header` X-Vllm-Priority, or in the field `priority` of the `body`; nowhere (`off`) when absent',
  }),
  credential: optional(bearer, {
    changes: 'restart',
    secret: true,
    about:
      "what this engine is told as `Authorization: Bearer` instead of the client's own key, which it then never sees; a `$NAME`, so that it does not stand in the file",
  }),
  connectMs: optional(durationOrOff({ least: 0, most: HOUR }), {
    changes: 'restart',
    about: 'as `upstream_timeouts.connect`, for this engine',
  }),
  firstByteMs: optional(durationOrOff({ least: 0, most: 24 * HOUR }), {
    changes: 'restart',
    about: 'as `upstream_timeouts.first_byte`, for this engine',
  }),
  idleMs: optional(durationOrOff({ least: 0, most: 24 * HOUR }), {
    changes: 'restart',
    about: 'as `upstream_timeouts.idle`, for this engine',
  }),
  caFile: optional(filePath, {
    changes: 'restart',
    about: 'the certificates that this engine is trusted by, in PEM; those of the system when absent',
  }),
  serverName: optional(host, {
    changes: 'restart',
    about: "the name in this engine's certificate, where it is not the one in `url`",
  }),
  verify: optional(boolean, {
    changes: 'restart',
    about:
      "`false`: this engine's certificate is not looked at; whoever stands between can read and change everything",
  }),
};
export interface Upstream extends Values<typeof UPSTREAM> {}

/** One tenant. */
const TENANT = {
  key: required(keyHash, {
    changes: 'live',
    about:
      "whose it is: the hash of the tenant's key, as in `allowed_keys_file`; tenants that are one key divided have each the same",
  }),
  weight: setting(number({ least: 0.001, most: 1_000 }), {
    default: 1,
    changes: 'live',
    about:
      "with `control.shares: tenant`, the tenant's part of the line's service beside that of the others that wait; others have 1",
  }),
  maxClass: optional(className, {
    changes: 'live',
    about: "the highest class that the tenant's calls may be of; as `control.max_class` when absent",
  }),
};

/** Time limits on the engine, milliseconds; 0 is no limit. */
const UPSTREAM_TIMEOUTS = {
  connectMs: setting(durationOrOff({ least: 0, most: HOUR }), {
    default: 10_000,
    changes: 'restart',
    about: 'longest time to a connection with the engine; `off` for none',
  }),
  firstByteMs: setting(durationOrOff({ least: 0, most: 24 * HOUR }), {
    default: 0,
    changes: 'live',
    about: "longest time from a request sent to the first body byte; the engine's own queue counts",
  }),
  idleMs: setting(durationOrOff({ least: 0, most: 24 * HOUR }), {
    default: 0,
    changes: 'live',
    about: 'longest silence inside an answer',
  }),
};
export interface UpstreamTimeouts extends Values<typeof UPSTREAM_TIMEOUTS> {}

/** Where operators ask. */
const ADMIN = {
  host: setting(host, {
    default: '127.0.0.1',
    changes: 'restart',
    about: 'address that `admin.port` listens on',
  }),
  port: optional(number({ least: 0, most: 65_535, whole: true }), {
    changes: 'restart',
    about:
      'port for `/metrics`, which then is not on the port of the clients; health is on both, since load balancers ask where they send; `0` for a free one',
  }),
};

/** Every setting, by the name that the code knows it by. */
export const SETTINGS = {
  host: setting(host, { default: '127.0.0.1', changes: 'restart', about: 'address to listen on' }),
  port: setting(number({ least: 0, most: 65_535, whole: true }), {
    default: 8900,
    changes: 'restart',
    about: 'port to listen on; `0` for a free one',
  }),
  upstreams: setting(list(entry(UPSTREAM, 'url', 'a mapping'), 'engines'), {
    default: [],
    changes: 'restart',
    about: 'the engines, each a mapping with its `url`; empty: `holdfast serve` starts a built-in twin',
  }),
  anonymous: setting(choice(ANONYMOUS), {
    default: 'address',
    changes: 'live',
    about:
      'what a request without a credential belongs to: its `address`, one tenant `shared` by all such requests, or `none`: it shares nothing',
  }),
  trustedProxies: setting(list(network, 'addresses and networks'), {
    default: [],
    changes: 'live',
    about:
      'proxies before the gateway that are believed about the address of a client, as addresses or networks (`10.0.0.0/8`); the nearest address that is none of them is the client',
  }),
  forwardedHeader: setting(choice(['x-forwarded-for', 'forwarded'] as const), {
    default: 'x-forwarded-for',
    changes: 'live',
    about:
      'the header in which trusted proxies say it; the other one is not read, since a client may send it',
  }),
  allowedKeysFile: optional(filePath, {
    changes: 'live',
    about:
      'a file with the keys that clients may come with, one a line, as they are or as `sha256:` and their hash; others are answered with 401. It is read again when it changes; without it everybody comes in',
  }),
  tenantHeaders: setting(list(header, 'headers'), {
    default: [],
    changes: 'live',
    about: 'headers that divide one credential into tenants',
  }),
  endUserHeader: optional(header, {
    changes: 'live',
    about: 'a further division by end user; a request without it shares nothing',
  }),
  tenants: setting(list(entry(TENANT, 'key', 'a mapping'), 'tenants'), {
    default: [],
    changes: 'live',
    about: 'tenants of whom something is said, each a mapping with its `key`',
  }),
  cacheSalt: setting(choice(['off', 'tenant'] as const), {
    default: 'off',
    changes: 'live',
    about:
      "`tenant`: requests carry a `cache_salt` of their tenant's, so that nobody can tell from response times what another tenant has asked; it costs the cached prefixes that tenants have in common, and all of them once a restart",
  }),
  keyHeaders: setting(list(header, 'headers'), {
    default: ['idempotency-key'],
    changes: 'live',
    about: 'headers that name a call inside its tenant',
  }),
  sessionHeaders: setting(list(header, 'headers'), {
    default: [
      'x-claude-code-session-id',
      'session-id',
      'thread-id',
      'x-session-id',
      'x-deepseek-harness-session-id',
    ],
    changes: 'live',
    about: "headers that name an agent's session: a hint, never a key",
  }),
  classHeaders: setting(list(header, 'headers'), {
    default: ['x-holdfast-class'],
    changes: 'live',
    about:
      "headers with the class that a call is to be of, one of `control.classes`; the first that a request has counts, and of an agent's session its first call",
  }),
  deadlineHeader: setting(header, {
    default: 'x-request-deadline',
    changes: 'live',
    about: 'header with how long the client will wait: seconds from now, or an RFC 3339 time',
  }),
  routes: setting(list(path, 'paths'), {
    default: [],
    changes: 'live',
    about:
      'further POST paths whose requests are calls, besides `/v1/chat/completions`, `/v1/completions`, `/v1/responses`, `/v1/messages` and `/v1/embeddings`',
  }),
  control: CONTROL,
  requestBytes: setting(size(BODY), {
    default: 32 * MIB,
    changes: 'live',
    about: 'largest request body taken; a larger one is refused with 413',
  }),
  inbound: INBOUND,
  tls: TLS,
  cors: CORS,
  admin: ADMIN,
  upstreamTimeouts: UPSTREAM_TIMEOUTS,
  gaugesEveryMs: setting(duration({ least: 50, most: 60_000 }), {
    default: 500,
    changes: 'live',
    about:
      "from one look at an engine's own gauges to the next, where its room is `engine` or `auto`; with `auto`, half a minute at most while it answers without gauges",
  }),
  repeatBytes: setting(size({ least: 0, most: 1024 * 1024 * MIB, whole: true }), {
    default: 256 * MIB,
    changes: 'live',
    about:
      'requests kept until their engine has answered, in case it cannot be reached or says 503; a request beyond it is sent once, and its client hears of a 503 at once',
  }),
  drainMs: setting(duration({ least: 0, most: HOUR }), {
    default: 30_000,
    changes: 'live',
    about: 'how long a stopping gateway waits for what is under way',
  }),
  readerBytes: setting(size(BODY), {
    default: 2 * MIB,
    changes: 'live',
    about: 'how far a reader may be behind an answer that is not replayable any more, before it is cut',
  }),
  log: {
    level: setting(choice(LOG_LEVELS), {
      default: 'info',
      changes: 'live',
      about: 'how much is logged',
    }),
    bufferBytes: setting(size({ least: 4096, most: 1024 * MIB, whole: true }), {
      default: LOG_BUFFER_BYTES,
      changes: 'restart',
      about:
        'lines that the reader of the log has not taken yet; beyond it lines are lost, counted and said later, and nobody waits',
    }),
  },
};

/** The settings in force. Header names are lower-case throughout. */
export interface GatewayConfig extends Values<typeof SETTINGS> {}

/** What may be left out of {@link GatewayConfig}, at every level. */
export type GatewaySettings = Given<typeof SETTINGS>;

/** Fills in the defaults and checks every bound; throws a `RangeError` for the first that does not fit. */
export function gatewayConfig(settings: GatewaySettings = {}): GatewayConfig {
  const config = complete(SETTINGS, settings);
  const { classes, defaultClass, maxClass } = config.control;
  checkClassNames(classes);
  checkClass(classes, defaultClass, 'control.default_class');
  checkClass(classes, maxClass, 'control.max_class');
  config.tenants.forEach((tenant, at) => checkClass(classes, tenant.maxClass, `tenants[${at}].max_class`));
  return config;
}

/** The settings in force in the words of the file, which reads them back; secrets are hidden. */
export function fileView(config: GatewayConfig): Readonly<Record<string, unknown>> {
  return viewOf(SETTINGS, config);
}

/** The keys of the file that a mapping may have; `at` is its place. */
export function knownKeys(at: readonly string[]): readonly string[] {
  const inside = leavesOf(SETTINGS).filter(({ keys }) => at.every((key, depth) => keys[depth] === key));
  return [...new Set(inside.flatMap(({ keys }) => keys.slice(at.length, at.length + 1)))];
}
