/**
 * Finds stretches by the hash of their first block; of equal ones the oldest. A block that repeats an older one is a
 * stretch of its own, and the older one begins a stretch; so every block that is the oldest of its content either
 * begins a stretch or follows in one the oldest of the content before it.
 */

import { assert } from '../assert.js';
import type { Chain } from './chain.js';
import type { Stretch } from './stretch.js';

export class StretchIndex {
  /** By one lane of the hash: the oldest, the others behind it. */
  readonly #buckets = new Map<number, Stretch>();

  /** The oldest stretch that begins with the block of `chain` at `at`. */
  oldest(chain: Chain, at: number): Stretch | undefined {
    let stretch = this.#buckets.get(chain.lo(at));
    if (stretch === undefined) return undefined;
    const hi = chain.hi(at);
    while (stretch !== undefined && stretch.chain.hi(stretch.from) !== hi) stretch = stretch.younger;
    return stretch;
  }

  add(stretch: Stretch): void {
    const key = keyOf(stretch);
    let last = this.#buckets.get(key);
    if (last === undefined) {
      this.#buckets.set(key, stretch);
      return;
    }
    while (last.younger !== undefined) last = last.younger;
    last.younger = stretch;
  }

  /** Puts `by` in the place of `stretch`; both begin alike. */
  replace(stretch: Stretch, by: Stretch): void {
    by.younger = stretch.younger;
    this.#put(stretch, by);
  }

  remove(stretch: Stretch): void {
    this.#put(stretch, stretch.younger);
  }

  /** Lets whoever leads to `stretch` lead to `to`. */
  #put(stretch: Stretch, to: Stretch | undefined): void {
    const key = keyOf(stretch);
    let older = this.#buckets.get(key);
    if (older === stretch) {
      if (to === undefined) this.#buckets.delete(key);
      else this.#buckets.set(key, to);
    } else {
      while (older !== undefined && older.younger !== stretch) older = older.younger;
      assert(older !== undefined, 'every remembered stretch can be found');
      older.younger = to;
    }
    stretch.younger = undefined;
  }
}

function keyOf({ chain, from }: Stretch): number {
  return chain.lo(from);
}
