/** Settings in force: the last source that says something wins, and each value knows its source. */

import { isDeepStrictEqual } from 'node:util';
import { unreachable } from '../../../core/assert.js';
import type { JsonSchema } from './kind.js';
import { REFERENCE } from './kind.js';
import type { Layer, Origin } from './reading.js';
import { groupSchema, leavesOf, put, valueAt } from './table.js';

/** What the sources say, to be completed with the defaults; and where each key's value came from. */
export interface Merged {
  readonly given: Readonly<Record<string, unknown>>;
  readonly origins: ReadonlyMap<string, Origin>;
}

/** Lays the sources over one another, the first lowest. A list is taken whole. */
export function merge(group: object, layers: readonly Layer[]): Merged {
  const given = {};
  const origins = new Map<string, Origin>(leavesOf(group).map(({ key }) => [key, { from: 'default' }]));
  for (const { said } of layers) {
    for (const { leaf, value, origin } of said) {
      put(given, leaf.names, value);
      origins.set(leaf.key, origin);
    }
  }
  return { given, origins };
}

/** An origin in words: `--room`, `HOLDFAST_CONTROL_ROOM`, `gateway.yaml line 3`, `default`. */
export function originText(origin: Origin): string {
  switch (origin.from) {
    case 'default':
      return 'default';
    case 'flag':
      return origin.flag;
    case 'environment':
      return origin.variable;
    case 'file': {
      const line = origin.line === undefined ? '' : ` line ${origin.line}`;
      const variables = origin.variables.map((name) => ` $${name}`).join('');
      return `${origin.file}${line}${variables}`;
    }
    default:
      return unreachable(origin);
  }
}

export interface Difference<T> {
  /** `next` where a setting may change while running, `current` elsewhere. */
  readonly taken: T;
  /** Keys that were taken over, and keys that wait for a restart. */
  readonly changed: readonly string[];
  readonly waiting: readonly string[];
}

/**
 * What of `next` may take the place of `current` while running. A list that is read once is taken over where its
 * entries differ in nothing but settings that may change.
 */
export function difference<T extends object>(group: object, current: T, next: T): Difference<T> {
  const taken = {};
  const changed: string[] = [];
  const waiting: string[] = [];
  for (const { names, key, setting } of leavesOf(group)) {
    const [before, after] = [valueAt(current, names), valueAt(next, names)];
    const live = setting.changes === 'live' || livelyDifferent(setting.kind.entries, before, after);
    if (!isDeepStrictEqual(before, after)) (live ? changed : waiting).push(key);
    const value = live ? after : before;
    if (value !== undefined) put(taken, names, value);
  }
  return { taken: taken as T, changed, waiting };
}

/** Whether two lists of mappings differ in nothing but what may change while running. */
function livelyDifferent(entries: object | undefined, before: unknown, after: unknown): boolean {
  if (entries === undefined || !Array.isArray(before) || !Array.isArray(after)) return false;
  return (
    before.length === after.length &&
    before.every((each: object, at) => difference(entries, each, after[at] as object).waiting.length === 0)
  );
}

/** JSON Schema 2020-12 of a file with the settings of `group`. */
export function fileSchema(group: object, title: string): JsonSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title,
    ...groupSchema(group),
    $defs: {
      [REFERENCE]: {
        type: 'string',
        pattern: String.raw`\$`,
        description: 'a text from variables: $NAME or ${NAME}; $$ is a dollar',
      },
    },
  };
}
