/** The whole matrix of the published experiment: which arms, in which variants, on which seeds. */

import { armOf } from './arms.js';

/** One run of the matrix: a name as `armOf` reads it, and a seed. */
export interface MatrixRun {
  readonly scenario: string;
  readonly seed: number;
}

/** The arms of the paper, each run plain, with a pulse of 1.5 Ĉ and with 2,048 tokens a step. */
export const PAPER_ARMS = [
  'retries=off cancel=off',
  'retries=off cancel=on',
  'retries=on cancel=off',
  'retries=on cancel=on',
  'budget',
  'coalesce',
  'coalesce+cancel-now',
  'coalesce+cancel-10s',
  'engine-cap',
  'gateway-cap-oldest',
  'gateway-cap-newest',
] as const;

/** The arms that are run on the two other models. */
const MODEL_ARMS = PAPER_ARMS.slice(2, 8);
const OTHER_MODELS = ['llama-3.1-8b', 'qwen3-14b'] as const;
/** Compositions the paper did not run; one seed each makes 137 runs, as many as it made. */
const COMPOSITIONS = ['coalesce+budget', 'holdfast'] as const;

/**
 * 11 arms × 3 variants × `seeds`, 6 arms × 2 models × `seeds`, and 2 compositions on the first seed: 137 runs with
 * 3 seeds. The plain arms come first.
 */
export function publishedMatrix(seeds: readonly number[]): readonly MatrixRun[] {
  const names = [
    ...PAPER_ARMS,
    ...PAPER_ARMS.map((arm) => `${arm} pulse=1.5`),
    ...PAPER_ARMS.map((arm) => `${arm} step=2048`),
    ...OTHER_MODELS.flatMap((model) => MODEL_ARMS.map((arm) => `${arm} model=${model}`)),
  ];
  const runs = names.flatMap((scenario) => seeds.map((seed) => ({ scenario, seed })));
  const first = seeds[0];
  if (first === undefined) return runs;
  return [...runs, ...COMPOSITIONS.map((scenario) => ({ scenario, seed: first }))];
}

/** Every name that can be run as it stands; pulse, step and model may be added to any arm. */
export function scenarioNames(): readonly string[] {
  const names = publishedMatrix([1]).map(({ scenario }) => scenario);
  return [...new Set([...names, 'budget+cancel'])].filter((name) => armOf(name) !== undefined);
}
