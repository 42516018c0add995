/** Flags that stand for settings, for every command that has the gateway's configuration. */

import { SETTINGS } from '../gateway/config.js';
import { Complaints, type Layer, type Said } from '../shared/settings/reading.js';
import { leavesOf, readValue } from '../shared/settings/table.js';
import type { Flags, Given } from './flags.js';

export const SETTING_FLAGS = {
  upstream: {
    value: 'URL',
    many: true,
    help: 'an engine to stand in front of; without one, a built-in twin',
  },
  host: { value: 'HOST', help: 'address to listen on (127.0.0.1)' },
  port: { value: 'PORT', help: 'port to listen on; 0 for a free one (8900)' },
  config: { value: 'FILE', help: 'settings in YAML or JSON; flags and variables win over it' },
  coalesce: {
    value: 'MODE',
    help: 'adopt: a retry takes over the work its call has; identical; off (adopt)',
  },
  budget: { value: 'MODE', help: 'what the retry budget charges: entitlement, strict or off (entitlement)' },
  room: {
    value: 'ROOM',
    help: 'how many executions the engine may hold at once: a number, auto, engine, first-token or off (auto)',
  },
  order: {
    value: 'ORDER',
    help: 'who leaves the line first: deadline, oldest-first or newest-first (deadline)',
  },
  capacity: { value: 'N', help: "the engine's measured capacity in calls per second, where known" },
  grace: { value: 'TIME', help: 'how long abandoned work waits for its client: 60s, now or never (60s)' },
  drain: { value: 'TIME', help: 'how long a stopping gateway waits for what is under way (30s)' },
  'log-level': { value: 'LEVEL', help: 'debug, info, warn, error, fatal or silent (info)' },
} as const satisfies Flags;

export type SettingFlags = Given<typeof SETTING_FLAGS>;

/** The key that each flag sets; `config` names the file. */
const KEYS: Readonly<Record<Exclude<keyof typeof SETTING_FLAGS, 'config'>, string>> = {
  upstream: 'upstreams',
  host: 'host',
  port: 'port',
  coalesce: 'control.coalesce',
  budget: 'control.budget.mode',
  room: 'control.room',
  order: 'control.order',
  capacity: 'control.capacity',
  grace: 'control.grace',
  drain: 'drain',
  'log-level': 'log.level',
};

/** What the flags say, and what of it does not fit. */
export function flagLayer(given: SettingFlags): Layer {
  const said: Said[] = [];
  const complaints = [];
  for (const leaf of leavesOf(SETTINGS)) {
    const [name] = Object.entries(KEYS).find(([, key]) => key === leaf.key) ?? [];
    const texts = given[name as keyof SettingFlags];
    if (name === undefined || texts === undefined) continue;
    const flag = `--${name}`;
    const heard = new Complaints({ place: () => flag });
    const { kind } = leaf.setting;
    const value = readValue(leaf, kind.fromText(texts.join(',')), leaf.keys, heard);
    complaints.push(...heard.all);
    if (value !== undefined) said.push({ leaf, value, origin: { from: 'flag', flag } });
  }
  return { said, complaints };
}
