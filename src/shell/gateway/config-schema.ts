/** The shape of the configuration file: one reader a setting, each of which says what it wants. */

import { z } from 'zod';
import type {
  BudgetOptions,
  ControlBounds,
  ControlOptions,
  ControlSettings,
} from '../../core/control/options.js';
import { LOG_LEVELS, type LogLevel } from '../shared/log.js';
import { listed, shown } from '../shared/options.js';
import { DURATION_FORM, durationText, readDuration, readSize, SIZE_FORM, sizeText } from '../shared/units.js';
import {
  ANONYMOUS,
  CACHE_SALTS,
  type GatewayConfig,
  type GatewaySettings,
  type Upstream,
  type UpstreamTimeouts,
} from './config.js';

const MOST_LISTED = 64;
const LONGEST_NAME = 256;

/** A value that `read` understands; `what` completes "must be". */
function value<T>(what: string, read: (raw: unknown) => T | undefined): z.ZodType<T> {
  return z.unknown().transform((raw, context): T => {
    const result = read(raw);
    if (result !== undefined) return result;
    context.issues.push({ code: 'custom', message: `must be ${what}, not ${shown(raw)}`, input: raw });
    return z.NEVER;
  });
}

const oneOf = <T extends string>(choices: readonly T[]): z.ZodType<T> =>
  value(listed(choices), (raw) => choices.find((choice) => choice === raw));

const number = value('a number', (raw) =>
  typeof raw === 'number' && Number.isFinite(raw) ? raw : undefined,
);
const boolean = value('true or false', (raw) => (typeof raw === 'boolean' ? raw : undefined));
const duration = value(DURATION_FORM, readDuration);
const size = value(SIZE_FORM, readSize);
const durationOrOff = value(`off or ${DURATION_FORM}`, (raw) => (raw === 'off' ? 0 : readDuration(raw)));

const grace = value(`now, never or ${DURATION_FORM}`, (raw) =>
  raw === 'now' || raw === 'never' ? raw : readDuration(raw),
);

const room = value('off or a whole number', (raw) =>
  raw === 'off' || (typeof raw === 'number' && Number.isInteger(raw)) ? raw : undefined,
);

const host = value('a host name or an address without a port, such as 127.0.0.1 or ::1', (raw) =>
  typeof raw === 'string' && raw.length <= LONGEST_NAME && /^[\w.:-]+$/.test(raw) ? raw : undefined,
);

