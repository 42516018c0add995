/** One engine request from queue to end: the state the scheduler reads and writes. */

import type { BlockList } from './blocks.js';
import type { ExecutionMeter } from './counters.js';
import { Digest, type Prompt, SegmentTokens, type Tokens } from './tokens.js';

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
  /** When the front end took it, if that was before it is handed in. */
  readonly arrivedAt?: number;
  /** The output's tokens where they are known, so that a later prompt can repeat them. */
  readonly output?: Tokens;
}

/** The buffer of whoever holds no block. */
export const NO_BLOCKS = new Int32Array(0);

const digest = new Digest();

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
  readonly blocks: BlockList = { ids: NO_BLOCKS, length: 0 };
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

  /** The hashes of the blocks after the prompt's own. */
  readonly outputLo: number[] = [];
  readonly outputHi: number[] = [];
  readonly #output: Tokens;

  constructor(request: ExecutionRequest, now: number) {
    this.id = request.id;
    this.request = request;
    this.prompt = request.prompt;
    this.promptTokens = request.prompt.length;
    this.maxTokens = request.maxTokens;
    this.priority = request.priority ?? 0;
    this.arrivedAt = request.arrivedAt ?? now;
    this.#output = request.output ?? new SegmentTokens([[outputSegment--, request.maxTokens]]);
  }

  /** Tokens known: prompt and output so far. */
  get tokens(): number {
    return this.promptTokens + this.outputTokens;
  }

  /** Tokens it will come to hold if nothing ends it sooner. */
  get most(): number {
    return this.promptTokens + this.maxTokens;
  }

  /** Full blocks that lie in the prompt alone. */
  promptBlocks(blockSize: number): number {
    return Math.floor(this.promptTokens / blockSize);
  }

  /** Makes {@link outputLo} and the prompt's hashes hold those of the first `count` full blocks, all known. */
  hashUpTo(count: number, blockSize: number): void {
    const inPrompt = this.promptBlocks(blockSize);
    this.prompt.hashUpTo(Math.min(count, inPrompt), blockSize);
    for (let index = inPrompt + this.outputLo.length; index < count; index += 1) {
      this.#hashOutput(index, inPrompt, blockSize);
      this.outputLo.push(digest.lo);
      this.outputHi.push(digest.hi);
    }
  }

  #hashOutput(index: number, inPrompt: number, blockSize: number): void {
    const { prompt } = this;
    if (index > inPrompt) {
      digest.set(
        this.outputLo[index - inPrompt - 1] as number,
        this.outputHi[index - inPrompt - 1] as number,
      );
    } else if (index > 0) digest.set(prompt.lo[index - 1] as number, prompt.hi[index - 1] as number);
    else prompt.root(digest);
    const start = index * blockSize;
    const end = start + blockSize;
    if (start < this.promptTokens) prompt.tokens.fold(digest, start, this.promptTokens);
    this.#output.fold(digest, Math.max(0, start - this.promptTokens), end - this.promptTokens);
  }
}
