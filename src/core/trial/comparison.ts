/** Paired differences between two scenarios over the same seeds, with 95 % intervals. */

import type { RunHead } from '../drill/run.js';
import type { FigureDifference } from '../report/comparison-page.js';

/** Two-sided 95 % quantiles of Student's t for 1 to 30 degrees of freedom. */
const T95 = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131,
  2.12, 2.11, 2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/** What of a run is one number: delivered shares, attempts and executions per call, recovery; null: not known. */
export function numbersOf({
  stages,
  clients = [],
  recovery,
}: Pick<RunHead, 'stages' | 'recovery'> & {
  readonly clients?: RunHead['stages'];
}): Record<string, number | null> {
  const numbers: Record<string, number | null> = {};
  for (const outcome of [...stages, ...clients]) {
    const { stage, calls, deliveredByDeadline, deliveredByHorizon, attempts, executions } = outcome;
    const perCall = (count: number | undefined): number | null =>
      count === undefined || calls === 0 ? null : count / calls;
    numbers[`${stage} delivered by the deadline, %`] = perCall(100 * deliveredByDeadline);
    numbers[`${stage} delivered by the horizon, %`] = perCall(100 * deliveredByHorizon);
    numbers[`${stage} attempts per call`] = perCall(attempts);
    numbers[`${stage} executions per call`] = perCall(executions);
  }
  return { ...numbers, ...recovery };
}

type Figures = Readonly<Record<string, number | null>>;

/** One row a figure that both have on at least one seed; pairs by position. */
export function pairedDifferences(a: readonly Figures[], b: readonly Figures[]): readonly FigureDifference[] {
  return Object.keys(a[0] ?? {}).flatMap((figure) => {
    const pairs = a.flatMap((left, at): (readonly [number, number])[] => {
      const [one, other] = [left[figure], b[at]?.[figure]];
      return typeof one === 'number' && typeof other === 'number' ? [[one, other]] : [];
    });
    return pairs.length === 0 ? [] : [paired(figure, pairs)];
  });
}

function paired(figure: string, pairs: readonly (readonly [number, number])[]): FigureDifference {
  const count = pairs.length;
  const mean = (of: (pair: readonly [number, number]) => number): number =>
    pairs.reduce((sum, pair) => sum + of(pair), 0) / count;
  const difference = mean(([a, b]) => b - a);
  const variance = (mean(([a, b]) => (b - a - difference) ** 2) * count) / (count - 1);
  const t = T95[count - 2] ?? 1.96;
  return {
    figure,
    a: mean(([a]) => a),
    b: mean(([, b]) => b),
    difference,
    halfWidth: count < 2 ? null : t * Math.sqrt(variance / count),
    seeds: count,
  };
}