const header = value('the name of a header, such as x-tenant', (raw) => {
  const named = typeof raw === 'string' && raw.length <= LONGEST_NAME && /^[!#$%&'*+.^`|~\w-]+$/.test(raw);
  return named ? raw.toLowerCase() : undefined;
});

const path = value('a path that begins with a slash, without query, such as /v1/score', (raw) =>
  typeof raw === 'string' && raw.length <= LONGEST_NAME && /^\/[^\s?#]*$/.test(raw) ? raw : undefined,
);

const url = value('http(s)://host:port without credentials, query or /v1', readUpstreamUrl);

/** The address of an engine without its last slash; undefined when it is none that requests can follow. */
export function readUpstreamUrl(raw: unknown): string | undefined {
  if (typeof raw !== 'string' || !URL.canParse(raw)) return undefined;
  const parsed = new URL(raw);
  const plain =
    parsed.username === '' && parsed.password === '' && parsed.search === '' && parsed.hash === '';
  if (!plain || !/^https?:$/.test(parsed.protocol)) return undefined;
  // The paths of requests begin with /v1 themselves: with it here, the engine would see it twice.
  const prefix = parsed.pathname.replace(/\/+$/, '');
  return /(?:^|\/)v1$/.test(prefix) ? undefined : parsed.origin + prefix;
}

function list<T>(of: z.ZodType<T>): z.ZodType<readonly T[]> {
  return z.array(of).check((context) => {
    if (context.value.length <= MOST_LISTED) return;
    const message = `must have at most ${MOST_LISTED} entries, not ${context.value.length}`;
    context.issues.push({ code: 'custom', message, input: context.value });
  });
}

/** One reader a setting, none forgotten: the compiler holds the table against the type. */
type Table<T> = { readonly [K in keyof T]-?: z.ZodType<Exclude<T[K], undefined>> };

/** What a setting is called in the file: words joined by underscores, durations without their unit. */
export function fileKey(setting: string): string {
  return setting.replace(/Ms$/, '').replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The keys of the file's mappings, by path. */
const KEYS = new Map<string, readonly string[]>();

/** The keys that the mapping at `at` may have. */
export function knownKeys(at: readonly (string | number)[]): readonly string[] {
  return KEYS.get(at.filter((step) => typeof step === 'string').join('.')) ?? [];
}

/** A mapping of the file, read into the settings' own names; any other key is refused. */
function mapping<T extends object>(at: string, table: Table<T>): z.ZodType<Partial<T>> {
  const settings = Object.keys(table) as (keyof T & string)[];
  KEYS.set(at, settings.map(fileKey));
  const shape = Object.fromEntries(settings.map((setting) => [fileKey(setting), table[setting].optional()]));
  return z.strictObject(shape).transform((found) => {
    const read: Partial<T> = {};
    for (const setting of settings) {
      const each = found[fileKey(setting)];
      if (each !== undefined) read[setting] = each;
    }
    return read;
  });
}

const budget = mapping<BudgetOptions>('control.budget', {
  mode: oneOf(['entitlement', 'strict', 'off']),
  ratio: number,
  windowMs: duration,
  floor: number,
});

const bounds = mapping<ControlBounds>('control.bounds', {
  lineEntries: number,
  lineBytes: size,
  lineWaitMs: duration,
  replayBytes: size,
  liveReplayBytes: size,
  retainedBytes: size,
  retainedTenantShare: number,
  tenants: number,
  learnedKeys: number,
  listeners: number,
  calls: number,
});

const control = mapping<
  Omit<ControlOptions, 'budget' | 'bounds'> & Pick<ControlSettings, 'budget' | 'bounds'>
>('control', {
  coalesce: oneOf(['off', 'adopt', 'identical']),
  order: oneOf(['oldest-first', 'newest-first']),
  room,
  budget,
  capacity: number,
  grace,
  graceAfterFirstByteMs: duration,
  learnGrace: boolean,
  lateMergeMs: duration,
  lateMergeHoldMs: duration,
  deliveredAfterMs: duration,
  retainMs: duration,
  retainKeyedMs: duration,
  replayDeliveredMs: duration,
  defaultDeadlineMs: duration,
  leastDeadlineMs: duration,
  bounds,
});

const upstreamTimeouts = mapping<UpstreamTimeouts>('upstream_timeouts', {
  connectMs: durationOrOff,
  firstByteMs: durationOrOff,
  idleMs: durationOrOff,
});

const upstream = mapping<Upstream>('upstreams', { url }).transform((read, context): Upstream => {
  if (read.url !== undefined) return { url: read.url };
  context.issues.push({ code: 'custom', message: 'must have a url', input: read });
  return z.NEVER;
});

/** The whole file. */
export const SCHEMA: z.ZodType<GatewaySettings> = mapping<GatewaySettings>('', {
  host,
  port: number,
  upstreams: list(upstream),
  anonymous: oneOf(ANONYMOUS),
  tenantHeaders: list(header),
  endUserHeader: header,
  cacheSalt: oneOf(CACHE_SALTS),
  keyHeaders: list(header),
  sessionHeaders: list(header),
  deadlineHeader: header,
  routes: list(path),
  control,
  requestBytes: size,
  upstreamTimeouts,
  drainMs: duration,
  readerBytes: size,
  log: mapping<{ readonly level: LogLevel }>('log', { level: oneOf(LOG_LEVELS) }),
});

/** The settings in force in the words of the file, which reads them back; for logs and for people. */
export function fileView(config: GatewayConfig): Readonly<Record<string, unknown>> {
  return viewOf(config) as Record<string, unknown>;
}

function viewOf(part: unknown, setting = '', parent = ''): unknown {
  if (Array.isArray(part)) return part.map((each) => viewOf(each));
  if (typeof part === 'object' && part !== null) {
    const entries = Object.entries(part).filter(([, each]) => each !== undefined);
    return Object.fromEntries(entries.map(([name, each]) => [fileKey(name), viewOf(each, name, setting)]));
  }
  if (typeof part !== 'number') return part;
  if (part === 0 && parent === 'upstreamTimeouts') return 'off';
  if (setting.endsWith('Ms') || setting === 'grace') return durationText(part);
  return setting.endsWith('Bytes') ? sizeText(part) : part;
}
