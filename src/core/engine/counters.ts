/** Two meters side by side: what vLLM's counters say, and the truth they leave out. */

import type { Execution, FinishReason } from './execution.js';
import type { Step } from './step.js';

/** As vLLM counts; `…Tokens` are tokens, the rest requests. */
export interface VllmCounters {
  /** Whole prompts of executions whose first output was processed. */
  promptTokens: number;
  /** Of these, computed here rather than found in the cache. */
  promptTokensComputed: number;
  promptTokensCached: number;
  generationTokens: number;
  /** Prompt tokens asked of and found in the prefix cache, at first admission. */
  prefixCacheQueries: number;
  prefixCacheHits: number;
  preemptions: number;
  finishedStop: number;
  finishedLength: number;
}

/** The truth. At every moment: computed = counted + hidden + recomputed + pending prompt tokens. */
export interface TrueCounters {
  executionsReceived: number;
  /** Scheduled at least once. */
  executionsStarted: number;
  executionsFinished: number;
  executionsAborted: number;
  /** Aborted before their first output token although scheduled. */
  executionsHidden: number;
  /** Prompt tokens of all issued steps, whoever they were for. */
  computedPromptTokens: number;
  /** Of these: for executions that vLLM's prompt counter will never count. */
  hiddenPromptTokens: number;
  /** Of these: for executions that were aborted later, hidden or counted. */
  abortedPromptTokens: number;
  /** Of the aborted executions' computed prompt tokens, those in steps not processed at the abort. */
  inFlightPromptTokensAtAbort: number;
  /** Computed again after a preemption. */
  recomputedPromptTokens: number;
  /** Of executions still on their way to a first output token. */
  pendingPromptTokens: number;
  preemptions: number;
  steps: number;
}

/** What the gauges show: the scheduler as it stood after the latest processed step. */
export interface Gauges {
  running: number;
  waiting: number;
  /** Share of KV blocks in use, 0 to 1. */
  kvCacheUsage: number;
}

/** What the counters remember of one execution. */
export interface ExecutionMeter {
  /** Prompt tokens computed for it in issued steps. */
  promptComputed: number;
  /** Cached tokens at its first admission; -1 before that. */
  firstCached: number;
  /** Preemptions not yet reported with an output. */
  unreportedPreemptions: number;
}

const promptPart = (execution: Execution, upTo: number): number => Math.min(execution.promptTokens, upTo);

export class Counters {
  readonly vllm: VllmCounters = {
    promptTokens: 0,
    promptTokensComputed: 0,
    promptTokensCached: 0,
    generationTokens: 0,
    prefixCacheQueries: 0,
    prefixCacheHits: 0,
    preemptions: 0,
    finishedStop: 0,
    finishedLength: 0,
  };
  readonly truth: TrueCounters = {
    executionsReceived: 0,
    executionsStarted: 0,
    executionsFinished: 0,
    executionsAborted: 0,
    executionsHidden: 0,
    computedPromptTokens: 0,
    hiddenPromptTokens: 0,
    abortedPromptTokens: 0,
    inFlightPromptTokensAtAbort: 0,
    recomputedPromptTokens: 0,
    pendingPromptTokens: 0,
    preemptions: 0,
    steps: 0,
  };
  readonly gauges: Gauges = { running: 0, waiting: 0, kvCacheUsage: 0 };
  // Lookups of admissions whose step is not processed yet: exported with the next processed step.
  #queries = 0;
  #hits = 0;
  readonly #prefixCaching: boolean;

  /** Without prefix caching nothing is looked up, so nothing is asked either. */
  constructor(prefixCaching = true) {
    this.#prefixCaching = prefixCaching;
  }

  received(): void {
    this.truth.executionsReceived += 1;
  }

  /** A step was fixed and handed to the device: from here its tokens are spent. */
  issued(step: Step): void {
    const truth = this.truth;
    truth.steps += 1;
    for (const execution of step.preempted) {
      truth.preemptions += 1;
      execution.meter.unreportedPreemptions += 1;
    }
    for (const execution of step.admitted) this.#admitted(execution);
    for (let at = 0; at < step.executions.length; at += 1) {
      const execution = step.executions[at] as Execution;
      const base = step.bases[at] as number;
      if (base >= execution.promptTokens) continue;
      const tokens = promptPart(execution, base + (step.tokens[at] as number)) - base;
      truth.computedPromptTokens += tokens;
      execution.meter.promptComputed += tokens;
      if (execution.outputTokens > 0) truth.recomputedPromptTokens += tokens;
      else truth.pendingPromptTokens += tokens;
    }
  }

  /** One output token was processed; the first one makes the prompt count. */
  output(execution: Execution, ended: FinishReason | undefined): void {
    if (ended !== undefined) this.#finished(ended);
    const { vllm, truth } = this;
    const meter = execution.meter;
    vllm.generationTokens += 1;
    vllm.preemptions += meter.unreportedPreemptions;
    meter.unreportedPreemptions = 0;
    if (execution.outputTokens > 1) return;
    const counted = execution.promptTokens - meter.firstCached;
    vllm.promptTokens += execution.promptTokens;
    vllm.promptTokensCached += meter.firstCached;
    vllm.promptTokensComputed += counted;
    truth.pendingPromptTokens -= meter.promptComputed;
    truth.recomputedPromptTokens += meter.promptComputed - counted;
  }

  /** Call before the scheduler forgets it. */
  aborted(execution: Execution): void {
    const truth = this.truth;
    const { computed, inFlight, meter } = execution;
    truth.executionsAborted += 1;
    truth.abortedPromptTokens += meter.promptComputed;
    truth.inFlightPromptTokensAtAbort +=
      promptPart(execution, computed) - promptPart(execution, computed - inFlight);
    if (execution.outputTokens > 0 || meter.firstCached < 0) return;
    truth.executionsHidden += 1;
    truth.hiddenPromptTokens += meter.promptComputed;
    truth.pendingPromptTokens -= meter.promptComputed;
  }

  /** A step's result was processed: only now do gauges and cache counters move. */
  processed(running: number, waiting: number, kvCacheUsage: number): void {
    this.gauges.running = running;
    this.gauges.waiting = waiting;
    this.gauges.kvCacheUsage = kvCacheUsage;
    this.vllm.prefixCacheQueries += this.#queries;
    this.vllm.prefixCacheHits += this.#hits;
    this.#queries = 0;
    this.#hits = 0;
  }

  #finished(reason: FinishReason): void {
    this.truth.executionsFinished += 1;
    if (reason === 'stop') this.vllm.finishedStop += 1;
    else this.vllm.finishedLength += 1;
  }

  #admitted(execution: Execution): void {
    const meter = execution.meter;
    if (meter.firstCached >= 0) return;
    meter.firstCached = execution.cachedTokens;
    this.truth.executionsStarted += 1;
    if (this.#prefixCaching) this.#queries += execution.promptTokens;
    this.#hits += execution.cachedTokens;
  }
}
