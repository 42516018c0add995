/** A kind of value that a setting may have: how it is written in a file, read from it, and explained when it does not fit. */

import { shown, within } from '../options.js';

/** Where a value stands in a file, by its keys there. */
export type Path = readonly (string | number)[];
export type JsonSchema = Readonly<Record<string, unknown>>;

/** What a setting is called in the file: words joined by underscores, durations and sizes as they are. */
export function fileKey(name: string): string {
  return name.replace(/Ms$/, '').replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Bounds of a number, both ends included. */
export interface Range {
  readonly least: number;
  readonly most: number;
  readonly whole?: boolean;
}

/** Whoever reads values: hears complaints, and knows how far a value may be repeated in them. */
export interface Reader {
  complain(at: Path, message: string): void;
  /** A complaint about a value: that it must be `wants`; `hint` may repeat parts of it. */
  refuse(at: Path, wants: string, raw: unknown, hint?: string): void;
  /** A complaint about a key that is none of `known`. */
  unknown(at: Path, key: string, known: readonly string[]): void;
}

export interface Kind<T> {
  /** What a value may be, with its bounds: completes "must be". */
  readonly takes: string;
  /** Of lists of mappings: the settings of each. */
  readonly entries?: object;
  /** JSON Schema of what stands in the file. */
  readonly schema: JsonSchema;
  /** The value, or undefined and a complaint. */
  read(raw: unknown, at: Path, reader: Reader): T | undefined;
  /** The value as the file has it. */
  write(value: T): unknown;
  /** What a flag or a variable says, as the file would have it. */
  fromText(text: string): unknown;
  /** A value of a program, checked: throws a `RangeError` that names `name`. */
  complete(value: T, name: string): T;
}

export interface Form<T> {
  /** What a value looks like: completes "must be" when the form is wrong. */
  readonly wants: string;
  /** The same where its bounds matter; `wants` when absent. */
  readonly takes?: string;
  readonly schema: JsonSchema;
  /** Of values that are numbers. */
  readonly range?: Range | undefined;
  /** The value that `raw` stands for, whatever its bounds; undefined when it is of another form. */
  readonly parse: (raw: unknown) => T | undefined;
  readonly write?: (value: T) => unknown;
  readonly fromText?: (text: string) => unknown;
  /** What else to say of a wrong value. */
  readonly hint?: (raw: unknown) => string | undefined;
}

/** A kind of single values. */
export function kind<T>(form: Form<T>): Kind<T> {
  const { wants, takes = wants, schema, range, parse, hint } = form;
  const write = form.write ?? ((value: T): unknown => value);
  return {
    takes,
    schema,
    write,
    fromText: form.fromText ?? ((text) => text),
    read(raw, at, reader) {
      const value = parse(raw);
      if (value === undefined) reader.refuse(at, wants, raw, hint?.(raw));
      else if (!inside(value, range)) reader.refuse(at, takes, raw);
      else return value;
      return undefined;
    },
    complete(value, name) {
      if (typeof value === 'number') {
        if (range !== undefined) within(name, value, range.least, range.most, range.whole);
        return value;
      }
      const read = parse(write(value));
      if (read === undefined) throw new RangeError(`${name} must be ${wants}, not ${shown(value)}`);
      return read;
    },
  };
}

function inside(value: unknown, range: Range | undefined): boolean {
  if (typeof value !== 'number' || range === undefined) return true;
  return value >= range.least && value <= range.most && (range.whole !== true || Number.isInteger(value));
}

/** What texts of the file may be instead of their value: a variable's name. */
export const REFERENCE = 'reference';

/** The schema of a text of some form, or of a reference to a variable that holds one. */
export function textSchema(form: JsonSchema): JsonSchema {
  return { anyOf: [{ type: 'string', ...form }, { $ref: `#/$defs/${REFERENCE}` }] };
}
