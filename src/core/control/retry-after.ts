/** When a refused client should come back: the line's predicted drain time, jittered so that none come together. */

import { WindowCount } from '../time/window.js';
import type { ControlOptions } from './options.js';

const LEAST_MS = 1_000;
const MOST_MS = 59_000;
const WINDOW_MS = 60_000;
/** Assumed while nothing is known of the engine's pace. */
const UNKNOWN_DRAIN_MS = 5_000;

export class RetryAfter {
  readonly #finished = new WindowCount(WINDOW_MS);
  readonly #options: ControlOptions;
  readonly #uniform: () => number;

  /** `uniform`: draws in [0, 1). */
  constructor(options: ControlOptions, uniform: () => number) {
    this.#options = options;
    this.#uniform = uniform;
  }

  /** An execution left the engine finished: the pace of draining. */
  finished(now: number): void {
    this.#finished.add(now);
  }

  /** Milliseconds in [1,000, 59,000]: `waiting` ÷ pace × U(0.8, 1.2). */
  draw(waiting: number, now: number): number {
    const pace = this.#options.capacity ?? this.#finished.total(now) / (WINDOW_MS / 1_000);
    const drainMs = pace > 0 ? (waiting / pace) * 1_000 : UNKNOWN_DRAIN_MS;
    const jittered = drainMs * (0.8 + 0.4 * this.#uniform());
    return Math.min(MOST_MS, Math.max(LEAST_MS, Math.round(jittered)));
  }
}
