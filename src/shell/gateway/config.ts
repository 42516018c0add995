/** The settings of one gateway: what there is to set, its defaults, and every bound checked once. */

import { type ControlOptions, type ControlSettings, controlOptions } from '../../core/control/options.js';
import { LOG_LEVELS, type LogLevel } from '../shared/log.js';
import { oneOf, within } from '../shared/options.js';

/** What a request without a credential is scoped by: its address, one common tenant, or nothing shared. */
export const ANONYMOUS = ['address', 'shared', 'none'] as const;
export type Anonymous = (typeof ANONYMOUS)[number];

/** Whether requests carry a `cache_salt` that divides the engine's prefix cache. */
export const CACHE_SALTS = ['off', 'tenant'] as const;
export type CacheSalt = (typeof CACHE_SALTS)[number];

/** Time limits on the engine, milliseconds; 0 is no limit. */
export interface UpstreamTimeouts {
  readonly connectMs: number;
  /** From the request sent to the first body byte; a queueing engine may take minutes. */
  readonly firstByteMs: number;
  /** Between two pieces of one answer. */
  readonly idleMs: number;
}

export interface Upstream {
  /** `http(s)://host[:port][/prefix]`, no slash at its end: the request's path and query follow it. */
  readonly url: string;
}

/** Header names are lower-case throughout. */
export interface GatewayConfig {
  readonly host: string;
  /** 0: a free port. */
  readonly port: number;
  /** Empty until a command fills in its embedded engine. */
  readonly upstreams: readonly Upstream[];
  readonly anonymous: Anonymous;
  /** Headers that divide one credential into tenants. */
  readonly tenantHeaders: readonly string[];
  /** A further division; a request without it shares nothing. */
  readonly endUserHeader?: string | undefined;
  /** `tenant`: no tenant's prefix is found in the engine's cache by another; each computes shared prefixes itself. */
  readonly cacheSalt: CacheSalt;
  /** Headers that name a call. */
  readonly keyHeaders: readonly string[];
  /** Headers that name an agent's session: a hint, never a key. */
  readonly sessionHeaders: readonly string[];
  readonly deadlineHeader: string;
  /** Further POST paths whose requests are calls. */
  readonly routes: readonly string[];
  readonly control: ControlOptions;
  /** Largest request body taken. */
  readonly requestBytes: number;
  readonly upstreamTimeouts: UpstreamTimeouts;
  /** How long a stopping gateway waits for what is under way. */
  readonly drainMs: number;
  /** How far a reader may be behind an answer that is not replayable any more. */
  readonly readerBytes: number;
  readonly log: { readonly level: LogLevel };
}

/** What may be left out of {@link GatewayConfig}, at every level. */
export type GatewaySettings = Partial<Omit<GatewayConfig, 'control' | 'upstreamTimeouts' | 'log'>> & {
  readonly control?: ControlSettings;
  readonly upstreamTimeouts?: Partial<UpstreamTimeouts>;
  readonly log?: { readonly level?: LogLevel };
};

const MIB = 1024 * 1024;
const HOUR = 3_600_000;

/** The defaults of {@link GatewayConfig}; those of `control` are the control's own. */
export const GATEWAY_DEFAULTS: Omit<GatewayConfig, 'control'> = {
  host: '127.0.0.1',
  port: 8900,
  upstreams: [],
  anonymous: 'address',
  tenantHeaders: [],
  cacheSalt: 'off',
  keyHeaders: ['idempotency-key'],
  sessionHeaders: [
    'x-claude-code-session-id',
    'session-id',
    'thread-id',
    'x-session-id',
    'x-deepseek-harness-session-id',
  ],
  deadlineHeader: 'x-request-deadline',
  routes: [],
  requestBytes: 32 * MIB,
  upstreamTimeouts: { connectMs: 10_000, firstByteMs: 0, idleMs: 0 },
  drainMs: 30_000,
  readerBytes: 2 * MIB,
  log: { level: 'info' },
};

/** Fills in the defaults and checks every bound; throws a `RangeError` for the first that does not fit. */
export function gatewayConfig(settings: GatewaySettings = {}): GatewayConfig {
  const config: GatewayConfig = {
    ...GATEWAY_DEFAULTS,
    ...settings,
    control: controlPart(settings.control),
    upstreamTimeouts: { ...GATEWAY_DEFAULTS.upstreamTimeouts, ...settings.upstreamTimeouts },
    log: { ...GATEWAY_DEFAULTS.log, ...settings.log },
  };
  within('port', config.port, 0, 65_535, true);
  within('requestBytes', config.requestBytes, 1, 1024 * MIB, true);
  within('readerBytes', config.readerBytes, 1, 1024 * MIB, true);
  within('drainMs', config.drainMs, 0, HOUR);
  within('upstreamTimeouts.connectMs', config.upstreamTimeouts.connectMs, 0, HOUR);
  within('upstreamTimeouts.firstByteMs', config.upstreamTimeouts.firstByteMs, 0, 24 * HOUR);
  within('upstreamTimeouts.idleMs', config.upstreamTimeouts.idleMs, 0, 24 * HOUR);
  oneOf('anonymous', config.anonymous, ANONYMOUS);
  oneOf('cacheSalt', config.cacheSalt, CACHE_SALTS);
  oneOf('log.level', config.log.level, LOG_LEVELS);
  return config;
}

function controlPart(settings: ControlSettings | undefined): ControlOptions {
  try {
    return controlOptions(settings);
  } catch (cause) {
    if (cause instanceof RangeError) throw new RangeError(`control.${cause.message}`, { cause });
    throw cause;
  }
}
