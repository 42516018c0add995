/** The device's KV blocks: who is free, in which order they are taken, and what each one still remembers. */

import { assert } from '../assert.js';
import type { Chain } from './chain.js';
import { Stretch } from './stretch.js';
import { StretchIndex } from './stretch-index.js';

/** The remembered blocks that begin a chain: parts of stretches, each from the end of the one before it. */
export interface Hits {
  readonly stretches: Stretch[];
  /** Where the use of each stretch ends. */
  readonly ends: number[];
}

/** What one execution holds: its blocks in token order, of which those in stretches are remembered. */
export class Holding {
  /** Each from the end of the one before it; parts cut off its front since it was taken count in. */
  readonly stretches: Stretch[] = [];
  /** Blocks in all. */
  length = 0;
  /** The first so many of them are remembered. */
  remembered = 0;

  /** All that it holds of the remembered, last block first. */
  *parts(): Generator<Stretch> {
    for (let at = this.stretches.length - 1; at >= 0; at -= 1) {
      const start = this.stretches[at - 1]?.to ?? 0;
      let part = this.stretches[at] as Stretch;
      yield part;
      while (part.from > start) {
        assert(part.front !== undefined, 'what was cut off a held stretch is held too');
        part = part.front;
        yield part;
      }
    }
  }
}

/**
 * Which block is which can be seen by nobody, so neighbours of equal fate are kept as one stretch. A free block that
 * remembers nothing is always taken before one that does; therefore the former are merely counted.
 */
export class BlockPool {
  /** Blocks that can be handed out in all. */
  readonly usable: number;
  /** Free blocks that remember nothing. */
  #blank: number;
  /** Free blocks in all. */
  #free: number;
  /** The ring of free stretches: the next of this one is taken first, the last block of a stretch before the others. */
  readonly #ring = Stretch.ring();
  readonly #index = new StretchIndex();

  /** One of the blocks is vLLM's null block and is never handed out. */
  constructor(numGpuBlocks: number) {
    this.usable = numGpuBlocks - 1;
    this.#blank = this.usable;
    this.#free = this.usable;
  }

  get free(): number {
    return this.#free;
  }

  /** Fills `hits` with what is remembered of the first `most` blocks of `chain`; how many blocks that is. */
  find(chain: Chain, most: number, hits: Hits): number {
    const { stretches, ends } = hits;
    stretches.length = 0;
    ends.length = 0;
    let at = 0;
    while (at < most) {
      const stretch = this.#index.oldest(chain, at);
      if (stretch === undefined) break;
      at = stretch.agreesUpTo(chain, most);
      stretches.push(stretch);
      ends.push(at);
    }
    return at;
  }

  /** How many of the blocks nobody holds. */
  freeAmong({ stretches, ends }: Hits): number {
    let free = 0;
    for (let at = 0; at < stretches.length; at += 1) {
      const { users, from } = stretches[at] as Stretch;
      if (users === 0) free += (ends[at] as number) - from;
    }
    return free;
  }

  /** Adds the next `count` free blocks to `into`; each forgets what it held. */
  take(into: Holding, count: number): void {
    assert(count <= this.#free, 'no more blocks are taken than are free');
    const blank = Math.min(count, this.#blank);
    this.#blank -= blank;
    this.#free -= count;
    into.length += count;
    for (let left = count - blank; left > 0; ) {
      const stretch = this.#ring.next;
      const forgotten = Math.min(left, stretch.length);
      left -= forgotten;
      if (forgotten < stretch.length) stretch.to -= forgotten;
      else {
        stretch.leaveRing();
        this.#index.remove(stretch);
      }
    }
  }

  /** One more user for each of `found`, which `into`, still empty, now begins with. */
  share({ stretches, ends }: Hits, into: Holding): void {
    for (let at = 0; at < stretches.length; at += 1) {
      const stretch = stretches[at] as Stretch;
      const end = ends[at] as number;
      const shared = end < stretch.to ? this.#cut(stretch, end) : stretch;
      if (shared.users === 0) {
        shared.leaveRing();
        this.#free -= shared.length;
      }
      shared.users += 1;
      into.stretches.push(shared);
      into.length = end;
      into.remembered = end;
    }
  }

  /** One user less for each, last block first: what remembers nothing is taken next, the rest last. */
  release(holding: Holding): void {
    const blank = holding.length - holding.remembered;
    this.#blank += blank;
    this.#free += blank;
    for (const part of holding.parts()) this.#leave(part);
    holding.stretches.length = 0;
    holding.length = 0;
    holding.remembered = 0;
  }

  /** From now on the first `upTo` blocks of `holding` can be found as those of `chain`. */
  remember(holding: Holding, chain: Chain, upTo: number): void {
    const { stretches } = holding;
    for (let at = holding.remembered; at < upTo; ) {
      const last = stretches.at(-1);
      const repeats = this.#isRepeated(chain, at, last);
      // Of equal blocks the oldest is found; so one that repeats another stands alone, and the other begins a stretch.
      const to = repeats ? at + 1 : upTo;
      if (!repeats && last?.chain === chain && last.users === 1 && this.#isOldest(last)) last.to = to;
      else {
        const stretch = new Stretch(chain, at, to);
        stretch.users = 1;
        this.#index.add(stretch);
        stretches.push(stretch);
      }
      at = to;
    }
    holding.remembered = upTo;
  }

  /** Whether the block of `chain` at `at` is remembered by another, all before it being so, the latest by `last`. */
  #isRepeated(chain: Chain, at: number, last: Stretch | undefined): boolean {
    if (this.#index.oldest(chain, at) !== undefined) return true;
    // It can lie within a stretch only if that one holds the block before it as well, and then `last` repeats that.
    if (last === undefined || this.#isOldest(last)) return false;
    const hits: Hits = { stretches: [], ends: [] };
    if (this.find(chain, at + 1, hits) <= at) return false;
    this.#cut(hits.stretches.at(-1) as Stretch, at);
    return true;
  }

  #isOldest(stretch: Stretch): boolean {
    return stretch.length > 1 || this.#index.oldest(stretch.chain, stretch.from) === stretch;
  }

  /** Cuts off the front of `stretch` as a stretch of its own. */
  #cut(stretch: Stretch, at: number): Stretch {
    const front = new Stretch(stretch.chain, stretch.from, at);
    front.users = stretch.users;
    front.front = stretch.front;
    this.#index.replace(stretch, front);
    stretch.from = at;
    stretch.front = front;
    this.#index.add(stretch);
    if (stretch.users === 0) front.joinRing(stretch);
    return front;
  }

  #leave(stretch: Stretch): void {
    assert(stretch.users > 0, 'a block is released by a user it has');
    stretch.users -= 1;
    if (stretch.users > 0) return;
    stretch.joinRing(this.#ring.prev);
    this.#free += stretch.length;
  }
}
