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
