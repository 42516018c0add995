/** Settings as a table: each named once, with its kind, default, meaning, and whether it may change while running. */

import { fileKey, type JsonSchema, type Kind, type Path, type Reader } from './kind.js';

export interface About<T> {
  readonly default: T;
  /** One sentence for the reference page and the JSON Schema, without a full stop; Markdown. */
  readonly about: string;
  /** `live`: a reload takes it over; `restart`: it is read once. */
  readonly changes: 'live' | 'restart';
  /** Never shown. */
  readonly secret?: boolean;
}

/** One setting. `Optional`: it may be absent for good. */
export class Setting<T, Optional extends boolean = boolean> {
  readonly kind: Kind<T>;
  readonly default: T | undefined;
  readonly about: string;
  readonly changes: 'live' | 'restart';
  readonly secret: boolean;
  readonly optional: Optional;
  /** Of an entry in a list: it has no default and must be there. */
  readonly required: boolean;

  constructor(
    kind: Kind<T>,
    about: Omit<About<T>, 'default'> & { readonly default: T | undefined },
    may: Optional,
    must = false,
  ) {
    this.kind = kind;
    this.default = about.default;
    this.about = about.about;
    this.changes = about.changes;
    this.secret = about.secret ?? false;
    this.optional = may;
    this.required = must;
  }
}

/** Settings by name: words in camel case, durations with their unit last. */
export interface Group {
  readonly [name: string]: Setting<unknown> | Group;
}

export function setting<T>(kind: Kind<T>, about: About<NoInfer<T>>): Setting<T, false> {
  return new Setting(kind, about, false);
}

/** A setting without a default that may be left out. */
export function optional<T>(kind: Kind<T>, about: Omit<About<T>, 'default'>): Setting<T, true> {
  return new Setting(kind, { ...about, default: undefined }, true);
}

/** A setting that every entry of a list must have. */
export function required<T>(kind: Kind<T>, about: Omit<About<T>, 'default'>): Setting<T, false> {
  return new Setting(kind, { ...about, default: undefined }, false, true);
}

type ValueOf<S> = S extends Setting<infer T> ? T : Values<S>;

/** The values of a group's settings, all there. */
export type Values<G> = {
  readonly [K in keyof G as G[K] extends Setting<unknown, true> ? never : K]: ValueOf<G[K]>;
} & {
  readonly [K in keyof G as G[K] extends Setting<unknown, true> ? K : never]?: ValueOf<G[K]> | undefined;
};

/** Entries of a list may leave out what has a default. */
type Loose<T> = T extends readonly (infer E)[] ? (E extends object ? readonly Partial<E>[] : T) : T;

/** What may be left out of {@link Values}, at every level. */
export type Given<G> = {
  readonly [K in keyof G]?: G[K] extends Setting<infer T> ? Loose<T> | undefined : Given<G[K]>;
};

/** A table with one setting for each member of `T`, none forgotten. */
export type TableOf<T> = {
  readonly [K in keyof T]-?: [Exclude<T[K], undefined>] extends [
    string | number | boolean | readonly unknown[],
  ]
    ? Setting<Exclude<T[K], undefined>>
    : TableOf<Exclude<T[K], undefined>>;
};

/** One setting with its place. */
export interface Leaf {
  /** In the settings' own names, and in the file's. */
  readonly names: readonly string[];
  readonly keys: readonly string[];
  /** `control.grace`. */
  readonly key: string;
  readonly setting: Setting<unknown>;
}

/** Every setting of `group`, in order. */
export function leavesOf(group: object, names: readonly string[] = []): readonly Leaf[] {
  return Object.entries(group as Group).flatMap(([name, each]) => {
    const inside = [...names, name];
    if (!(each instanceof Setting)) return leavesOf(each, inside);
    const keys = inside.map(fileKey);
    return [{ names: inside, keys, key: keys.join('.'), setting: each }];
  });
}

/** Fills in the defaults of what `given` leaves out; throws a `RangeError` for the first value that does not fit. */
export function complete<G extends object>(group: G, given: Given<G>, name = ''): Values<G> {
  const values: Record<string, unknown> = {};
  for (const [key, each] of Object.entries(group as Group)) {
    const inside = name === '' ? key : `${name}.${key}`;
    const value: unknown = (given as Record<string, unknown>)[key];
    if (!(each instanceof Setting)) values[key] = complete(each, value ?? {}, inside);
    else if (value !== undefined) values[key] = each.kind.complete(value, inside);
    else if (each.required) throw new RangeError(`${inside} must be given`);
    else if (each.default !== undefined) values[key] = each.default;
  }
  return values as Values<G>;
}

