/** Where a drill's attempts go: a model on the same virtual clock, or a server behind HTTP. */

import type { PlannedCall } from './plan.js';

export interface AttemptRequest {
  readonly call: PlannedCall;
  /** From 0. */
  readonly ordinal: number;
}

/** What a client hears of its attempt; nothing after it has left. Exactly one of the last three ends it. */
export interface AttemptListener {
  /** Answer bytes came. */
  bytes(): void;
  /** The whole answer is there. */
  answered(): void;
  /** A status other than 2xx. `retryAfterMs` and `mayRetry` as the answer said, if it did. */
  refused(status: number, retryAfterMs?: number, mayRetry?: boolean): void;
  /** The connection broke off. */
  broken(): void;
}

/** Leaves: closes the connection. Calling it after the end does nothing. */
export type Leave = () => void;

export interface Target {
  send(request: AttemptRequest, listener: AttemptListener): Leave;
}
