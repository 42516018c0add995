/** The core's clock over the machine's own, which tests may let run faster. */

import { performance } from 'node:perf_hooks';
import type { Cancel, Clock } from '../../core/time/clock.js';
import { within } from './options.js';

/** Beyond this a run says more about the machine's timers than about the code under test. */
export const GREATEST_SCALE = 20;

/** Longest delay that `setTimeout` takes; above it, it fires at once. */
const LONGEST_TIMER_MS = 2_147_483_647;

export class SystemClock implements Clock {
  readonly #scale: number;
  readonly #origin = performance.now();

  /** `scale`: milliseconds of this clock a millisecond of the machine's, from 1 to {@link GREATEST_SCALE}. */
  constructor(scale = 1) {
    within('scale', scale, 1, GREATEST_SCALE);
    this.#scale = scale;
  }

  now(): number {
    return (performance.now() - this.#origin) * this.#scale;
  }

  /** Never fires early, never inside the call, and does not keep the process alive by itself. */
  after(ms: number, fire: () => void): Cancel {
    const due = this.now() + ms;
    let timer: NodeJS.Timeout;
    const arm = (): void => {
      const left = Math.max(0, due - this.now()) / this.#scale;
      timer = setTimeout(check, Math.min(Math.ceil(left), LONGEST_TIMER_MS)).unref();
    };
    const check = (): void => {
      // Node's timers count whole milliseconds of another clock, so they may come a fraction too soon.
      if (this.now() < due) arm();
      else fire();
    };
    arm();
    return () => {
      clearTimeout(timer);
    };
  }
}
