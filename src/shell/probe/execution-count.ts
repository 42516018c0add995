/** How many executions a run made, by the best source there is, and who that was. */

import type { PlannedCall } from '../../core/drill/plan.js';
import type { AttemptRecord } from '../../core/drill/record.js';
import type { RisingCounter } from './scrape.js';

export interface ExecutionCount {
  readonly executions: number | undefined;
  /** Null where nobody could count. */
  readonly countedBy: string | null;
}

export interface CountParts {
  /** How much a counter rose over the run, where somebody has it. */
  readonly rise: (counter: RisingCounter) => number | undefined;
  readonly planned: readonly PlannedCall[];
  readonly attempts: readonly AttemptRecord[];
  /** Prompts have exactly as many tokens as planned. */
  readonly exactPrompts: boolean;
}

/**
 * Ids seen in answers are no count: they miss exactly the executions whose client had left. Whatever else reaches
 * the server during the run is counted with it.
 */
export function executionCount({ rise, planned, attempts, exactPrompts }: CountParts): ExecutionCount {
  const byEngine = rise('engineExecutions');
  if (byEngine !== undefined) return { executions: byEngine, countedBy: 'the engine: executions received' };
  const byGateway = rise('gatewayExecutions');
  if (byGateway !== undefined) return { executions: byGateway, countedBy: 'the gateway: executions started' };
  const queries = rise('prefixCacheQueries') ?? 0;
  const tokens = attempts.reduce((sum, { call }) => sum + (planned[call]?.promptTokens ?? 0), 0);
  if (!exactPrompts || queries === 0 || tokens === 0) return { executions: undefined, countedBy: null };
  return {
    executions: Math.round((queries * attempts.length) / tokens),
    countedBy:
      'an estimate: vllm:prefix_cache_queries_total ÷ mean prompt tokens, which counts admissions and misses what left the queue unstarted',
  };
}
