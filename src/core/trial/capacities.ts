/**
 * Ĉ of each profile for the published workload, calls per second, all in the published unit.
 *
 * `holdfast calibrate --profile NAME` finds 2.859, 1.915 and 1.091: the highest rates of evenly spaced calls at which
 * no queue grows. The paper found 2.78 for the first, 2.8 % less, by raising the rate until a queue began to grow; so
 * the other two are taken 2.8 % lower as well.
 */
export const CAPACITIES: Readonly<Record<string, number>> = {
  'qwen2.5-7b': 2.78,
  'llama-3.1-8b': 1.86,
  'qwen3-14b': 1.06,
};
