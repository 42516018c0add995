/** Durations and sizes as people write them: a number and its unit, so that nobody has to guess which it was. */

const DURATIONS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;
const SIZES = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 } as const;

export const DURATION_FORM = 'a duration such as 250ms, 1.5s, 10m or 24h';
export const SIZE_FORM = 'a size such as 512B, 64KiB, 32MiB or 1GiB';

/** Milliseconds of `250ms`, `1.5s`, `10m`, `24h`; undefined for anything else, a bare number included. */
export function readDuration(text: unknown): number | undefined {
  return read(text, /^(?<count>\d{1,12}(?:\.\d{1,6})?)(?<unit>ms|s|m|h)$/, DURATIONS);
}

/** Bytes of `512B`, `64KiB`, `32MiB`, `1GiB`, always whole; undefined for anything else. */
export function readSize(text: unknown): number | undefined {
  const bytes = read(text, /^(?<count>\d{1,12}(?:\.\d{1,6})?)(?<unit>B|KiB|MiB|GiB)$/, SIZES);
  return bytes !== undefined && Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** The shortest text that {@link readDuration} reads back as `ms`. */
export function durationText(ms: number): string {
  return written(ms, DURATIONS, 'ms');
}

/** The shortest text that {@link readSize} reads back as `bytes`. */
export function sizeText(bytes: number): string {
  return written(bytes, SIZES, 'B');
}

function read(text: unknown, form: RegExp, units: Readonly<Record<string, number>>): number | undefined {
  const parts = typeof text === 'string' ? form.exec(text)?.groups : undefined;
  const unit = units[parts?.['unit'] ?? ''];
  return unit === undefined ? undefined : Number(parts?.['count']) * unit;
}

/** In the largest unit of which it is a whole number, else in `least`. */
function written(value: number, units: Readonly<Record<string, number>>, least: string): string {
  let best = `${value}${least}`;
  if (value === 0) return best;
  for (const [unit, factor] of Object.entries(units)) {
    if (Number.isInteger(value / factor)) best = `${value / factor}${unit}`;
  }
  return best;
}
