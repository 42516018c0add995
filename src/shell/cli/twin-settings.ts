/** Where the settings of `holdfast twin` come from: flags over file over defaults, under vLLM's names for both. */

import { isMap, isScalar, LineCounter, type ParsedNode, parseDocument } from 'yaml';
import { UserError } from '../shared/errors.js';
import { listed, nearest, shown } from '../shared/options.js';
import { readTextFile } from '../shared/text-file.js';
import { profileNamed } from '../twin/profile-file.js';
import type { TwinOptions } from '../twin/server.js';
import type { Given } from './flags.js';
import type { TWIN_FLAGS } from './twin-flags.js';

/** Everything a twin can be told here: its options, and where its trace goes. */
export interface TwinCommandSettings {
  readonly options: TwinOptions;
  readonly trace: string | undefined;
  /** The message of a `RangeError` of the twin with the place of the setting for its option's name. */
  readonly inUserWords: (message: string) => string;
}

type Value = string | number | boolean;

/** A kind of value: what it wants in words, and how a text becomes it. */
interface Kind {
  readonly wants: string;
  readonly read: (text: string) => Value | undefined;
}

interface Setting extends Kind {
  readonly option: string;
}

/** vLLM's suffixes: small letters are powers of 1,000, capital ones of 1,024. */
const SUFFIXES: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  m: 1e6,
  g: 1e9,
  K: 1024,
  M: 1024 ** 2,
  G: 1024 ** 3,
};

const TEXT: Kind = { wants: 'a text', read: (text) => text };
const NUMBER: Kind = {
  wants: 'a number',
  read: (text) => (/^\d+(?:\.\d+)?$/.test(text) ? Number(text) : undefined),
};
const COUNT: Kind = {
  wants: 'a whole number such as 4096, 32k or 4K',
  read: (text) => {
    const parts = /^(\d{1,12}(?:\.\d{1,6})?)([kmgKMG]?)$/.exec(text);
    const count = Math.round(Number(parts?.[1]) * 1e6) * (SUFFIXES[parts?.[2] ?? ''] ?? 1);
    return count % 1e6 === 0 ? count / 1e6 : undefined;
  },
};
const choice = (...words: string[]): Kind => ({
  wants: listed(words),
  read: (text) => (words.includes(text) ? text : undefined),
});
const switched = (on: boolean): Kind => ({
  wants: 'true or false',
  read: (text) => (text === 'true' ? on : text === 'false' ? !on : undefined),
});

const SETTINGS: Readonly<Record<string, Setting>> = {
  host: { option: 'host', ...TEXT },
  port: { option: 'port', ...NUMBER },
  profile: { option: 'profile', ...TEXT },
  model: { option: 'model', ...TEXT },
  'served-model-name': { option: 'servedModelName', ...TEXT },
  'max-model-len': { option: 'maxModelLen', ...COUNT },
  'max-num-seqs': { option: 'maxNumSeqs', ...COUNT },
  'max-num-batched-tokens': { option: 'maxNumBatchedTokens', ...COUNT },
  'block-size': { option: 'blockSize', ...COUNT },
  'num-gpu-blocks-override': { option: 'numGpuBlocks', ...COUNT },
  'gpu-memory-utilization': { option: 'gpuMemoryUtilization', ...NUMBER },
  'max-num-queued-reqs': { option: 'maxNumQueuedReqs', ...COUNT },
  'max-num-queued-tokens': { option: 'maxNumQueuedTokens', ...COUNT },
  'scheduling-policy': { option: 'schedulingPolicy', ...choice('fcfs', 'priority') },
  'async-scheduling': { option: 'asyncScheduling', ...switched(true) },
  'no-async-scheduling': { option: 'asyncScheduling', ...switched(false) },
  'enable-prefix-caching': { option: 'enablePrefixCaching', ...switched(true) },
  'no-enable-prefix-caching': { option: 'enablePrefixCaching', ...switched(false) },
  seed: { option: 'seed', ...NUMBER },
  'time-scale': { option: 'timeScale', ...NUMBER },
  trace: { option: 'trace', ...TEXT },
};

/** One setting as it was said, and where: `--port`, or `FILE, line 3: port`. */
interface Said {
  readonly name: string;
  readonly place: string;
  readonly text: string;
}

