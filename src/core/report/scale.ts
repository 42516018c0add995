/** From values to places on paper, with ticks on round numbers. */

export interface Scale {
  /** The largest value shown; the smallest is 0. */
  readonly most: number;
  readonly ticks: readonly number[];
  /** Where `value` lies; values beyond the ends are drawn at the ends. */
  readonly at: (value: number) => number;
}

/** Steps of a clock's axis, seconds. */
const TIME_STEPS = [
  1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 14_400, 43_200, 86_400,
] as const;

/** A scale from 0 to the round number at or above `most`, with about `count` ticks. */
export function roundScale(most: number, count: number, from: number, to: number): Scale {
  const step = roundStep(Math.max(most, Number.EPSILON) / count);
  const steps = Math.max(1, Math.ceil(most / step - 1e-9));
  const ticks = Array.from({ length: steps + 1 }, (_, at) => Number((at * step).toPrecision(12)));
  return scaled(steps * step, ticks, from, to);
}

/** A scale from 0 to `most` seconds, which need not be round: its ticks are. */
export function timeScale(most: number, count: number, from: number, to: number): Scale {
  const length = Math.max(1, most);
  const step =
    TIME_STEPS.find((each) => length / each <= count) ?? 86_400 * Math.ceil(length / 86_400 / count);
  const ticks = Array.from({ length: Math.floor(length / step) + 1 }, (_, at) => at * step);
  return scaled(length, ticks, from, to);
}

/** The smallest of 1, 2 and 5 times a power of ten that is not below `step`. */
export function roundStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step));
  const factor = [1, 2, 5, 10].find((each) => each * power >= step * (1 - 1e-9)) ?? 10;
  return factor * power;
}

/** The width of a bin, seconds: round, and at most `count` of them in `length`. */
export function binSeconds(length: number, count: number): number {
  return TIME_STEPS.find((each) => length / each <= count) ?? 86_400 * Math.ceil(length / 86_400 / count);
}

function scaled(most: number, ticks: readonly number[], from: number, to: number): Scale {
  const at = (value: number): number => from + (Math.min(most, Math.max(0, value)) / most) * (to - from);
  return { most, ticks, at };
}
