/** The guard: keeps executions that retries ask for out of engines that those of first attempts already fill. */

import { WindowCount } from '../time/window.js';
import type { ControlOptions } from './options.js';

/** Above this many executions asked for per first attempt, retries are what fills the engines. */
const MOST_PER_FIRST = 1.05;
/** Retries may fill the engines up to this share of Ĉ. */
const SHARE_OF_CAPACITY = 0.9;

/** Over the budget's window; both are shares of the executions that Ĉ makes in one. */
export interface GuardState {
  /** Executions asked for, those that were refused included: above 1 the load feeds itself. */
  readonly loopGain: number;
  /** Executions begun. */
  readonly executionsPerCapacity: number;
}

/**
 * Counts what is asked of all engines together. Executions per call × arrival rate ÷ Ĉ is what is asked for ÷ Ĉ, as long
 * as all three are taken over one window; what is refused counts, or else the guard would end by its own effect.
 */
export class Guard {
  readonly #options: ControlOptions;
  readonly #asked: WindowCount;
  readonly #admitted: WindowCount;
  readonly #begun: WindowCount;

  constructor(options: ControlOptions) {
    const { windowMs } = options.budget;
    this.#options = options;
    this.#asked = new WindowCount(windowMs);
    this.#admitted = new WindowCount(windowMs);
    this.#begun = new WindowCount(windowMs);
  }

  /** An execution was asked for, and is to be made or not. */
  asked(admitted: boolean, now: number): void {
    this.#asked.add(now);
    if (admitted) this.#admitted.add(now);
  }

  begun(now: number): void {
    this.#begun.add(now);
  }

  /** Whether one more that a retry asks for is too many, `firsts` being the first attempts in the window. */
  refuses(firsts: number, now: number): boolean {
    const most = this.#mostInWindow;
    if (!this.#options.guard || most === undefined) return false;
    const asked = this.#asked.total(now);
    const feedsItself = asked > MOST_PER_FIRST * firsts && asked > most;
    return feedsItself && this.#admitted.total(now) + 1 > SHARE_OF_CAPACITY * most;
  }

  /** Undefined while Ĉ is unknown. */
  state(now: number): GuardState | undefined {
    const most = this.#mostInWindow;
    if (most === undefined) return undefined;
    return {
      loopGain: this.#asked.total(now) / most,
      executionsPerCapacity: this.#begun.total(now) / most,
    };
  }

  get #mostInWindow(): number | undefined {
    const { capacity, budget } = this.#options;
    return capacity === undefined ? undefined : (capacity * budget.windowMs) / 1_000;
  }
}
