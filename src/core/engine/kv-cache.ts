/** Gives executions their KV blocks and finds what earlier ones left behind. */

import { assert } from '../assert.js';
import { BlockPool } from './blocks.js';
import type { Execution } from './execution.js';
import type { EngineOptions } from './options.js';
import { Digest } from './tokens.js';

export class KvCache {
  readonly pool: BlockPool;
  readonly #blockSize: number;
  readonly #maxModelLen: number;
  readonly #caching: boolean;
  readonly #digest = new Digest();

  constructor(options: EngineOptions) {
    this.pool = new BlockPool(options.numGpuBlocks);
    this.#blockSize = options.blockSize;
    this.#maxModelLen = options.maxModelLen;
    this.#caching = options.enablePrefixCaching;
  }

  /** Fills `hits` with the remembered blocks that begin `execution`; never its last token's block. */
  lookup(execution: Execution, hits: number[]): void {
    hits.length = 0;
    if (!this.#caching) return;
    const most = Math.floor((execution.tokens - 1) / this.#blockSize);
    for (let index = 0; index < most; index += 1) {
      execution.hash(this.#digest, index, this.#blockSize);
      const block = this.pool.find(this.#digest.lo, this.#digest.hi);
      if (block === 0) return;
      hits.push(block);
    }
  }

  /** Blocks for `tokens` more of a running execution; false, and nothing changed, when they do not fit. */
  grow(execution: Execution, tokens: number): boolean {
    const upTo = Math.min(execution.computed + tokens, this.#maxModelLen);
    const missing = this.#blocksFor(upTo) - execution.blocks.length;
    if (missing > this.pool.free) return false;
    this.#extend(execution, missing, upTo);
    return true;
  }

  /** As {@link grow} for one that holds nothing yet, but for hits: its whole known length must fit first. */
  admit(execution: Execution, tokens: number, hits: readonly number[]): boolean {
    assert(execution.blocks.length === 0, `${execution.id} holds blocks before its admission`);
    let revived = 0;
    for (const block of hits) if (this.pool.isFree(block)) revived += 1;
    const cached = hits.length * this.#blockSize;
    const whole = this.#blocksFor(Math.min(execution.tokens, this.#maxModelLen)) - hits.length;
    if (whole + revived > this.pool.free) return false;
    const upTo = Math.min(cached + tokens, this.#maxModelLen);
    for (const block of hits) {
      this.pool.touch(block);
      execution.blocks.push(block);
    }
    execution.hashedBlocks = hits.length;
    this.#extend(execution, this.#blocksFor(upTo) - hits.length, upTo);
    return true;
  }

  /** Lets the full blocks among the first `tokens` be found by others. */
  remember(execution: Execution, tokens: number): void {
    if (!this.#caching) return;
    const full = Math.floor(tokens / this.#blockSize);
    for (let index = execution.hashedBlocks; index < full; index += 1) {
      execution.hash(this.#digest, index, this.#blockSize);
      this.pool.remember(execution.blocks[index] as number, this.#digest.lo, this.#digest.hi);
      execution.hashedBlocks = index + 1;
    }
  }

  /** Takes all its blocks back; what they remember stays until they are taken again. */
  release(execution: Execution): void {
    this.pool.release(execution.blocks);
    execution.blocks.length = 0;
    execution.hashedBlocks = 0;
  }

  #extend(execution: Execution, missing: number, upTo: number): void {
    for (let left = missing; left > 0; left -= 1) execution.blocks.push(this.pool.take());
    this.remember(execution, Math.min(upTo, execution.tokens));
  }

  #blocksFor(tokens: number): number {
    return Math.ceil(tokens / this.#blockSize);
  }
}
