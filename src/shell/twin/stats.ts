/** The twin's state as numbers, for tests and for the command that runs it. */

import type { TrueCounters, VllmCounters } from '../../core/engine/counters.js';
import type { Engine } from '../../core/engine/engine.js';
import type { PacedClock } from './paced-clock.js';

export interface TwinStats extends TrueCounters {
  /** Requests for work that came over HTTP, refused ones too. */
  readonly requests: number;
  /** Executions in the batch, in the queue, and those a client waits for. */
  readonly running: number;
  readonly waiting: number;
  readonly live: number;
  readonly generatedTokens: number;
  /** What vLLM's own meter says. */
  readonly vllm: Readonly<VllmCounters>;
}

export function twinStats(engine: Engine, clock: PacedClock, requests: number): TwinStats {
  clock.catchUp();
  const { vllm, truth } = engine.counters;
  return {
    ...truth,
    requests,
    running: engine.scheduler.running,
    waiting: engine.scheduler.waiting,
    live: engine.live,
    generatedTokens: vllm.generationTokens,
    vllm: { ...vllm },
  };
}