interface Layer {
  readonly values: ReadonlyMap<string, Value>;
  readonly places: ReadonlyMap<string, string>;
}

/** The settings in force; a {@link UserError} says which flag or key does not fit, and why. */
export function twinSettingsOf(given: Given<typeof TWIN_FLAGS>): TwinCommandSettings {
  const path = given.config?.[0];
  const file = path === undefined ? layerOf([]) : layerOf(fromFile(path), 'config_invalid');
  const flags = layerOf(fromFlags(given));
  const values = new Map([...file.values, ...flags.values]);
  const places = new Map([...file.places, ...flags.places]);
  const { trace, profile, ...options } = Object.fromEntries(values);
  const named = typeof profile === 'string' ? { profile: profileNamed(profile) } : {};
  return {
    options: { port: DEFAULT_PORT, ...options, ...named },
    trace: typeof trace === 'string' ? trace : undefined,
    inUserWords: (message) => {
      const [option = ''] = message.split(' ', 1);
      return `${places.get(option) ?? option}${message.slice(option.length)}`;
    },
  };
}

/** vLLM's. */
export const DEFAULT_PORT = 8000;

function fromFlags(given: Given<typeof TWIN_FLAGS>): Said[] {
  return Object.keys(SETTINGS).flatMap((name) => {
    const [text] = given[name as keyof typeof TWIN_FLAGS] ?? [];
    return text === undefined ? [] : [{ name, place: `--${name}`, text: text === '' ? 'true' : text }];
  });
}

function layerOf(all: readonly Said[], code: 'bad_usage' | 'config_invalid' = 'bad_usage'): Layer {
  const values = new Map<string, Value>();
  const places = new Map<string, string>();
  for (const { name, place, text } of all) {
    const setting = SETTINGS[name] as Setting;
    const value = setting.read(text);
    if (value === undefined) {
      throw new UserError(
        code,
        `${place} must be ${setting.wants}, not ${JSON.stringify(text.slice(0, 60))}`,
      );
    }
    const other = places.get(setting.option);
    if (other !== undefined && values.get(setting.option) !== value) {
      throw new UserError(code, `${place} contradicts ${other}`);
    }
    values.set(setting.option, value);
    places.set(setting.option, place);
  }
  return { values, places };
}

/** Nobody writes more by hand. */
const LARGEST_FILE_BYTES = 64 * 1024;

function fromFile(path: string): Said[] {
  const text = readTextFile({
    path,
    what: 'the configuration',
    largestBytes: LARGEST_FILE_BYTES,
    code: 'config_unreadable',
  });
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    version: '1.2',
    merge: false,
    logLevel: 'error',
  });
  const broken = [...document.errors, ...document.warnings][0];
  if (broken !== undefined) {
    throw new UserError('config_syntax', `${path} is not plain YAML: ${broken.message.trim()}`);
  }
  const { contents } = document;
  if (contents === null || (isScalar(contents) && contents.value === null)) return [];
  if (!isMap<ParsedNode, ParsedNode | null>(contents)) {
    throw new UserError(
      'config_invalid',
      `${path} must be a mapping of flags, without their dashes, to values`,
    );
  }
  return contents.items.map(({ key, value }) => {
    const place = `${path}, line ${lines.linePos(key.range[0]).line}: `;
    return saidIn(place, isScalar(key) ? String(key.value) : shown(key.toJSON()), value);
  });
}

function saidIn(place: string, name: string, value: ParsedNode | null): Said {
  const setting = Object.hasOwn(SETTINGS, name) ? SETTINGS[name] : undefined;
  if (setting === undefined) {
    const near = nearest(name, Object.keys(SETTINGS));
    const hint = near === undefined ? 'see holdfast twin --help' : `did you mean ${near}?`;
    throw new UserError('config_invalid', `${place}${name.slice(0, 64)} is not a setting; ${hint}`);
  }
  const found = isScalar(value) ? value.value : undefined;
  if (typeof found === 'string' || typeof found === 'number' || typeof found === 'boolean') {
    return { name, place: place + name, text: String(found) };
  }
  const wrong = shown(value === null ? null : value.toJSON());
  throw new UserError('config_invalid', `${place}${name} must be ${setting.wants}, not ${wrong}`);
}
