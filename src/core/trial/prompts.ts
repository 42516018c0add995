/** From a planned call to the engine's prompt: tokens named by segment, the shared prefix first. */

import type { PlannedCall } from '../drill/plan.js';
import { TRACE_BLOCK_TOKENS } from '../drill/trace-lines.js';
import { Prompt } from '../engine/tokens.js';

const PREFIX_SEGMENT = 0;

/** The same call gives equal tokens, another call others but for the prefix or the named blocks they have in common. */
export function promptOf(call: PlannedCall): Prompt {
  const { index, promptTokens, sharedPrefixTokens, blocks = [] } = call;
  const own = index + 1;
  if (blocks.length > 0) return Prompt.ofSegments(blockSegments(blocks, promptTokens, own));
  const rest = [own, promptTokens - sharedPrefixTokens] as const;
  return Prompt.ofSegments(sharedPrefixTokens > 0 ? [[PREFIX_SEGMENT, sharedPrefixTokens], rest] : [rest]);
}

type Segment = readonly [segment: number, length: number];

/** Block names below zero, so that none is a call's own segment; what the names do not reach is the call's own. */
function blockSegments(blocks: readonly number[], promptTokens: number, own: number): readonly Segment[] {
  const segments: Segment[] = [];
  let left = promptTokens;
  for (const block of blocks) {
    if (left <= 0) break;
    const length = Math.min(left, TRACE_BLOCK_TOKENS);
    segments.push([-1 - block, length]);
    left -= length;
  }
  return left > 0 ? [...segments, [own, left]] : segments;
}
