/** The published figures of the overload experiment as data, and how ours stand beside them. */

import { FIGURES } from './figures.js';
import type { TrialRecord } from './trial.js';

/** One published figure: Zhang and Wang, arXiv 2611.08684, Qwen2.5-7B-Instruct, 8,192 tokens a step. */
export interface PublishedFigure {
  readonly id: number;
  /** `none`: no control, which is `retries=on cancel=off`. */
  readonly arm: string;
  readonly figure: string;
  /** Of an unknown number of runs: not an interval. */
  readonly lowest: number;
  readonly highest: number;
  /** The published precision: 0.1, say, or a bin of 60 s. */
  readonly step: number;
}

function row(
  id: number,
  arm: string,
  figure: string,
  [lowest, highest]: readonly [number, number],
  step: number,
): PublishedFigure {
  return { id, arm, figure, lowest, highest, step };
}

export const PUBLISHED_FIGURES: readonly PublishedFigure[] = [
  row(1, 'retries=off cancel=off', 'hold_delivered_pct', [72.4, 74.8], 0.1),
  row(2, 'retries=off cancel=off', 'recovery_s', [480, 540], 60),
  row(3, 'retries=off cancel=on', 'hold_delivered_pct', [89, 91.4], 0.1),
  row(4, 'retries=off cancel=on', 'recovery_s', [360, 360], 60),
  row(5, 'retries=on cancel=off', 'hold_delivered_pct', [0, 0], 0.1),
  row(6, 'retries=on cancel=off', 'accepted_per_capacity', [2.33, 2.47], 0.01),
  row(7, 'retries=on cancel=off', 'completed_per_capacity', [0.951, 0.976], 0.001),
  row(8, 'retries=on cancel=off', 'retry_execution_share_pct', [75.7, 76.4], 0.1),
  row(9, 'retries=on cancel=on', 'hold_delivered_pct', [13.3, 15.2], 0.1),
  row(10, 'retries=on cancel=on', 'accepted_per_capacity', [2.35, 2.5], 0.01),
  row(11, 'retries=on cancel=on', 'completed_per_capacity', [0.002, 0.009], 0.001),
  row(12, 'retries=on cancel=on', 'aborted_share_of_computed_prompt_pct', [83.8, 85.2], 0.1),
  row(13, 'retries=on cancel=on', 'in_flight_share_of_aborted_pct', [51.7, 55.1], 0.1),
  row(14, 'retries=on cancel=on', 'missed_by_prompt_counter_pct', [47.3, 50.3], 0.1),
  row(15, 'retries=on cancel=on', 'first_step_before_deadline_s_median', [0.22, 0.47], 0.01),
  row(16, 'retries=on cancel=on', 'counter_shortfall_hold_pct', [63.1, 67.9], 0.1),
  row(17, 'budget', 'retries_refused_pct', [93.4, 94.7], 0.1),
  row(18, 'budget', 'later_hold_within_deadline_pct', [77.5, 82], 0.1),
  row(19, 'budget', 'pulse_delivered_pct', [51, 54.4], 0.1),
  row(20, 'none', 'pulse_delivered_pct', [50.9, 53.2], 0.1),
  row(21, 'coalesce', 'retries_attached_pct', [99, 99.5], 0.1),
  row(22, 'coalesce', 'later_hold_within_deadline_pct', [83, 89.5], 0.1),
  row(23, 'coalesce', 'pulse_delivered_pct', [100, 100], 0.1),
  row(24, 'coalesce+cancel-now', 'retries_attached_pct', [0, 0], 0.1),
  row(25, 'coalesce+cancel-10s', 'retries_attached_pct', [99.6, 99.6], 0.1),
  row(26, 'coalesce+cancel-10s', 'pulse_and_hold_delivered_pct', [100, 100], 0.1),
];

/** The arm whose runs answer for a figure. */
export function armNameOf({ arm }: Pick<PublishedFigure, 'arm'>): string {
  return arm === 'none' ? 'retries=on cancel=off' : arm;
}

export type FigureVerdict = 'mean inside' | 'ranges overlap' | 'apart';

export interface FigureRow {
  readonly id: number;
  readonly arm: string;
  readonly figure: string;
  readonly published: { readonly lowest: number; readonly highest: number };
  /** Over our seeds; `null`: some run has no such figure (it never recovered, say). */
  readonly ours: { readonly lowest: number; readonly mean: number; readonly highest: number } | null;
  readonly verdict: FigureVerdict;
  readonly inside: boolean;
}

/** Ours beside one published figure, both at the published precision. `values`: one a seed. */
export function compareFigure(published: PublishedFigure, values: readonly number[]): FigureRow {
  const { id, arm, figure, lowest, highest, step } = published;
  const frame = { id, arm, figure, published: { lowest, highest } };
  if (values.length === 0 || values.some((value) => !Number.isFinite(value))) {
    return { ...frame, ours: null, verdict: 'apart', inside: false };
  }
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const ours = {
    lowest: rounded(Math.min(...values), step),
    mean: rounded(mean, step),
    highest: rounded(Math.max(...values), step),
  };
  const inside = ours.mean >= lowest && ours.mean <= highest;
  const overlap = ours.lowest <= highest && ours.highest >= lowest;
  return { ...frame, ours, verdict: inside ? 'mean inside' : overlap ? 'ranges overlap' : 'apart', inside };
}

function rounded(value: number, step: number): number {
  // Twelve digits take off what a multiple of 0.1 has too much.
  return Number((Math.round(value / step) * step).toFixed(12));
}

/** The value of each figure that is computed for a run, by name. Not a number: null. */
export function figuresOf(run: TrialRecord): Readonly<Record<string, number | null>> {
  return Object.fromEntries(
    Object.entries(FIGURES).map(([name, value]) => {
      const number = value(run);
      return [name, Number.isFinite(number) ? number : null];
    }),
  );
}
