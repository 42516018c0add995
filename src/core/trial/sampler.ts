/** What the gauges and counters show, once a second of the run. */

import type { Control } from '../control/control.js';
import type { Sample } from '../drill/record.js';
import type { Engine } from '../engine/engine.js';
import type { Clock } from '../time/clock.js';

const EVERY_MS = 1_000;

/** In virtual time everything can be read. */
export type TrialSample = Required<Sample>;

export interface SamplerParts {
  readonly control: Control;
  readonly engine: Engine;
  /** Sampling stops once this holds. */
  readonly done: () => boolean;
}

export class Sampler {
  readonly samples: TrialSample[] = [];
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

  #take(): TrialSample {
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
