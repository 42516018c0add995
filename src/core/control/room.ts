/** How many executions an engine may hold at once. */

import { assert } from '../assert.js';

export class Room {
  #most = Number.POSITIVE_INFINITY;
  #used = 0;

  /** `room`: a whole number ≥ 1, or `off` for no limit. */
  constructor(room: 'off' | number) {
    this.resize(room);
  }

  /** From now on; what runs above it runs to its end. */
  resize(room: 'off' | number): void {
    this.#most = room === 'off' ? Number.POSITIVE_INFINITY : room;
  }

  /** Infinity: no limit. */
  get most(): number {
    return this.#most;
  }

  get used(): number {
    return this.#used;
  }

  get free(): boolean {
    return this.#used < this.#most;
  }

  take(): void {
    assert(this.free, 'an execution started without room');
    this.#used += 1;
  }

  release(): void {
    assert(this.#used > 0, 'room released that nobody held');
    this.#used -= 1;
  }
}
