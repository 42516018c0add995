/** Gives executions their KV blocks and finds what earlier ones left behind. */

import { assert } from '../assert.js';
import { type BlockList, BlockPool } from './blocks.js';
import { type Execution, NO_BLOCKS } from './execution.js';
import type { EngineOptions } from './options.js';

export class KvCache {
  readonly pool: BlockPool;
  readonly #blockSize: number;
  readonly #maxModelLen: number;
  readonly #caching: boolean;
  readonly #buffers: Int32Array[] = [];

  constructor(options: EngineOptions) {
    this.pool = new BlockPool(options.numGpuBlocks);
    this.#blockSize = options.blockSize;
    this.#maxModelLen = options.maxModelLen;
    this.#caching = options.enablePrefixCaching;
  }

  /** Fills `hits` with the remembered blocks that begin `execution`; never its last token's block. */
  lookup(execution: Execution, hits: BlockList): void {
    hits.length = 0;
    if (!this.#caching) return;
    const most = Math.floor((execution.tokens - 1) / this.#blockSize);
    const { prompt, outputLo, outputHi } = execution;
    const inPrompt = Math.min(most, execution.promptBlocks(this.#blockSize));
    execution.hashUpTo(most, this.#blockSize);
    const found = this.pool.findRun(prompt.lo, prompt.hi, inPrompt, hits);
    if (found === inPrompt) this.pool.findRun(outputLo, outputHi, most - inPrompt, hits);
  }

  /** Blocks for `tokens` more of a running execution; false, and nothing changed, when they do not fit. */
  grow(execution: Execution, tokens: number): boolean {
    const upTo = Math.min(execution.computed + tokens, this.#maxModelLen);
    const held = execution.blocks.length;
    // A division for each token of each execution would be felt.
    const missing = upTo <= held * this.#blockSize ? 0 : this.#blocksFor(upTo) - held;
    if (missing > this.pool.free) return false;
    this.#extend(execution, missing, upTo);
    return true;
  }

  /** As {@link grow} for one that holds nothing yet, but for hits: its whole known length must fit first. */
  admit(execution: Execution, tokens: number, hits: BlockList): boolean {
    assert(execution.blocks.length === 0, `${execution.id} holds blocks before its admission`);
    const revived = this.pool.freeAmong(hits);
    const cached = hits.length * this.#blockSize;
    const whole = this.#blocksFor(Math.min(execution.tokens, this.#maxModelLen)) - hits.length;
    if (whole + revived > this.pool.free) return false;
    const upTo = Math.min(cached + tokens, this.#maxModelLen);
    const { blocks } = execution;
    blocks.ids = this.#buffer(this.#blocksFor(Math.min(execution.most, this.#maxModelLen)));
    this.pool.share(hits, blocks);
    execution.hashedBlocks = hits.length;
    this.#extend(execution, this.#blocksFor(upTo) - hits.length, upTo);
    return true;
  }

  /** Lets the full blocks among the first `tokens` be found by others. */
  remember(execution: Execution, tokens: number): void {
    if (!this.#caching) return;
    const from = execution.hashedBlocks;
    if (tokens < (from + 1) * this.#blockSize) return;
    const full = Math.floor(tokens / this.#blockSize);
    execution.hashUpTo(full, this.#blockSize);
    const { prompt, blocks, outputLo, outputHi } = execution;
    const inPrompt = execution.promptBlocks(this.#blockSize);
    this.pool.rememberRun(blocks, from, Math.min(full, inPrompt), prompt.lo, prompt.hi, 0);
    this.pool.rememberRun(blocks, Math.max(from, inPrompt), full, outputLo, outputHi, inPrompt);
    execution.hashedBlocks = full;
  }

  /** Takes all its blocks back; what they remember stays until they are taken again. */
  release(execution: Execution): void {
    const { blocks } = execution;
    this.pool.release(blocks);
    blocks.length = 0;
    if (blocks.ids.length > 0) this.#buffers.push(blocks.ids);
    blocks.ids = NO_BLOCKS;
    execution.hashedBlocks = 0;
  }

  /** At least `size` long: one that was let go, or a new one; there are never more than executions at once. */
  #buffer(size: number): Int32Array {
    const last = this.#buffers.pop();
    if (last !== undefined && last.length >= size) return last;
    return new Int32Array(2 ** Math.ceil(Math.log2(size)));
  }

  #extend(execution: Execution, missing: number, upTo: number): void {
    if (missing > 0) this.pool.takeInto(execution.blocks, missing);
    this.remember(execution, Math.min(upTo, execution.tokens));
  }

  #blocksFor(tokens: number): number {
    return Math.ceil(tokens / this.#blockSize);
  }
}
