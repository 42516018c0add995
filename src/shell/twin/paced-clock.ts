/** Virtual time held to the machine's pace: events happen at exact moments, however late a timer fires. */

import { performance } from 'node:perf_hooks';
import { type Cancel, type Clock, RANK, type Rank } from '../../core/time/clock.js';
import { Heap } from '../../core/time/heap.js';

interface Due {
  readonly at: number;
  readonly rank: Rank;
  readonly order: number;
  fire: (() => void) | undefined;
}

export class PacedClock implements Clock {
  readonly #scale: number;
  readonly #due = new Heap<Due>(
    (a, b) => a.at < b.at || (a.at === b.at && (a.rank < b.rank || (a.rank === b.rank && a.order < b.order))),
  );
  #order = 0;
  #now = 0;
  /** Where virtual and real time last met. */
  #anchorReal = performance.now();
  #anchorNow = 0;
  #paused = false;
  #running = false;
  #timer: NodeJS.Timeout | undefined;

  /** `scale`: milliseconds of this clock per real millisecond, > 0. */
  constructor(scale = 1) {
    this.#scale = scale;
  }

  /** The moment of the event that runs; outside events, the moment of the latest {@link catchUp}. */
  now(): number {
    return this.#now;
  }

  after(ms: number, fire: () => void, rank: Rank = RANK.plain): Cancel {
    const due: Due = { at: this.#now + ms, rank, order: this.#order++, fire };
    this.#due.push(due);
    if (!this.#running) this.#arm();
    return () => {
      due.fire = undefined;
    };
  }

  /** Runs everything due by now, then stands at now; call before handing in what came from outside. */
  catchUp(): void {
    if (this.#running) return;
    this.#running = true;
    const until = this.#target();
    for (let next = this.#due.peek(); next !== undefined && next.at <= until; next = this.#due.peek()) {
      this.#due.pop();
      this.#now = Math.max(this.#now, next.at);
      next.fire?.();
    }
    this.#now = Math.max(this.#now, until);
    this.#running = false;
    this.#arm();
  }

  /** Time stands still until {@link resume}: a hung engine. */
  pause(): void {
    if (this.#paused) return;
    this.catchUp();
    this.#paused = true;
    this.#anchorNow = this.#now;
    this.#arm();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#anchorReal = performance.now();
    this.#arm();
  }

  /** Lets the machine's timer go; nothing fires any more. */
  close(): void {
    this.pause();
  }

  #target(): number {
    if (this.#paused) return this.#anchorNow;
    return this.#anchorNow + (performance.now() - this.#anchorReal) * this.#scale;
  }

  #arm(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const next = this.#due.peek();
    if (next === undefined || this.#paused) return;
    const wait = Math.max(0, (next.at - this.#target()) / this.#scale);
    // Node's timers end at 2^31 ms; waking early is harmless.
    this.#timer = setTimeout(() => this.catchUp(), Math.min(wait, 2 ** 30));
  }
}
