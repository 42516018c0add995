/** The kinds of values that settings are made of: numbers, words, durations, sizes, texts, and lists of them. */

import { listed } from '../options.js';
import { DURATION_FORM, durationText, readDuration, readSize, SIZE_FORM, sizeText } from '../units.js';
import { type Form, fileKey, type Kind, kind, type Range, textSchema } from './kind.js';
import { meantDuration, meantList, meantNumber, meantOff, meantSize, meantWord } from './meant.js';

const DURATION_PATTERN = String.raw`^\d{1,12}(\.\d{1,6})?(ms|s|m|h)$`;
const SIZE_PATTERN = String.raw`^\d{1,12}(\.\d{1,6})?(B|KiB|MiB|GiB)$`;
/** A longer list is written by a machine that has gone wrong. */
const MOST_LISTED = 64;

/** A text that is no number stays one, so that the complaint about it can show it. */
const numberFromText = (text: string): unknown => (/^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text);

export function number(range: Range): Kind<number> {
  const text = numberText(range);
  return kind<number>({
    wants: text,
    schema: numberSchema(range),
    range,
    parse: (raw) => (typeof raw === 'number' && !Number.isNaN(raw) ? raw : undefined),
    fromText: numberFromText,
    hint: meantNumber,
  });
}

function numberText({ least, most, whole = false }: Range): string {
  const what = whole ? 'a whole number' : 'a number';
  if (least === Number.MIN_VALUE) return `${what} above 0, up to ${most}`;
  return most === Number.MAX_SAFE_INTEGER ? `${what} from ${least} up` : `${what} from ${least} to ${most}`;
}

function numberSchema({ least, most, whole = false }: Range): Record<string, unknown> {
  const low = least === Number.MIN_VALUE ? { exclusiveMinimum: 0 } : { minimum: least };
  return { type: whole ? 'integer' : 'number', ...low, maximum: most };
}

export const boolean: Kind<boolean> = kind<boolean>({
  wants: 'true or false',
  schema: { type: 'boolean' },
  parse: (raw) => (typeof raw === 'boolean' ? raw : undefined),
  fromText: (text) => (text === 'true' || text === 'false' ? text === 'true' : text),
});

/** One of some words, all of them in lower case. */
export function choice<T extends string>(words: readonly T[]): Kind<T> {
  return kind<T>({
    wants: listed(words),
    schema: textSchema({ enum: words }),
    parse: (raw) => words.find((word) => word === raw),
    fromText: (text) => text.toLowerCase(),
    hint: (raw) => meantWord(raw, words),
  });
}

/** A duration in milliseconds within `range`. */
export const duration = (range: Range): Kind<number> => durationOr<never>([], range);

/** A duration in milliseconds within `range`, or one of `words`. */
export function durationOr<W extends string>(words: readonly W[], range: Range): Kind<number | W> {
  const bounds = `a duration from ${durationText(range.least)} to ${durationText(range.most)}`;
  return kind<number | W>({
    wants: either(words, DURATION_FORM),
    takes: either(words, bounds),
    schema: worded(words, { pattern: DURATION_PATTERN }),
    range,
    parse: (raw) => words.find((word) => word === raw) ?? readDuration(raw),
    write: (value) => (typeof value === 'number' ? durationText(value) : value),
    fromText: (text) => wordIn(words, text) ?? text,
    hint: (raw) => meantDuration(raw, words),
  });
}

/** A duration in milliseconds within `range`, where `off` is 0. */
export function durationOrOff(range: Range): Kind<number> {
  const inner = durationOr(['off'], { ...range, least: Math.max(1, range.least) });
  return {
    takes: inner.takes,
    schema: inner.schema,
    read: (raw, at, reader) => {
      const value = inner.read(raw, at, reader);
      return value === 'off' ? 0 : value;
    },
    write: (value) => inner.write(value === 0 ? 'off' : value),
    fromText: (text) => inner.fromText(text),
    complete: (value, name) => (value === 0 ? 0 : (inner.complete(value, name) as number)),
  };
}

