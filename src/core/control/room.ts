/** How many executions an engine may hold at once: a number, or as long as few of them wait in it. */

import { assert } from '../assert.js';
import type { Execution } from './call.js';
import { type EngineLoad, GaugedRoom, type GaugeTrust } from './engine-load.js';
import type { ControlOptions, RoomPolicy } from './options.js';

/** What is counted under `first-token`, and under those that follow the engine's gauges. */
type Limits = Pick<ControlOptions, 'roomWaiting' | 'roomWhole' | 'roomTarget'>;
/** What of an execution matters here. */
type Held = Pick<Execution, 'streams'>;

/** From this part of its room on an engine is nearly full. */
const NEARLY_FULL = 0.5;

export class Room {
  #policy: RoomPolicy;
  #limits: Limits;
  #used = 0;
  /** Streams that have shown nothing yet. */
  readonly #silent = new Set<Held>();
  /** Answers that come whole: their first byte is their end, so it tells nothing of when they left the queue. */
  #whole = 0;
  #gauged = new GaugedRoom();

  constructor(policy: RoomPolicy, limits: Limits) {
    this.#policy = policy;
    this.#limits = limits;
  }

  /** Whether it follows the engine's gauges, as soon as there are any. */
  get #follows(): boolean {
    return this.#policy === 'engine' || this.#policy === 'auto';
  }

  /** Whether its engine may be one that has no gauges: that is nothing to be distrusted for. */
  get #unseen(): boolean {
    return this.#policy === 'auto' && !this.#gauged.seen;
  }

  /** From now on; what runs above it runs to its end. */
  resize(policy: RoomPolicy, limits: Limits): void {
    if (policy !== this.#policy) this.#gauged = new GaugedRoom();
    this.#policy = policy;
    this.#limits = limits;
  }

  /** What the engine says of its load; undefined: it could not be read. */
  read(load: EngineLoad | undefined, now: number): void {
    if (!this.#follows || (load === undefined && this.#unseen)) return;
    const showing = this.#used - this.#whole - this.#silent.size;
    this.#gauged.read(load, { used: this.#used, showing }, this.#limits.roomTarget, now);
  }

  /** What is made of the engine's gauges; undefined where the room does not follow them. */
  get trust(): GaugeTrust | undefined {
    return this.#follows && !this.#unseen ? this.#gauged.trust : undefined;
  }

  /** The number that it was set to, to compare engines by; Infinity: none, as a limit by gauges is of the moment. */
  get size(): number {
    return typeof this.#policy === 'number' ? this.#policy : Number.POSITIVE_INFINITY;
  }

  /** Infinity: no number is set. */
  get most(): number {
    return this.#follows ? this.#gauged.limit : this.size;
  }

  get used(): number {
    return this.#used;
  }

  get free(): boolean {
    if (this.#policy !== 'first-token') return this.#used < this.most;
    return this.#silent.size < this.#limits.roomWaiting && this.#whole < this.#limits.roomWhole;
  }

  /** How many executions it holds when full, as far as that can be told now: Infinity where it is far from full. */
  get capacity(): number {
    if (this.#follows) {
      return this.#used >= NEARLY_FULL * this.most ? this.#used : Number.POSITIVE_INFINITY;
    }
    if (this.#policy !== 'first-token') return this.most;
    const { roomWaiting, roomWhole } = this.#limits;
    const fullness = Math.max(this.#silent.size / roomWaiting, this.#whole / roomWhole);
    return fullness >= NEARLY_FULL ? this.#used : Number.POSITIVE_INFINITY;
  }

  take(execution: Held, now: number): void {
    assert(this.free, 'an execution started without room');
    this.#used += 1;
    if (this.#follows) this.#gauged.took(execution, this.#used, now);
    if (execution.streams) this.#silent.add(execution);
    else this.#whole += 1;
  }

  /** One that was taken has just shown its first byte. */
  showed(execution: Held): void {
    this.#silent.delete(execution);
  }

  release(execution: Held): void {
    assert(this.#used > 0, 'room released that nobody held');
    this.#used -= 1;
    if (!execution.streams) this.#whole -= 1;
    this.#silent.delete(execution);
    this.#gauged.released(execution);
  }
}
