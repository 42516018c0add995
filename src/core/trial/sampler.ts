/** What the gauges and counters show, once a second of the run. */

import type { Control } from '../control/control.js';
import type { Engine } from '../engine/engine.js';
import type { Clock } from '../time/clock.js';

const EVERY_MS = 1_000;

export interface Sample {
  readonly atMs: number;
  /** The engine's own gauges, as of its last processed step. */
  readonly running: number;
  readonly waiting: number;
  readonly kvCacheUsage: number;
  /** The gateway's line. */
  readonly line: number;
  /** Counters: cumulative. */
  readonly promptTokens: number;
  readonly prefixCacheQueries: number;
  readonly prefixCacheHits: number;
  readonly generationTokens: number;
  readonly computedPromptTokens: number;
  readonly hiddenPromptTokens: number;
  readonly executionsCreated: number;
  readonly executionsFinished: number;
  readonly executionsAborted: number;
}

export interface SamplerParts {
  readonly control: Control;
  readonly engine: Engine;
  /** Sampling stops once this holds. */
  readonly done: () => boolean;
}

export class Sampler {
  readonly samples: Sample[] = [];
  readonly #clock: Clock;
  readonly #parts: SamplerParts;

  constructor(clock: Clock, parts: SamplerParts) {
    this.#clock = clock;
    this.#parts = parts;
  }

  start(): void {
    this.samples.push(this.#take());
    if (!this.#parts.done()) this.#clock.after(EVERY_MS, () => this.start());
  }

  #take(): Sample {
    const { control, engine } = this.#parts;
    const { gauges, vllm, truth } = engine.counters;
    return {
      atMs: this.#clock.now(),
      running: gauges.running,
      waiting: gauges.waiting,
      kvCacheUsage: gauges.kvCacheUsage,
      line: control.lineLength,
      promptTokens: vllm.promptTokens,
      prefixCacheQueries: vllm.prefixCacheQueries,
      prefixCacheHits: vllm.prefixCacheHits,
      generationTokens: vllm.generationTokens,
      computedPromptTokens: truth.computedPromptTokens,
      hiddenPromptTokens: truth.hiddenPromptTokens,
      executionsCreated: truth.executionsReceived,
      executionsFinished: truth.executionsFinished,
      executionsAborted: truth.executionsAborted,
    };
  }
}