/** A size in bytes within `range`. */
export function size(range: Range): Kind<number> {
  const most = range.most === Number.MAX_SAFE_INTEGER ? ' up' : ` to ${sizeText(range.most)}`;
  return kind<number>({
    wants: SIZE_FORM,
    takes: `a size from ${sizeText(range.least)}${most}`,
    schema: textSchema({ pattern: SIZE_PATTERN }),
    range: { ...range, whole: true },
    parse: readSize,
    write: sizeText,
    hint: meantSize,
  });
}

/** A size in bytes within `range`, or `word`. */
export function sizeOr<W extends string>(word: W, range: Range): Kind<number | W> {
  return kind<number | W>({
    wants: either([word], SIZE_FORM),
    takes: either([word], `a size from ${sizeText(range.least)} to ${sizeText(range.most)}`),
    schema: worded([word], { pattern: SIZE_PATTERN }),
    range: { ...range, whole: true },
    parse: (raw) => (raw === word ? word : readSize(raw)),
    write: (value) => (typeof value === 'number' ? sizeText(value) : value),
    fromText: (text) => wordIn([word], text) ?? text,
    hint: (raw) => (word === 'off' ? meantOff(raw) : undefined) ?? meantSize(raw),
  });
}

/** A whole number within `range`, or one of `words`. */
export function countOr<W extends string>(words: readonly W[], range: Range): Kind<number | W> {
  const isWord = (raw: unknown): W | undefined => words.find((word) => word === raw);
  return kind<number | W>({
    wants: either(words, numberText(range)),
    schema: { anyOf: [{ enum: words }, numberSchema(range)] },
    range,
    parse: (raw) => isWord(raw) ?? (typeof raw === 'number' && Number.isInteger(raw) ? raw : undefined),
    fromText: (text) => wordIn(words, text) ?? numberFromText(text),
    hint: (raw) => (isWord('off') === undefined ? undefined : meantOff(raw)) ?? meantNumber(raw),
  });
}

/** A word that flags and variables may write in capitals. */
const wordIn = <W extends string>(words: readonly W[], text: string): W | undefined =>
  words.find((word) => word === text.toLowerCase());

const either = (words: readonly string[], form: string): string => listed([...words, form]);

function worded(words: readonly string[], form: { readonly pattern: string }): ReturnType<typeof textSchema> {
  if (words.length === 0) return textSchema(form);
  return { anyOf: [{ enum: words }, textSchema(form)] };
}

/** A text that `parse` understands; `pattern` is what JSON Schema can say of it. */
export function textOf(
  wants: string,
  parse: (raw: string) => string | undefined,
  more: { readonly pattern?: string; readonly hint?: Form<string>['hint'] } = {},
): Kind<string> {
  return kind<string>({
    wants,
    schema: textSchema(more.pattern === undefined ? {} : { pattern: more.pattern }),
    parse: (raw) => (typeof raw === 'string' ? parse(raw) : undefined),
    ...(more.hint === undefined ? {} : { hint: more.hint }),
  });
}

/** A list of values of one kind, at most `most`; a text has them between commas. */
export function list<T>(of: Kind<T>, what: string, most = MOST_LISTED): Kind<readonly T[]> {
  return {
    takes: `a list of ${what}, at most ${most}`,
    ...(of.entries === undefined ? {} : { entries: of.entries }),
    schema: { type: 'array', items: of.schema, maxItems: most },
    read(raw, at, reader) {
      if (!Array.isArray(raw)) {
        const [key] = Object.keys(of.entries ?? {});
        const sample = key === undefined ? '[a, b]' : `[{ ${fileKey(key)}: … }]`;
        reader.refuse(at, `a list of ${what}, such as ${sample}`, raw, meantList(raw, key));
        return undefined;
      }
      if (raw.length > most) {
        reader.complain(at, `must have at most ${most} entries, not ${raw.length}`);
        return undefined;
      }
      const items = raw.map((each: unknown, index) => of.read(each, [...at, index], reader));
      return items.every((each) => each !== undefined) ? items : undefined;
    },
    write: (value) => value.map((each) => of.write(each)),
    fromText: (all) =>
      all
        .split(',')
        .map((each) => each.trim())
        .filter((each) => each !== '')
        .map((each) => of.fromText(each)),
    complete(value, name) {
      if (value.length <= most) return value.map((each, index) => of.complete(each, `${name}.${index}`));
      throw new RangeError(`${name} must have at most ${most} entries, not ${value.length}`);
    },
  };
}
