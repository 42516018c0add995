/** Where the settings of `holdfast serve` come from: flags over environment over file over defaults. */

import { type GatewayConfig, type GatewaySettings } from '../gateway/config.js';
import { checkSettings, type Path, readConfigFile, resolveConfig } from '../gateway/config-file.js';
import { UserError } from '../shared/errors.js';
import { HELP_FLAG } from './command.js';
import type { Flags, Given } from './flags.js';

/** A flag that stands for one key of the configuration file. */
interface Setting {
  readonly path: Path;
  readonly read: (text: string) => unknown;
}

const asText = (text: string): unknown => text;
/** A text that is no number stays one, so that the complaint about it can show it. */
const asNumber = (text: string): unknown => (/^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text);

const SETTINGS: Readonly<Record<string, Setting>> = {
  host: { path: ['host'], read: asText },
  port: { path: ['port'], read: asNumber },
  coalesce: { path: ['control', 'coalesce'], read: asText },
  budget: { path: ['control', 'budget', 'mode'], read: asText },
  order: { path: ['control', 'order'], read: asText },
  room: { path: ['control', 'room'], read: asNumber },
  capacity: { path: ['control', 'capacity'], read: asNumber },
  grace: { path: ['control', 'grace'], read: asText },
  drain: { path: ['drain'], read: asText },
  'log-level': { path: ['log', 'level'], read: asText },
};

export const SERVE_FLAGS = {
  upstream: {
    value: 'URL',
    many: true,
    help: 'an engine to stand in front of; without one, a built-in twin',
  },
  host: { value: 'HOST', help: 'address to listen on (127.0.0.1)' },
  port: { value: 'PORT', help: 'port to listen on; 0 for a free one (8900)' },
  config: { value: 'FILE', help: 'settings in YAML or JSON; flags win over it' },
  coalesce: {
    value: 'MODE',
    help: 'adopt: a retry takes over the work its call has; identical; off (adopt)',
  },
  budget: { value: 'MODE', help: 'what the retry budget charges: entitlement, strict or off (entitlement)' },
  room: { value: 'N|off', help: 'how many executions the engine may hold at once (off)' },
  order: { value: 'ORDER', help: 'who leaves the line first: oldest-first or newest-first (oldest-first)' },
  capacity: { value: 'N', help: "the engine's measured capacity in calls per second, where known" },
  grace: { value: 'TIME', help: 'how long abandoned work waits for its client: 60s, now or never (60s)' },
  drain: { value: 'TIME', help: 'how long a stopping gateway waits for what is under way (30s)' },
  'log-level': { value: 'LEVEL', help: 'debug, info, warn, error, fatal or silent (info)' },
  'check-config': { help: 'print the settings in force as YAML and end' },
  ...HELP_FLAG,
} as const satisfies Flags;

type GivenFlags = Given<typeof SERVE_FLAGS>;

/** The settings in force; a {@link UserError} says which flag, variable or key does not fit, and why. */
export function serveConfig(
  given: GivenFlags,
  env: Readonly<Record<string, string | undefined>>,
): GatewayConfig {
  const path = given.config?.[0];
  const layers = [
    path === undefined ? {} : readConfigFile(path),
    settingsOf(fromEnvironment(env), (name) => name),
    settingsOf(fromFlags(given), (name) => `--${name}`),
  ];
  return resolveConfig(layers.reduce(over));
}

/** One value to read: its own name, its place in the file, what was said. */
interface Said {
  readonly name: string;
  readonly path: Path;
  readonly value: unknown;
}

function fromFlags(given: GivenFlags): Said[] {
  const said = Object.entries(SETTINGS).flatMap(([name, { path, read }]) => {
    const text = given[name as keyof GivenFlags]?.[0];
    return text === undefined ? [] : [{ name, path, value: read(text) }];
  });
  const upstreams = given.upstream?.map((url) => ({ url }));
  return upstreams === undefined
    ? said
    : [...said, { name: 'upstream', path: ['upstreams'], value: upstreams }];
}

/** Logging libraries agree on `LOG_LEVEL`; ours of our own name wins over it. */
function fromEnvironment(env: Readonly<Record<string, string | undefined>>): Said[] {
  const name = ['HOLDFAST_LOG_LEVEL', 'LOG_LEVEL'].find((each) => (env[each] ?? '') !== '');
  if (name === undefined) return [];
  return [{ name, path: ['log', 'level'], value: (env[name] ?? '').toLowerCase() }];
}

function settingsOf(all: readonly Said[], display: (name: string) => string): GatewaySettings {
  const value = {};
  for (const said of all) place(value, said);
  const { settings, complaints } = checkSettings(value, (path) => {
    const said = all.find((each) => each.path.every((step, at) => step === path[at]));
    return said === undefined ? path.join('.') : display(said.name);
  });
  if (complaints.length > 0) throw new UserError('bad_usage', complaints.join('\n'));
  return settings;
}

function place(into: Record<string, unknown>, { path, value }: Said): void {
  let at = into;
  for (const step of path.slice(0, -1)) at = (at[step] ??= {}) as Record<string, unknown>;
  at[path.at(-1) ?? ''] = value;
}

/** `above` where it says something, else `below`; mappings are merged, lists are replaced. */
function over(below: GatewaySettings, above: GatewaySettings): GatewaySettings {
  return merged(below, above) as GatewaySettings;
}

function merged(below: unknown, above: unknown): unknown {
  if (!isMapping(below) || !isMapping(above)) return above;
  const result: Record<string, unknown> = { ...below };
  for (const [name, value] of Object.entries(above)) {
    result[name] = Object.hasOwn(result, name) ? merged(result[name], value) : value;
  }
  return result;
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
