/** Runs a plan's calls, open loop: each is sent at its planned moment, whatever became of the others. */

import type { Clock } from '../time/clock.js';
import { Client } from './client.js';
import type { PlannedCall } from './plan.js';
import type { AttemptRecord, CallRecord } from './record.js';
import type { Target } from './target.js';

export interface DrillParts {
  readonly clock: Clock;
  readonly target: Target;
  readonly seed: number;
  /** When each attempt went out; it has not ended yet. */
  readonly attemptEnded?: (attempt: AttemptRecord) => void;
  readonly callEnded?: (call: CallRecord) => void;
}

export class Drill {
  readonly attempts: AttemptRecord[] = [];
  readonly calls: CallRecord[] = [];
  readonly #planned: readonly PlannedCall[];
  readonly #parts: DrillParts;
  #next = 0;

  /** `planned` in order of arrival; the clock stands at the start of the run. */
  constructor(planned: readonly PlannedCall[], parts: DrillParts) {
    this.#planned = planned;
    this.#parts = parts;
  }

  /** Whether every call has ended. */
  get settled(): boolean {
    return this.calls.length === this.#planned.length;
  }

  start(): void {
    this.#await();
  }

  /** One timer at a time: a plan of a million calls holds one. */
  #await(): void {
    const call = this.#planned[this.#next];
    if (call === undefined) return;
    const { clock } = this.#parts;
    clock.after(Math.max(0, call.atMs - clock.now()), () => {
      this.#next += 1;
      this.#await();
      this.#send(call);
    });
  }

  #send(call: PlannedCall): void {
    const { clock, target, seed, attemptEnded, callEnded } = this.#parts;
    const client = new Client(call, {
      clock,
      target,
      seed,
      attemptEnded: (attempt) => {
        this.attempts.push(attempt);
        attemptEnded?.(attempt);
      },
      callEnded: (ended) => {
        this.calls.push(ended);
        callEnded?.(ended);
      },
    });
    client.start();
  }
}
