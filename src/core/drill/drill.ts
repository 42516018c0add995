/** Runs a plan's calls, open loop: each is sent at its planned moment, whatever became of the others. */

import type { Cancel, Clock } from '../time/clock.js';
import { Client } from './client.js';
import type { PlannedCall } from './plan.js';
import type { AttemptRecord, CallRecord } from './record.js';
import type { Target } from './target.js';

export interface DrillParts {
  readonly clock: Clock;
  readonly target: Target;
  readonly seed: number;
  /** Hears of each attempt and each call when it has ended. */
  readonly attemptEnded?: (attempt: AttemptRecord) => void;
  readonly callEnded?: (call: CallRecord) => void;
}

export class Drill {
  readonly attempts: AttemptRecord[] = [];
  readonly calls: CallRecord[] = [];
  readonly #planned: readonly PlannedCall[];
  readonly #parts: DrillParts;
  /** Clients whose call has not ended. */
  readonly #live = new Set<Client>();
  #next = 0;
  #timer: Cancel | undefined;

  /** `planned` in order of arrival; the clock stands at the start of the run. */
  constructor(planned: readonly PlannedCall[], parts: DrillParts) {
    this.#planned = planned;
    this.#parts = parts;
  }

  /** Whether every call has ended. */
  get settled(): boolean {
    return this.calls.length === this.#planned.length;
  }

  /** Calls that have been sent and not ended. */
  get waiting(): number {
    return this.#live.size;
  }

  /** Calls sent so far. */
  get sent(): number {
    return this.#next;
  }

  start(): void {
    this.#await();
  }

  /** Sends nothing more and closes every connection; what has not ended stays open. */
  stop(): void {
    this.#timer?.();
    for (const client of this.#live) client.stop();
    this.#live.clear();
  }

  /** One timer at a time: a plan of a million calls holds one. Whatever is due goes out at once, however late. */
  #await(): void {
    const call = this.#planned[this.#next];
    if (call === undefined) return;
    const { clock } = this.#parts;
    this.#timer = clock.after(Math.max(0, call.atMs - clock.now()), () => {
      const due = this.#due(clock.now());
      this.#await();
      for (const each of due) this.#send(each);
    });
  }

  /** The next call, and those behind it whose moment has come too. */
  #due(now: number): readonly PlannedCall[] {
    const from = this.#next;
    this.#next += 1;
    while ((this.#planned[this.#next]?.atMs ?? Number.POSITIVE_INFINITY) <= now) this.#next += 1;
    return this.#planned.slice(from, this.#next);
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
        this.#live.delete(client);
        callEnded?.(ended);
      },
    });
    this.#live.add(client);
    client.start();
  }
}
