/** What was meant by a value of the wrong form: said beside the complaint, never guessed at silently. */

import { durationText, sizeText } from '../units.js';

const DURATION_UNITS: readonly (readonly [RegExp, string])[] = [
  [/^(?:ms|msecs?|millis|milliseconds?)$/i, 'ms'],
  [/^(?:s|secs?|seconds?)$/i, 's'],
  [/^(?:m|mins?|minutes?)$/i, 'm'],
  [/^(?:h|hrs?|hours?)$/i, 'h'],
];

const did = (meant: string): string => `did you mean ${meant}?`;

/** A number alone, as a number or as a text. */
function bareNumber(raw: unknown): string | undefined {
  const text = typeof raw === 'number' ? String(raw) : raw;
  return typeof text === 'string' && /^\d{1,12}(?:\.\d{1,6})?$/.test(text) ? text : undefined;
}

export function meantDuration(raw: unknown, words: readonly string[]): string | undefined {
  const bare = bareNumber(raw);
  if (bare !== undefined) {
    if (Number(bare) === 0 && words.includes('off')) return 'off is no limit';
    return Number(bare) < 1_000
      ? `with its unit: ${bare}s, or ${bare}ms`
      : `with its unit: ${durationText(Number(bare))} if those are milliseconds`;
  }
  const [, count, unit = ''] =
    (typeof raw === 'string' ? /^(\d{1,12}(?:\.\d{1,6})?)\s*([a-z]+)$/i.exec(raw) : null) ?? [];
  const [, known] = DURATION_UNITS.find(([form]) => form.test(unit)) ?? [];
  if (known !== undefined) return did(`${count}${known}`);
  return words.includes('off') ? meantOff(raw) : undefined;
}

export function meantSize(raw: unknown): string | undefined {
  const bare = bareNumber(raw);
  if (bare !== undefined) {
    return Number(bare) < 1_024 || !Number.isInteger(Number(bare))
      ? `with its unit: ${bare}B, or ${bare}MiB`
      : `with its unit: ${sizeText(Number(bare))} if those are bytes`;
  }
  const parts = typeof raw === 'string' ? /^(\d{1,12}(?:\.\d{1,6})?)\s*([kmg])i?b?$/i.exec(raw) : null;
  return parts === null ? undefined : did(`${parts[1]}${(parts[2] ?? '').toUpperCase()}iB`);
}

export function meantNumber(raw: unknown): string | undefined {
  if (typeof raw !== 'string') return undefined;
  const [, percent] = /^(\d{1,12}(?:\.\d{1,6})?)\s*%$/.exec(raw) ?? [];
  if (percent !== undefined) return `a share: ${Number(percent) / 100}`;
  if (bareNumber(raw) !== undefined) return `without quotes: ${raw}`;
  const [, inside] = /^\D{0,16}?(\d{1,12})\D{0,16}$/.exec(raw) ?? [];
  return inside === undefined ? undefined : did(inside);
}

export function meantWord(raw: unknown, words: readonly string[]): string | undefined {
  if (typeof raw === 'string') {
    const small = raw.toLowerCase();
    const near = words.find((word) => small.startsWith(word) || (small.length > 2 && word.startsWith(small)));
    return near === undefined ? undefined : did(near);
  }
  return words.includes('off') ? meantOff(raw) : undefined;
}

/** Tools that read YAML 1.1 take a bare `off` for false, and write that. */
export function meantOff(raw: unknown): string | undefined {
  return raw === false ? 'in quotes, "off", where another tool made it false' : undefined;
}

/** `key`: the first key of its entries, where they are mappings. */
export function meantList(raw: unknown, key: string | undefined): string | undefined {
  if (typeof raw === 'object' && raw !== null) return 'a dash before its first key makes an entry of it';
  if (typeof raw !== 'string' || raw.length > 60) return undefined;
  return did(key === undefined ? `[${raw}]` : `[{ ${key}: ${raw} }]`);
}