/** A value of a tree by its names; undefined where there is none. */
export function valueAt(tree: unknown, names: readonly string[]): unknown {
  return names.reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], tree);
}

/** Puts a value into a tree, making what is missing on the way. */
export function put(tree: Record<string, unknown>, names: readonly string[], value: unknown): void {
  let at = tree;
  for (const name of names.slice(0, -1)) at = (at[name] ??= {}) as Record<string, unknown>;
  at[names.at(-1) ?? ''] = value;
}

/** What stands in place of a secret. */
export const HIDDEN = '(hidden)';

/** `values` in the words of the file, secrets hidden. */
export function viewOf(group: object, values: object): Readonly<Record<string, unknown>> {
  const view = {};
  for (const { names, keys, setting: each } of leavesOf(group)) {
    const value = valueAt(values, names);
    if (value !== undefined) put(view, keys, each.secret ? HIDDEN : each.kind.write(value));
  }
  return view;
}

/** A reader that repeats nothing of a secret. */
export function discreet(reader: Reader): Reader {
  return {
    complain: (at, message) => reader.complain(at, message),
    refuse: (at, wants) => reader.complain(at, `must be ${wants}; what is there is a secret and not shown`),
    unknown: (at, key, known) => reader.unknown(at, key, known),
  };
}

/** The value of one setting, complaints about secrets kept discreet. */
export function readValue({ setting: each }: Leaf, raw: unknown, at: Path, reader: Reader): unknown {
  if (each.secret && raw === HIDDEN) {
    reader.complain(
      at,
      `is ${HIDDEN}, which is shown in place of a secret: write the secret itself, or $NAME for a variable`,
    );
    return undefined;
  }
  return each.kind.read(raw, at, each.secret ? discreet(reader) : reader);
}

/** The entries of a list, each of which has the settings of `group`; `main` is the one that a bare text stands for. */
export function entry<G extends object>(group: G, main: keyof G & string, article: string): Kind<Values<G>> {
  const leaves = leavesOf(group);
  const known = leaves.map(({ key }) => key);
  return {
    takes: `${article} of ${known.join(', ')}`,
    entries: group,
    schema: groupSchema(group),
    read: (raw, at, reader) => readEntry(leaves, known, raw, at, reader) as Values<G> | undefined,
    write: (value) => viewOf(group, value),
    fromText: (text) => ({ [fileKey(main)]: text }),
    complete: (value, name) => complete(group, value as Given<G>, name),
  };
}

function readEntry(
  leaves: readonly Leaf[],
  known: readonly string[],
  raw: unknown,
  at: Path,
  reader: Reader,
): unknown {
  if (!isMapping(raw)) {
    const meant = typeof raw === 'string' ? `did you mean { ${known[0]}: ${raw.slice(0, 60)} }?` : undefined;
    reader.refuse(at, `a mapping such as { ${known[0]}: … }`, raw, meant);
    return undefined;
  }
  const values: Record<string, unknown> = {};
  let fits = true;
  for (const key of Object.keys(raw)) {
    if (known.includes(key)) continue;
    reader.unknown(at, key, known);
    fits = false;
  }
  for (const leaf of leaves) {
    const { key, names, setting: each } = leaf;
    if (!Object.hasOwn(raw, key)) {
      if (each.required) {
        reader.complain(at, `must have a ${key}: ${each.kind.takes}`);
        fits = false;
      } else if (each.default !== undefined) put(values, names, each.default);
      continue;
    }
    const value = readValue(leaf, raw[key], [...at, key], reader);
    if (value === undefined) fits = false;
    else put(values, names, value);
  }
  return fits ? values : undefined;
}

export function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** JSON Schema of a mapping with the settings of `group`. */
export function groupSchema(group: object): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  const needed: string[] = [];
  for (const [name, each] of Object.entries(group as Group)) {
    const key = fileKey(name);
    if (!(each instanceof Setting)) properties[key] = groupSchema(each);
    else {
      properties[key] = settingSchema(each);
      if (each.required) needed.push(key);
    }
  }
  const must = needed.length === 0 ? {} : { required: needed };
  return { type: 'object', additionalProperties: false, properties, ...must };
}

function settingSchema({ kind, about, default: value }: Setting<unknown>): JsonSchema {
  const shown = value === undefined ? {} : { default: kind.write(value) };
  return { ...kind.schema, description: about, ...shown };
}
