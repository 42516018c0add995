/** Ĉ of each profile for the published workload, calls per second: one published, two predicted by the engine. */

export const CAPACITIES: Readonly<Record<string, number>> = {
  'qwen2.5-7b': 2.78,
  // What the engine serves when it is kept full, less the 2 % that lie between that and a growing queue.
  'llama-3.1-8b': 1.85,
  'qwen3-14b': 1.07,
};
