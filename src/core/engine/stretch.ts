/** Neighbouring KV blocks that remember one content and share one fate: held, free and forgotten together. */

import { Chain } from './chain.js';
import { Prompt } from './tokens.js';

export class Stretch {
  /** What the blocks remember: those of `chain` at [from, to). */
  readonly chain: Chain;
  from: number;
  to: number;
  /** Executions that hold it; free at 0. */
  users = 0;
  /** What was latest cut off its front; whoever held the whole holds that too. */
  front: Stretch | undefined;
  /** The next younger one in its bucket of the index. */
  younger: Stretch | undefined;
  /** Neighbours in the ring of free stretches; itself outside. */
  next: Stretch = this;
  prev: Stretch = this;

  constructor(chain: Chain, from: number, to: number) {
    this.chain = chain;
    this.from = from;
    this.to = to;
  }

  /** The head of an empty ring. */
  static ring(): Stretch {
    const nothing = Prompt.ofSegments([]);
    return new Stretch(new Chain(nothing, nothing.tokens), 0, 0);
  }

  get length(): number {
    return this.to - this.from;
  }

  /** Where the agreement with `chain` ends, at most at `most`; the first block is known to agree. */
  agreesUpTo(chain: Chain, most: number): number {
    const end = Math.min(this.to, most);
    if (this.chain.agrees(chain, end - 1)) return end;
    // The hash of a block is one of all before it as well.
    let [agreed, parted] = [this.from + 1, end - 1];
    while (agreed < parted) {
      const middle = (agreed + parted) >> 1;
      if (this.chain.agrees(chain, middle)) agreed = middle + 1;
      else parted = middle;
    }
    return agreed;
  }

  joinRing(behind: Stretch): void {
    this.prev = behind;
    this.next = behind.next;
    this.next.prev = this;
    behind.next = this;
  }

  leaveRing(): void {
    this.prev.next = this.next;
    this.next.prev = this.prev;
    this.next = this;
    this.prev = this;
  }
}
