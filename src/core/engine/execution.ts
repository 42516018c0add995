/** One engine request from queue to end: the state the scheduler reads and writes. */

import type { ExecutionMeter } from './counters.js';
import { type Digest, type Prompt, SegmentTokens, type Tokens } from './tokens.js';

/** vLLM's finish reasons that a client can cause here. */
export type FinishReason = 'stop' | 'length' | 'abort';

export type ExecutionStatus = 'new' | 'waiting' | 'running' | 'preempted' | 'finished';

/** What the front end asks of the engine. */
export interface ExecutionRequest {
  /** Unique among live executions. */
  readonly id: string;
  readonly prompt: Prompt;
  /** The most output tokens, ≥ 1. */
  readonly maxTokens: number;
  /** Output tokens after which the model ends by itself; undefined = never (vLLM's ignore_eos). */
  readonly stopAfter?: number;
  /** No ending by itself before this many output tokens. */
  readonly minTokens?: number;
  /** Smaller is more urgent; read by the policy `priority` only. */
  readonly priority?: number;
  /** The output's tokens where they are known, so that a later prompt can repeat them. */
  readonly output?: Tokens;
}

// Segment numbers below zero are never used by callers' prompts.
let outputSegment = -1;

/**
 * What the front end hears of one execution: each output token, the first when `execution.outputTokens` is 1, the
 * last with the reason it ended. Nothing after it has asked for the abort.
 */
export type ExecutionListener = (execution: Execution, ended: FinishReason | undefined) => void;

export class Execution {
  readonly id: string;
  readonly request: ExecutionRequest;
  readonly prompt: Prompt;
  readonly promptTokens: number;
  readonly maxTokens: number;
  readonly priority: number;
  /** When the front end took it, in the clock's milliseconds. */
  readonly arrivedAt: number;
  status: ExecutionStatus = 'new';
  finishReason: FinishReason | undefined;

  /** Output tokens known to the scheduler. */
  outputTokens = 0;
  /** Tokens scheduled so far; advanced when a step is issued, before it ran. */
  computed = 0;
  /** Tokens of issued steps whose result is not processed. */
  inFlight = 0;
  /** Output tokens that issued steps will bring. */
  placeholders = 0;
  preemptions = 0;
  /** KV blocks held, in token order. */
  readonly blocks: number[] = [];
  /** The first so many of `blocks` carry a hash. */
  hashedBlocks = 0;
  /** Cached tokens found at the latest admission. */
  cachedTokens = 0;

  /** Undefined once the front end no longer knows it. */
  listener: ExecutionListener | undefined;
  /** What the counters remember of it. */
  readonly meter: ExecutionMeter = { promptComputed: 0, firstCached: -1, unreportedPreemptions: 0 };

  /** Neighbours in the waiting line. */
  before: Execution | undefined;
  after: Execution | undefined;

  readonly #output: Tokens;
  readonly #lo: number[] = [];
  readonly #hi: number[] = [];

  constructor(request: ExecutionRequest, arrivedAt: number) {
    this.id = request.id;
    this.request = request;
    this.prompt = request.prompt;
    this.promptTokens = request.prompt.length;
    this.maxTokens = request.maxTokens;
    this.priority = request.priority ?? 0;
    this.arrivedAt = arrivedAt;
    this.#output = request.output ?? new SegmentTokens([[outputSegment--, request.maxTokens]]);
  }

  /** Tokens known: prompt and output so far. */
  get tokens(): number {
    return this.promptTokens + this.outputTokens;
  }

  /** Sets `into` to the hash of full block `index`; the block's tokens must be known. */
  hash(into: Digest, index: number, blockSize: number): void {
    const inPrompt = Math.floor(this.promptTokens / blockSize);
    if (index < inPrompt) {
      this.prompt.hash(into, index, blockSize);
      return;
    }
    for (let at = this.#lo.length; at <= index - inPrompt; at += 1) {
      this.#hashOutput(into, inPrompt + at, inPrompt, blockSize);
      this.#lo.push(into.lo);
      this.#hi.push(into.hi);
    }
    into.set(this.#lo[index - inPrompt] as number, this.#hi[index - inPrompt] as number);
  }

  #hashOutput(into: Digest, index: number, inPrompt: number, blockSize: number): void {
    if (index > inPrompt) {
      into.set(this.#lo[index - inPrompt - 1] as number, this.#hi[index - inPrompt - 1] as number);
    } else if (index > 0) this.prompt.hash(into, index - 1, blockSize);
    else this.prompt.root(into);
    const start = index * blockSize;
    const end = start + blockSize;
    if (start < this.promptTokens) this.prompt.tokens.fold(into, start, this.promptTokens);
    const from = Math.max(0, start - this.promptTokens);
    this.#output.fold(into, from, end - this.promptTokens);
  }
}
