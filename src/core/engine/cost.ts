/** How long a step takes: a closed form over its tokens, prefill pairs and decode contexts. */

import type { Step } from './step.js';

/** The coefficients of one model on one device, all in milliseconds. */
export interface StepCost {
  /** Host work of each step. */
  readonly hostMs: number;
  /** Share of the kernels' published speed that a server reaches; the one calibrated constant. */
  readonly efficiency: number;
  /** Kernel time of a step whatever its size. */
  readonly fixedMs: number;
  /** Reading the weights once. */
  readonly weightsMs: number;
  /** Dense work of one token. */
  readonly tokenMs: number;
  /** Attention of one prefill token to one token before it. */
  readonly pairMs: number;
  /** Attention of a decoding token to one token of its context. */
  readonly contextMs: number;
}

/** What the closed form reads from a step. */
export interface StepLoad {
  readonly tokens: number;
  /** Sum over prefill chunks of n × (context before + n / 2). */
  readonly prefillPairs: number;
  /** Sum of the contexts of decoding sequences. */
  readonly decodeContext: number;
}

/** The load of a scheduled step: one token past the prompt is a decode, everything else prefill. */
export function stepLoad(step: Step): StepLoad {
  let prefillPairs = 0;
  let decodeContext = 0;
  for (let at = 0; at < step.executions.length; at += 1) {
    const tokens = step.tokens[at] as number;
    const base = step.bases[at] as number;
    if (tokens === 1 && base >= (step.executions[at]?.promptTokens ?? 0)) decodeContext += base;
    else prefillPairs += tokens * (base + tokens / 2);
  }
  return { tokens: step.total, prefillPairs, decodeContext };
}

/** Milliseconds of one step; an empty step takes none. Weights and dense work overlap, hence the cubes. */
export function stepMs(cost: StepCost, load: StepLoad): number {
  if (load.tokens === 0) return 0;
  const dense = Math.cbrt(cost.weightsMs ** 3 + (cost.tokenMs * load.tokens) ** 3);
  const attention = cost.pairMs * load.prefillPairs + cost.contextMs * load.decodeContext;
  return cost.hostMs + (cost.fixedMs + dense + attention) / cost.efficiency;
}
