/** Ties the control to a clock: sends it events, carries its verdicts out, wakes it when time is due. */

import { type Cancel, type Clock, RANK } from '../time/clock.js';
import type { ControlEvent } from './event.js';
import type { Verdict } from './verdict.js';

/** What decides: the control, or whatever stands in for it. */
export interface Decider {
  step(now: number, event: ControlEvent): readonly Verdict[];
  wakeAt(): number;
}

export class Driver {
  readonly #control: Decider;
  readonly #clock: Clock;
  readonly #carry: (verdict: Verdict) => void;
  readonly #waiting: ControlEvent[] = [];
  #busy = false;
  #armedFor = Number.POSITIVE_INFINITY;
  #disarm: Cancel | undefined;

  /** `carry` must not throw; it may send further events, which are taken after the verdicts at hand. */
  constructor(control: Decider, clock: Clock, carry: (verdict: Verdict) => void) {
    this.#control = control;
    this.#clock = clock;
    this.#carry = carry;
  }

  send(event: ControlEvent): void {
    this.#waiting.push(event);
    if (this.#busy) return;
    this.#busy = true;
    try {
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
        for (const verdict of this.#control.step(this.#clock.now(), next)) this.#carry(verdict);
      }
    } finally {
      this.#busy = false;
    }
    this.#arm();
  }

  /** Drops the pending timer; nothing fires after it unless another event is sent. */
  close(): void {
    this.#disarm?.();
    this.#disarm = undefined;
    this.#armedFor = Number.POSITIVE_INFINITY;
  }

  #arm(): void {
    const at = this.#control.wakeAt();
    if (at === this.#armedFor) return;
    this.close();
    if (at === Number.POSITIVE_INFINITY) return;
    this.#armedFor = at;
    const fire = (): void => {
      this.#armedFor = Number.POSITIVE_INFINITY;
      this.send({ kind: 'time' });
    };
    this.#disarm = this.#clock.after(Math.max(0, at - this.#clock.now()), fire, RANK.deadline);
  }
}
