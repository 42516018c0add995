/** What Holdfast is to reach, and how far it came: said whether it was reached or not. */

import type { Compared } from './comparison.js';
import { added, type Figure, figureOf, named, pipeOf, rateRatio } from './figures.js';
import { HOLDFAST_NAME } from './own.js';
import { LITELLM_NAME, PORTKEY_NAME, SMG_NAME, VLLM_ROUTER_NAME } from './peers.js';
import { WORKLOAD, WORKLOADS } from './workload.js';

export interface Target {
  /** In words, with its bound. */
  readonly words: string;
  readonly bound: number;
  /** Whether the bound is the most or the least. */
  readonly is: 'least' | 'most';
  /** NaN where it could not be measured. */
  readonly reached: Figure;
  readonly unit: string;
  readonly decimals: number;
}

const OF_THE_PIPE = 0.7;
const TIMES_SLOW_ONES = 10;
/** What counts as level: the range of one contender over the rounds is about as wide. */
const LEVEL = 0.9;
const ADDED_MS = 1;
const HELD_KILOBYTES = 40;
const HELD_BODY_BYTES = 1_024;

/** Whether the middle of the rounds is on the right side; undefined where nothing was measured. */
export function met({ bound, is, reached }: Target): boolean | undefined {
  if (!Number.isFinite(reached.median)) return undefined;
  return is === 'least' ? reached.median >= bound : reached.median <= bound;
}

export function targetsOf(all: readonly Compared[]): readonly Target[] {
  const holdfast = named(all, HOLDFAST_NAME);
  if (holdfast === undefined) return [];
  const { held } = holdfast;
  const bytes = typeof held === 'object' ? held.bytesPerStream - HELD_BODY_BYTES : Number.NaN;
  return [
    ...WORKLOADS.flatMap((workload) => {
      const { about } = WORKLOAD[workload];
      const beside = (words: string, name: string | undefined, bound: number, decimals: number): Target => {
        const other = name === undefined ? pipeOf(all) : named(all, name);
        const reached = rateRatio(holdfast, other, workload);
        return { words: `${about}: ${words}`, bound, is: 'least', reached, unit: '×', decimals };
      };
      return [
        beside(`rate of the bare pipe × ${OF_THE_PIPE} at least`, undefined, OF_THE_PIPE, 2),
        beside(`ten times the rate of ${PORTKEY_NAME}`, PORTKEY_NAME, TIMES_SLOW_ONES, 1),
        beside(`ten times the rate of ${LITELLM_NAME}`, LITELLM_NAME, TIMES_SLOW_ONES, 0),
        beside(`ahead of ${SMG_NAME}`, SMG_NAME, 1, 2),
        beside(`level with ${VLLM_ROUTER_NAME} (× ${LEVEL})`, VLLM_ROUTER_NAME, LEVEL, 2),
        {
          words: `${about}: at most ${ADDED_MS} ms added at half load, median`,
          bound: ADDED_MS,
          is: 'most' as const,
          reached: added(holdfast, workload, 'p50', workload === 'stream' ? 'firstMs' : 'endMs'),
          unit: workload === 'stream' ? ' ms to the first event' : ' ms',
          decimals: 2,
        },
      ];
    }),
    {
      words: `at most ${HELD_KILOBYTES} kB a held stream beside its body`,
      bound: HELD_KILOBYTES,
      is: 'most' as const,
      reached: figureOf([bytes / 1e3]),
      unit: ' kB',
      decimals: 1,
    },
  ];
}
