/** Models on devices as data: step cost and KV size by name. */

import type { StepCost } from './cost.js';

export interface Profile {
  readonly name: string;
  /** The model a server of this profile names by default. */
  readonly model: string;
  readonly cost: StepCost;
  /** KV blocks of 16 tokens; an estimate good to about 5 %. */
  readonly numGpuBlocks: number;
  readonly maxModelLen: number;
}

// Host cost and efficiency are the same for all models on a device. The efficiency is the one fitted constant: it
// stands for the published 2.78 calls of the standard workload a second. `holdfast calibrate` finds 2.86 with it, and
// docs/published.md tells how far apart these two may lie, and what other values give.
const H100 = { hostMs: 1.3, efficiency: 0.92 } as const;

/** Kernel coefficients fitted to public H100 tables (bf16, FlashAttention 3). */
export const PROFILES: readonly Profile[] = [
  {
    name: 'qwen2.5-7b',
    model: 'Qwen/Qwen2.5-7B-Instruct',
    cost: {
      ...H100,
      fixedMs: 0.85,
      weightsMs: 4.94,
      tokenMs: 17.16e-3,
      pairMs: 0.754e-6,
      contextMs: 19.34e-6,
    },
    numGpuBlocks: 65_000,
    maxModelLen: 32_768,
  },
  {
    name: 'llama-3.1-8b',
    model: 'meta-llama/Llama-3.1-8B-Instruct',
    cost: {
      ...H100,
      fixedMs: 0.92,
      weightsMs: 5.41,
      tokenMs: 17.63e-3,
      pairMs: 1.015e-6,
      contextMs: 44.7e-6,
    },
    numGpuBlocks: 28_400,
    maxModelLen: 131_072,
  },
  {
    name: 'qwen3-14b',
    model: 'Qwen/Qwen3-14B',
    cost: {
      ...H100,
      fixedMs: 1.11,
      weightsMs: 9.97,
      tokenMs: 34.05e-3,
      pairMs: 1.657e-6,
      contextMs: 58.17e-6,
    },
    numGpuBlocks: 17_300,
    maxModelLen: 40_960,
  },
];

/** A cost of `baseMs` a step and `tokenMs` a token, for tests and toys. */
export function linearCost(baseMs: number, tokenMs: number): StepCost {
  return {
    hostMs: baseMs,
    efficiency: 1,
    fixedMs: 0,
    weightsMs: 0,
    tokenMs,
    pairMs: 0,
    contextMs: 0,
  };
}

/** The profile of that name; throws a `RangeError` that lists the names there are. */
export function profile(name: string): Profile {
  const found = PROFILES.find((each) => each.name === name);
  if (found === undefined) {
    throw new RangeError(
      `profile must be one of ${PROFILES.map((each) => each.name).join(', ')}, not ${name}`,
    );
  }
  return found;
}
