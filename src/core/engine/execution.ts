/** One engine request from queue to end: the state the scheduler reads and writes. */

import { Holding } from './blocks.js';
import { Chain } from './chain.js';
import type { ExecutionMeter } from './counters.js';
import { type Prompt, SegmentTokens, type Tokens } from './tokens.js';

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
  readonly minTokens: number;
  /** Infinity when it does not end by itself. */
  readonly stopAfter: number;
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
  /** KV blocks held. */
  readonly blocks = new Holding();
  /** What its blocks hold. */
  readonly chain: Chain;
  /** Cached tokens found at the latest admission. */
  cachedTokens = 0;

  /** Undefined once the front end no longer knows it. */
  listener: ExecutionListener | undefined;
  /** What the counters remember of it. */
  readonly meter: ExecutionMeter = { promptComputed: 0, firstCached: -1, unreportedPreemptions: 0 };

  /** Neighbours in the waiting line. */
  before: Execution | undefined;
  after: Execution | undefined;

  constructor(request: ExecutionRequest, now: number) {
    this.id = request.id;
    this.request = request;
    this.prompt = request.prompt;
    this.promptTokens = request.prompt.length;
    this.maxTokens = request.maxTokens;
    this.minTokens = request.minTokens ?? 0;
    this.stopAfter = request.stopAfter ?? Number.POSITIVE_INFINITY;
    this.priority = request.priority ?? 0;
    this.arrivedAt = request.arrivedAt ?? now;
    const output = request.output ?? new SegmentTokens([[outputSegment--, request.maxTokens]]);
    this.chain = new Chain(request.prompt, output);
  }

  /** Tokens known: prompt and output so far. */
  get tokens(): number {
    return this.promptTokens + this.outputTokens;
  }
}
