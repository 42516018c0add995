/** The least engine time that an answer can cost, whatever else is served beside it: what bounds are made of. */

import type { PlannedCall } from '../drill/plan.js';
import type { StepCost } from '../engine/cost.js';
import { type EngineOptions, engineOptions } from '../engine/options.js';

/**
 * Milliseconds of the engine's time, never more than a call's true part in any run, so that the sum over any calls is
 * no more than the time in which they were served. It assumes every step as full as steps can be, every shared prefix
 * (or named block) found in the cache, and no step shared worse than among the most executions that memory holds.
 */
export function leastWorkMs(
  call: PlannedCall,
  cost: StepCost,
  engine: Partial<EngineOptions>,
  together: number,
): number {
  const { blockSize, enablePrefixCaching, maxNumBatchedTokens } = engineOptions(engine);
  const { promptTokens, responseTokens } = call;
  const shared = call.blocks === undefined ? call.sharedPrefixTokens : promptTokens;
  const cachable = Math.floor(Math.min(shared, promptTokens - 1) / blockSize) * blockSize;
  const cached = enablePrefixCaching ? cachable : 0;
  const fresh = promptTokens - cached;
  // The first answer token comes with the last prompt token; each further one takes a step.
  const decodes = responseTokens - 1;
  const pairs = fresh * (cached + fresh / 2);
  const contexts = decodes * (promptTokens + (decodes - 1) / 2);
  const kernels = cost.tokenMs * (fresh + decodes) + cost.pairMs * pairs + cost.contextMs * contexts;
  const steps = Math.max(decodes / together, (fresh + decodes) / maxNumBatchedTokens);
  return kernels / cost.efficiency + steps * (cost.hostMs + cost.fixedMs / cost.efficiency);
}

/** The most executions that the engine's memory holds at once, were each the smallest of `calls`. */
export function mostTogether(calls: readonly PlannedCall[], engine: Partial<EngineOptions>): number {
  const { blockSize, numGpuBlocks, maxNumSeqs, enablePrefixCaching } = engineOptions(engine);
  const least = calls.reduce((fewest, call) => {
    const shared = call.blocks === undefined ? call.sharedPrefixTokens : call.promptTokens;
    return Math.min(fewest, call.promptTokens - (enablePrefixCaching ? shared : 0));
  }, Number.POSITIVE_INFINITY);
  const blocks = Math.max(1, Math.floor(least / blockSize));
  return Math.max(1, Math.min(maxNumSeqs, Math.floor(numGpuBlocks / blocks)));
}
