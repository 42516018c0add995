/** A sliding count over the recent past, in a fixed number of slots. */

const SLOTS = 60;

/**
 * Counts events of the last `windowMs`. Kept in 60 slots of equal width, so an event leaves between 59/60 and
 * 60/60 of a window after it came; constant memory.
 */
export class WindowCount {
  readonly #slotMs: number;
  readonly #counts = new Uint32Array(SLOTS);
  #slot = 0;
  #total = 0;

  constructor(windowMs: number) {
    this.#slotMs = windowMs / SLOTS;
  }

  add(now: number, count = 1): void {
    this.#advance(now);
    const at = this.#slot % SLOTS;
    this.#counts[at] = (this.#counts[at] as number) + count;
    this.#total += count;
  }

  total(now: number): number {
    this.#advance(now);
    return this.#total;
  }

  #advance(now: number): void {
    const slot = Math.floor(now / this.#slotMs);
    if (slot <= this.#slot) return;
    const stale = Math.min(slot - this.#slot, SLOTS);
    for (let step = 1; step <= stale; step += 1) {
      const at = (this.#slot + step) % SLOTS;
      this.#total -= this.#counts[at] as number;
      this.#counts[at] = 0;
    }
    this.#slot = slot;
  }
}
