/** How many calls an engine serves in a second while it has all that it may hold: what waiting times are computed from. */

/** Completions that a stated capacity counts for against observed ones. */
const STATED_CALLS = 100;
/** Without a stated capacity, this many completions make a rate. */
const ENOUGH_CALLS = 30;
/** Old observations fade over this long, milliseconds. */
const MEMORY_MS = 120_000;

/** Learns only while somebody waits and the engine is full: at any other time the rate is that of the arrivals. */
export class Pace {
  #calls = 0;
  #observedMs = 0;
  #fullSince: number | undefined;
  #lastAt = 0;

  /** Milliseconds between two completions at saturation; 0 while unknown. `capacity`: as stated, calls per second. */
  paceMs(capacity: number | undefined): number {
    const stated = capacity === undefined ? 0 : STATED_CALLS;
    const calls = this.#calls + stated;
    if (calls < ENOUGH_CALLS) return 0;
    const statedMs = capacity === undefined ? 0 : (stated * 1_000) / capacity;
    return (this.#observedMs + statedMs) / calls;
  }

  /** Whether the engine is full and somebody waits for it, as of `now`. */
  full(now: number, is: boolean): void {
    if (!is) this.#fullSince = undefined;
    else if (this.#fullSince === undefined) {
      this.#fullSince = now;
      this.#lastAt = now;
    }
  }

  /** An execution that took `ageMs` was completed. What began before the engine was full says nothing of a full one. */
  finished(now: number, ageMs: number): void {
    if (this.#fullSince === undefined) return;
    if (now - ageMs >= this.#fullSince) {
      const passed = now - this.#lastAt;
      const kept = Math.exp(-passed / MEMORY_MS);
      this.#calls = this.#calls * kept + 1;
      this.#observedMs = this.#observedMs * kept + passed;
    }
    this.#lastAt = now;
  }
}
