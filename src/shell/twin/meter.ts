/** The histograms of vLLM's front end: when each execution was queued, scheduled, answered. */

import type { EngineObserver } from '../../core/engine/engine.js';
import type { Execution, FinishReason } from '../../core/engine/execution.js';
import type { Step } from '../../core/engine/step.js';
import { Histogram } from '../../core/meter/histogram.js';
import type { Clock } from '../../core/time/clock.js';

const FIRST_TOKEN = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640,
  2560,
];
const PER_TOKEN = [
  0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80,
];
const PER_REQUEST = [
  0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680,
];
const ITERATION = [1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384];
const SAMPLES = [1, 2, 5, 10, 20];
const PREEMPTIONS = [1, 2, 3, 4, 5, 10, 20];

/** 1, 2 and 5 times powers of ten, up to `most`. */
export function roundBounds(most: number): number[] {
  const bounds: number[] = [];
  for (let power = 1; power <= most; power *= 10) {
    for (const factor of [1, 2, 5]) if (factor * power <= most) bounds.push(factor * power);
  }
  return bounds;
}

interface Moments {
  queuedAt: number;
  scheduledAt: number;
  firstTokenAt: number;
  lastTokenAt: number;
}

/** Named as vLLM names them, without the prefix. */
export class FrontMeter implements EngineObserver {
  readonly histograms;
  readonly #clock: Clock;
  readonly #moments = new Map<Execution, Moments>();
  #promptTokens = 0;
  #newTokens = 0;

  constructor(clock: Clock, maxModelLen: number) {
    this.#clock = clock;
    const tokens = roundBounds(maxModelLen);
    this.histograms = {
      request_prompt_tokens: new Histogram(tokens),
      request_generation_tokens: new Histogram(tokens),
      iteration_tokens_total: new Histogram(ITERATION),
      request_max_num_generation_tokens: new Histogram(tokens),
      request_params_n: new Histogram(SAMPLES),
      request_params_max_tokens: new Histogram(tokens),
      time_to_first_token_seconds: new Histogram(FIRST_TOKEN),
      inter_token_latency_seconds: new Histogram(PER_TOKEN),
      request_time_per_output_token_seconds: new Histogram(PER_TOKEN),
      e2e_request_latency_seconds: new Histogram(PER_REQUEST),
      request_queue_time_seconds: new Histogram(PER_REQUEST),
      request_inference_time_seconds: new Histogram(PER_REQUEST),
      request_prefill_time_seconds: new Histogram(PER_REQUEST),
      request_decode_time_seconds: new Histogram(PER_REQUEST),
      request_num_preemptions: new Histogram(PREEMPTIONS),
      request_prefill_kv_computed_tokens: new Histogram(tokens),
    };
  }

  added(execution: Execution): void {
    const at = this.#clock.now();
    this.#moments.set(execution, { queuedAt: at, scheduledAt: at, firstTokenAt: at, lastTokenAt: at });
  }

  scheduled(step: Step): void {
    const at = this.#clock.now();
    for (const execution of step.admitted) {
      const moments = this.#moments.get(execution);
      if (moments !== undefined && execution.preemptions === 0) moments.scheduledAt = at;
    }
  }

  aborting(execution: Execution): void {
    this.#moments.delete(execution);
  }

  updated(): void {
    if (this.#newTokens > 0) {
      this.histograms.iteration_tokens_total.observe(this.#promptTokens + this.#newTokens);
    }
    this.#promptTokens = 0;
    this.#newTokens = 0;
  }

  /** Call for each output the front end hears. */
  output(execution: Execution, ended: FinishReason | undefined): void {
    const moments = this.#moments.get(execution);
    if (moments === undefined) return;
    const at = this.#clock.now();
    this.#newTokens += 1;
    if (execution.outputTokens === 1) {
      this.#promptTokens += execution.promptTokens - execution.meter.firstCached;
      moments.firstTokenAt = at;
      this.histograms.time_to_first_token_seconds.observe((at - execution.arrivedAt) / 1_000);
    } else this.histograms.inter_token_latency_seconds.observe((at - moments.lastTokenAt) / 1_000);
    moments.lastTokenAt = at;
    if (ended !== undefined) this.#finished(execution, moments, at);
  }

  /** One request's answers have all ended: `tokens` is the longest. */
  requestFinished(n: number, tokens: number): void {
    this.histograms.request_params_n.observe(n);
    this.histograms.request_max_num_generation_tokens.observe(tokens);
  }

  #finished(execution: Execution, moments: Moments, at: number): void {
    this.#moments.delete(execution);
    const seconds = (from: number, to: number): number => (to - from) / 1_000;
    const decode = seconds(moments.firstTokenAt, moments.lastTokenAt);
    const { histograms } = this;
    histograms.request_prompt_tokens.observe(execution.promptTokens);
    histograms.request_generation_tokens.observe(execution.outputTokens);
    histograms.request_params_max_tokens.observe(execution.maxTokens);
    histograms.request_time_per_output_token_seconds.observe(
      execution.outputTokens > 1 ? decode / (execution.outputTokens - 1) : 0,
    );
    histograms.e2e_request_latency_seconds.observe(seconds(execution.arrivedAt, at));
    histograms.request_queue_time_seconds.observe(seconds(moments.queuedAt, moments.scheduledAt));
    histograms.request_inference_time_seconds.observe(seconds(moments.scheduledAt, moments.lastTokenAt));
    histograms.request_prefill_time_seconds.observe(seconds(moments.scheduledAt, moments.firstTokenAt));
    histograms.request_decode_time_seconds.observe(decode);
    histograms.request_num_preemptions.observe(execution.preemptions);
    histograms.request_prefill_kv_computed_tokens.observe(
      execution.promptTokens - execution.meter.firstCached,
    );
  }
}
