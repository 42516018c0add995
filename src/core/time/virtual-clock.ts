/** A clock that jumps from event to event: heap by time, then rank, then order of asking. */

import { InvariantError } from '../assert.js';
import { type Cancel, type Clock, RANK, type Rank } from './clock.js';
import { Heap } from './heap.js';

interface Timer {
  readonly at: number;
  readonly rank: Rank;
  readonly order: number;
  fire: (() => void) | undefined;
}

export class VirtualClock implements Clock {
  #now = 0;
  #order = 0;
  readonly #timers = new Heap<Timer>(
    (a, b) => a.at < b.at || (a.at === b.at && (a.rank < b.rank || (a.rank === b.rank && a.order < b.order))),
  );

  now(): number {
    return this.#now;
  }

  after(ms: number, fire: () => void, rank: Rank = RANK.plain): Cancel {
    // The text is made only when it is needed: this is called for every step of a run.
    if (!(ms >= 0)) throw new InvariantError(`a timer cannot lie in the past: ${ms} ms`);
    const timer: Timer = { at: this.#now + ms, rank, order: this.#order++, fire };
    this.#timers.push(timer);
    return () => {
      timer.fire = undefined;
    };
  }

  /** Fires the next pending timer; false when none is left. */
  step(): boolean {
    for (;;) {
      const timer = this.#timers.pop();
      if (timer === undefined) return false;
      if (timer.fire === undefined) continue;
      this.#now = timer.at;
      const fire = timer.fire;
      timer.fire = undefined;
      fire();
      return true;
    }
  }

  /** Fires everything due up to and including `until`, then stands at `until`. */
  runUntil(until: number): void {
    for (let next = this.#timers.peek(); next !== undefined && next.at <= until; next = this.#timers.peek()) {
      if (next.fire === undefined) this.#timers.pop();
      else this.step();
    }
    if (until > this.#now) this.#now = until;
  }
}
