/** The device's KV blocks: who is free, in which order they are taken, and what each one still remembers. */

import { assert } from '../assert.js';

/** Block 0 is vLLM's null block: never handed out, and here the end mark of every list. */
const NONE = 0;

// All that is known of a block lies together, since a block is met cold and one line of memory is then fetched.
const CELLS_SHIFT = 3;
/** Neighbours in the free queue, a ring through block 0: the next of 0 is taken first, the previous of 0 last. */
const NEXT = 0;
const PREV = 1;
const USERS = 2;
/** What it remembers, whether it remembers anything, and who follows it in its bucket. */
const LO = 3;
const HI = 4;
const HASHED = 5;
const CHAIN = 6;

/** Blocks in token order; the buffer is at least `length` long. */
export interface BlockList {
  ids: Int32Array;
  length: number;
}

export class BlockPool {
  /** Blocks that can be handed out in all. */
  readonly usable: number;
  #free: number;
  readonly #cells: Int32Array;
  /** From hash to blocks, oldest first in each bucket. */
  readonly #buckets: Int32Array;
  readonly #mask: number;

  constructor(numGpuBlocks: number) {
    this.usable = numGpuBlocks - 1;
    this.#free = this.usable;
    this.#cells = new Int32Array(numGpuBlocks << CELLS_SHIFT);
    for (let block = 0; block < numGpuBlocks; block += 1) {
      this.#cells[(block << CELLS_SHIFT) + NEXT] = (block + 1) % numGpuBlocks;
      this.#cells[(block << CELLS_SHIFT) + PREV] = (block + numGpuBlocks - 1) % numGpuBlocks;
    }
    this.#buckets = new Int32Array(2 ** Math.ceil(Math.log2(numGpuBlocks * 2)));
    this.#mask = this.#buckets.length - 1;
  }

  get free(): number {
    return this.#free;
  }

  /** How many of the blocks nobody holds. */
  freeAmong({ ids, length }: BlockList): number {
    const cells = this.#cells;
    let free = 0;
    for (let at = 0; at < length; at += 1) {
      if (cells[((ids[at] as number) << CELLS_SHIFT) + USERS] === 0) free += 1;
    }
    return free;
  }

  /** Adds to `found` the blocks that remember the first hashes, longest first; how many until the first miss. */
  findRun(lo: ArrayLike<number>, hi: ArrayLike<number>, count: number, found: BlockList): number {
    const cells = this.#cells;
    for (let at = 0; at < count; at += 1) {
      const [low, high] = [lo[at] as number, hi[at] as number];
      let block = this.#buckets[low & this.#mask] as number;
      while (block !== NONE) {
        const cell = block << CELLS_SHIFT;
        if (cells[cell + LO] === low && cells[cell + HI] === high) break;
        block = cells[cell + CHAIN] as number;
      }
      if (block === NONE) return at;
      found.ids[found.length] = block;
      found.length += 1;
    }
    return count;
  }

  /** Adds the next `count` free blocks to `into`; each forgets what it held. */
  takeInto(into: BlockList, count: number): void {
    if (count <= 0) return;
    assert(count <= this.#free, 'no more blocks are taken than are free');
    const cells = this.#cells;
    const { ids } = into;
    let { length } = into;
    assert(length + count <= ids.length, 'an execution holds no more blocks than it came for');
    let block = cells[NEXT] as number;
    for (let left = count; left > 0; left -= 1) {
      const cell = block << CELLS_SHIFT;
      if (cells[cell + HASHED] === 1) this.#forget(block);
      cells[cell + USERS] = 1;
      ids[length] = block;
      length += 1;
      block = cells[cell + NEXT] as number;
    }
    into.length = length;
    cells[NEXT] = block;
    cells[(block << CELLS_SHIFT) + PREV] = NONE;
    this.#free -= count;
  }

  /** One more user for each of `found`, which are added to `into`. */
  share(found: BlockList, into: BlockList): void {
    const cells = this.#cells;
    for (let at = 0; at < found.length; at += 1) {
      const block = found.ids[at] as number;
      const users = (block << CELLS_SHIFT) + USERS;
      if (cells[users] === 0) this.#unlink(block);
      cells[users] = (cells[users] as number) + 1;
      into.ids[into.length + at] = block;
    }
    into.length += found.length;
  }

  /** One user less for each, last block first: what remembers nothing is taken next, the rest last. */
  release({ ids, length }: BlockList): void {
    const cells = this.#cells;
    for (let at = length - 1; at >= 0; at -= 1) {
      const block = ids[at] as number;
      const cell = block << CELLS_SHIFT;
      const users = (cells[cell + USERS] as number) - 1;
      assert(users >= 0, 'a block is released by a user it has');
      cells[cell + USERS] = users;
      if (users === 0) this.#link(block, cells[cell + HASHED] === 1 ? (cells[PREV] as number) : NONE);
    }
  }

  /** From now on `blocks[at]` can be found under the hash at `at - offset`, for `at` in [from, to). */
  rememberRun(
    { ids }: BlockList,
    from: number,
    to: number,
    lo: ArrayLike<number>,
    hi: ArrayLike<number>,
    offset: number,
  ): void {
    for (let at = from; at < to; at += 1) {
      this.#remember(ids[at] as number, lo[at - offset] as number, hi[at - offset] as number);
    }
  }

  #remember(block: number, lo: number, hi: number): void {
    const cells = this.#cells;
    const cell = block << CELLS_SHIFT;
    assert(cells[cell + HASHED] === 0, 'a block remembers one thing');
    cells[cell + LO] = lo;
    cells[cell + HI] = hi;
    cells[cell + HASHED] = 1;
    cells[cell + CHAIN] = NONE;
    const bucket = lo & this.#mask;
    let last = this.#buckets[bucket] as number;
    if (last === NONE) {
      this.#buckets[bucket] = block;
      return;
    }
    for (;;) {
      const after = cells[(last << CELLS_SHIFT) + CHAIN] as number;
      if (after === NONE) break;
      last = after;
    }
    cells[(last << CELLS_SHIFT) + CHAIN] = block;
  }

  #forget(block: number): void {
    const cells = this.#cells;
    const cell = block << CELLS_SHIFT;
    const bucket = (cells[cell + LO] as number) & this.#mask;
    const after = cells[cell + CHAIN] as number;
    let at = this.#buckets[bucket] as number;
    if (at === block) this.#buckets[bucket] = after;
    else {
      while (cells[(at << CELLS_SHIFT) + CHAIN] !== block) at = cells[(at << CELLS_SHIFT) + CHAIN] as number;
      cells[(at << CELLS_SHIFT) + CHAIN] = after;
    }
    cells[cell + HASHED] = 0;
  }

  #unlink(block: number): void {
    const cells = this.#cells;
    const next = cells[(block << CELLS_SHIFT) + NEXT] as number;
    const prev = cells[(block << CELLS_SHIFT) + PREV] as number;
    cells[(prev << CELLS_SHIFT) + NEXT] = next;
    cells[(next << CELLS_SHIFT) + PREV] = prev;
    this.#free -= 1;
  }

  #link(block: number, prev: number): void {
    const cells = this.#cells;
    const next = cells[(prev << CELLS_SHIFT) + NEXT] as number;
    cells[(block << CELLS_SHIFT) + PREV] = prev;
    cells[(block << CELLS_SHIFT) + NEXT] = next;
    cells[(prev << CELLS_SHIFT) + NEXT] = block;
    cells[(next << CELLS_SHIFT) + PREV] = block;
    this.#free += 1;
  }
}
