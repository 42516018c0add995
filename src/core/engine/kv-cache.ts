/** Gives executions their KV blocks and finds what earlier ones left behind. */

import { assert } from '../assert.js';
import { BlockPool, type Hits } from './blocks.js';
import type { Execution } from './execution.js';
import type { EngineOptions } from './options.js';

export class KvCache {
  readonly pool: BlockPool;
  readonly #blockSize: number;
  readonly #maxModelLen: number;
  readonly #caching: boolean;

  constructor(options: EngineOptions) {
    this.pool = new BlockPool(options.numGpuBlocks);
    this.#blockSize = options.blockSize;
    this.#maxModelLen = options.maxModelLen;
    this.#caching = options.enablePrefixCaching;
  }

  /** Fills `hits` with the remembered blocks that begin `execution`, never its last token's; their tokens. */
  lookup({ chain, tokens }: Execution, hits: Hits): number {
    if (!this.#caching) return 0;
    const most = Math.floor((tokens - 1) / this.#blockSize);
    chain.hashUpTo(most, this.#blockSize);
    return this.pool.find(chain, most, hits) * this.#blockSize;
  }

  /** Blocks for `tokens` more of a running execution; false, and nothing changed, when they do not fit. */
  grow(execution: Execution, tokens: number): boolean {
    const { blocks } = execution;
    const upTo = Math.min(execution.computed + tokens, this.#maxModelLen);
    // Nearly every call brings one token to a block that is there and stays unfinished.
    if (upTo <= blocks.length * this.#blockSize && upTo < (blocks.remembered + 1) * this.#blockSize)
      return true;
    const missing = Math.max(0, this.#blocksFor(upTo) - blocks.length);
    if (missing > this.pool.free) return false;
    this.#extend(execution, missing, upTo);
    return true;
  }

  /** As {@link grow} for one that holds nothing yet, but for hits: its whole known length must fit first. */
  admit(execution: Execution, tokens: number, hits: Hits): boolean {
    const { blocks } = execution;
    assert(blocks.length === 0, `${execution.id} holds blocks before its admission`);
    const shared = hits.ends.at(-1) ?? 0;
    const whole = this.#blocksFor(Math.min(execution.tokens, this.#maxModelLen)) - shared;
    if (whole + this.pool.freeAmong(hits) > this.pool.free) return false;
    const upTo = Math.min(shared * this.#blockSize + tokens, this.#maxModelLen);
    this.pool.share(hits, blocks);
    this.#extend(execution, this.#blocksFor(upTo) - shared, upTo);
    return true;
  }

  /** Lets the full blocks among the first `tokens` be found by others. */
  remember({ blocks, chain }: Execution, tokens: number): void {
    if (tokens < (blocks.remembered + 1) * this.#blockSize || !this.#caching) return;
    const full = Math.floor(tokens / this.#blockSize);
    chain.hashUpTo(full, this.#blockSize);
    this.pool.remember(blocks, chain, full);
  }

  /** Takes all its blocks back; what they remember stays until they are taken again. */
  release(execution: Execution): void {
    this.pool.release(execution.blocks);
  }

  #extend(execution: Execution, missing: number, upTo: number): void {
    if (missing > 0) this.pool.take(execution.blocks, missing);
    this.remember(execution, Math.min(upTo, execution.tokens));
  }

  #blocksFor(tokens: number): number {
    return Math.ceil(tokens / this.#blockSize);
  }
}
