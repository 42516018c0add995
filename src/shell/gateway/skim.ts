/** Reads a few members of a large or odd JSON object without parsing it, in bounded time. */

import type { Members } from './canonical.js';

/** A few milliseconds; what comes after is not seen. */
export const SKIM_STEPS = 500_000;
/** A search in the buffer costs as much as so many single bytes. */
const SEARCH_STEPS = 16;
const LONGEST_KEY = 64;
/** A longer value is only known to be there. */
const LONGEST_VALUE = 4096;
const THERE = '""';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

export interface Skimmed {
  /** Those of the wanted members that were seen, with their values as JSON; of a key twice, the last. */
  readonly members: Members;
  /** Whether all of the body was looked at. */
  readonly whole: boolean;
}

/** The members of the top-level object whose keys are `wanted`; nothing is said of whether the rest is JSON. */
export function skim(body: Buffer, wanted: ReadonlySet<string>): Skimmed {
  const members = new Map<string, string>();
  let steps = SKIM_STEPS;
  let depth = 0;
  let key = '';
  let keyComes = false;
  let valueAt = 0;
  const keep = (end: number): void => {
    if (!keyComes && wanted.has(key)) members.set(key, valueIn(body, valueAt, end));
    key = '';
    keyComes = true;
  };
  for (let at = 0; at < body.length; at += 1) {
    steps -= 1;
    if (steps < 0) return { members, whole: false };
    const byte = body[at];
    if (byte === QUOTE) {
      const [end, searches] = closingQuote(body, at, steps / SEARCH_STEPS);
      steps -= searches * SEARCH_STEPS;
      if (end < 0) return { members, whole: searches * SEARCH_STEPS < steps };
      if (depth === 1 && keyComes) {
        key = keyIn(body, at, end);
        keyComes = false;
        valueAt = end + 1;
      }
      at = end;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth += 1;
      if (depth === 1) keyComes = byte === OPEN_BRACE;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (depth === 1) keep(at);
      depth -= 1;
      if (depth <= 0) return { members, whole: true };
    } else if (depth === 1 && byte === COMMA) keep(at);
    else if (depth === 1 && byte === COLON && !keyComes) valueAt = at + 1;
  }
  return { members, whole: true };
}

/** Where the string ends that begins at `from`, after at most so many searches; negative when it was not found. */
function closingQuote(body: Buffer, from: number, most: number): readonly [end: number, searches: number] {
  let searches = 0;
  let end = from;
  while (searches < most) {
    searches += 1;
    end = body.indexOf(QUOTE, end + 1);
    if (end < 0) return [-1, searches];
    let before = end - 1;
    const least = end - (most - searches) * SEARCH_STEPS;
    while (body[before] === BACKSLASH && before >= least) before -= 1;
    if (before < least) return [-1, most];
    searches += (end - 1 - before) / SEARCH_STEPS;
    if ((end - 1 - before) % 2 === 0) return [end, searches];
  }
  return [-1, searches];
}

function keyIn(body: Buffer, from: number, end: number): string {
  if (end - from > LONGEST_KEY) return '';
  const key = parsed(body.toString('utf8', from, end + 1));
  return typeof key === 'string' ? key : '';
}

/** The value as JSON in one spelling; what is no JSON is no value. */
function valueIn(body: Buffer, from: number, end: number): string {
  if (end - from > LONGEST_VALUE) return THERE;
  const value = parsed(body.toString('utf8', from, end));
  return value === undefined ? 'null' : JSON.stringify(value);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
