/** The device's KV blocks: who is free, in which order they are taken, and what each one still remembers. */

import { assert } from '../assert.js';

/** Block 0 is vLLM's null block: never handed out, and here the end mark of every list. */
const NONE = 0;

export class BlockPool {
  /** Blocks that can be handed out in all. */
  readonly usable: number;
  #free: number;
  // The free queue: a ring through block 0; next[0] is taken first, prev[0] last.
  readonly #next: Int32Array;
  readonly #prev: Int32Array;
  readonly #users: Int32Array;
  // What a block remembers, and the table from hash to blocks, oldest first in each bucket.
  readonly #lo: Int32Array;
  readonly #hi: Int32Array;
  readonly #hashed: Uint8Array;
  readonly #buckets: Int32Array;
  readonly #chain: Int32Array;
  readonly #mask: number;

  constructor(numGpuBlocks: number) {
    this.usable = numGpuBlocks - 1;
    this.#free = this.usable;
    this.#next = new Int32Array(numGpuBlocks);
    this.#prev = new Int32Array(numGpuBlocks);
    for (let block = 0; block < numGpuBlocks; block += 1) {
      this.#next[block] = (block + 1) % numGpuBlocks;
      this.#prev[block] = (block + numGpuBlocks - 1) % numGpuBlocks;
    }
    this.#users = new Int32Array(numGpuBlocks);
    this.#lo = new Int32Array(numGpuBlocks);
    this.#hi = new Int32Array(numGpuBlocks);
    this.#hashed = new Uint8Array(numGpuBlocks);
    this.#buckets = new Int32Array(2 ** Math.ceil(Math.log2(numGpuBlocks * 2)));
    this.#chain = new Int32Array(numGpuBlocks);
    this.#mask = this.#buckets.length - 1;
  }

  get free(): number {
    return this.#free;
  }

  /** True while nobody holds `block`. */
  isFree(block: number): boolean {
    return this.#users[block] === 0;
  }

  /** Adds to `found` the blocks that remember the first hashes, longest first; how many until the first miss. */
  findRun(lo: ArrayLike<number>, hi: ArrayLike<number>, count: number, found: number[]): number {
    for (let at = 0; at < count; at += 1) {
      const block = this.#find(lo[at] as number, hi[at] as number);
      if (block === NONE) return at;
      found.push(block);
    }
    return count;
  }

  /** Adds the next `count` free blocks to `into`; each forgets what it held. */
  takeInto(into: number[], count: number): void {
    if (count <= 0) return;
    assert(count <= this.#free, `${count} blocks are wanted, ${this.#free} are free`);
    let block = this.#next[NONE] as number;
    for (let left = count; left > 0; left -= 1) {
      if (this.#hashed[block] === 1) this.#forget(block);
      this.#users[block] = 1;
      into.push(block);
      block = this.#next[block] as number;
    }
    this.#next[NONE] = block;
    this.#prev[block] = NONE;
    this.#free -= count;
  }

  /** One more user of a remembered block. */
  touch(block: number): void {
    if (this.#users[block] === 0) this.#unlink(block);
    this.#users[block] = (this.#users[block] as number) + 1;
  }

  /** One user less for each, last block first: what remembers nothing is taken next, the rest last. */
  release(blocks: readonly number[]): void {
    for (let at = blocks.length - 1; at >= 0; at -= 1) {
      const block = blocks[at] as number;
      const users = (this.#users[block] as number) - 1;
      assert(users >= 0, 'a block is released by a user it has');
      this.#users[block] = users;
      if (users === 0) this.#link(block, this.#hashed[block] === 1 ? (this.#prev[NONE] as number) : NONE);
    }
  }

  /** From now on `blocks[at]` can be found under the hash at `at - offset`, for `at` in [from, to). */
  rememberRun(
    blocks: readonly number[],
    from: number,
    to: number,
    lo: ArrayLike<number>,
    hi: ArrayLike<number>,
    offset: number,
  ): void {
    for (let at = from; at < to; at += 1) {
      this.#remember(blocks[at] as number, lo[at - offset] as number, hi[at - offset] as number);
    }
  }

  #find(lo: number, hi: number): number {
    let block = this.#buckets[lo & this.#mask] as number;
    while (block !== NONE && (this.#lo[block] !== lo || this.#hi[block] !== hi)) {
      block = this.#chain[block] as number;
    }
    return block;
  }

  #remember(block: number, lo: number, hi: number): void {
    assert(this.#hashed[block] === 0, 'a block remembers one thing');
    this.#lo[block] = lo;
    this.#hi[block] = hi;
    this.#hashed[block] = 1;
    this.#chain[block] = NONE;
    const bucket = lo & this.#mask;
    let last = this.#buckets[bucket] as number;
    if (last === NONE) {
      this.#buckets[bucket] = block;
      return;
    }
    while (this.#chain[last] !== NONE) last = this.#chain[last] as number;
    this.#chain[last] = block;
  }

  #forget(block: number): void {
    const bucket = (this.#lo[block] as number) & this.#mask;
    const after = this.#chain[block] as number;
    let at = this.#buckets[bucket] as number;
    if (at === block) this.#buckets[bucket] = after;
    else {
      while (this.#chain[at] !== block) at = this.#chain[at] as number;
      this.#chain[at] = after;
    }
    this.#hashed[block] = 0;
  }

  #unlink(block: number): void {
    const next = this.#next[block] as number;
    const prev = this.#prev[block] as number;
    this.#next[prev] = next;
    this.#prev[next] = prev;
    this.#free -= 1;
  }

  #link(block: number, prev: number): void {
    const next = this.#next[prev] as number;
    this.#prev[block] = prev;
    this.#next[block] = next;
    this.#next[prev] = block;
    this.#prev[next] = block;
    this.#free += 1;
  }
}
