/** From a planned call to the engine's prompt: tokens named by segment, the shared prefix first. */

import type { PlannedCall } from '../drill/plan.js';
import { Prompt } from '../engine/tokens.js';

const PREFIX_SEGMENT = 0;

/** The same call gives equal tokens, another call others but for the prefix that all have in common. */
export function promptOf({ index, promptTokens, sharedPrefixTokens }: PlannedCall): Prompt {
  const own = [index + 1, promptTokens - sharedPrefixTokens] as const;
  return Prompt.ofSegments(sharedPrefixTokens > 0 ? [[PREFIX_SEGMENT, sharedPrefixTokens], own] : [own]);
}
