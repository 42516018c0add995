/** Checks of settings that every part of the shell shares, so that each complaint reads the same way. */

/** Throws a `RangeError` naming the option, its bounds and the value unless `value` is in [low, high]. */
export function within(name: string, value: number, low: number, high: number, whole = false): void {
  const fits = value >= low && value <= high && (!whole || Number.isInteger(value));
  if (fits) return;
  const kind = whole ? 'a whole number' : 'a number';
  throw new RangeError(`${name} must be ${kind} from ${low} to ${high}, not ${value}`);
}

/** Throws a `RangeError` naming the option unless `value` is one of `choices`. */
export function oneOf(name: string, value: string, choices: readonly string[]): void {
  if (choices.includes(value)) return;
  throw new RangeError(`${name} must be ${listed(choices)}, not ${JSON.stringify(value)}`);
}

/** `a, b or c`. */
export function listed(words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} or ${last}`;
}

/** The word of `known` that `word` was most likely meant to be; undefined when none is near. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[-_. ]/g, '');
  const meant = plain(word.slice(0, LONGEST_WORD));
  let best: string | undefined;
  let least = Math.max(1, Math.floor(meant.length / 3)) + 1;
  for (const candidate of known) {
    const apart = distance(meant, plain(candidate));
    if (apart < least) [best, least] = [candidate, apart];
  }
  return best;
}

const LONGEST_WORD = 64;

/** How many letters have to be put in, taken out, replaced or swapped with their neighbour. */
function distance(from: string, to: string): number {
  let before: number[] = [];
  let above = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1];
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current[column] = Math.min(
        (above[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (above[column - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (before[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    [before, above] = [above, current];
  }
  return above[to.length] ?? 0;
}

/** How many characters of a value a complaint repeats. */
const LONGEST_SHOWN = 60;

/** A value as a complaint repeats it: bounded, and without the credentials of an address. */
export function shown(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (typeof value === 'number') return String(value);
  const text = (JSON.stringify(value) ?? typeof value).replaceAll(/\/\/[^/@\s"]*@/g, '//…@');
  return text.length <= LONGEST_SHOWN ? text : `${text.slice(0, LONGEST_SHOWN - 1)}…`;
}
