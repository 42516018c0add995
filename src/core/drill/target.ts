/** Where a drill's attempts go: a model on the same virtual clock, or a server behind HTTP. */

import type { PlannedCall } from './plan.js';

export interface AttemptRequest {
  readonly call: PlannedCall;
  /** From 0. */
  readonly ordinal: number;
  /** When it was to be sent, milliseconds from the start of the run. */
  readonly dueMs: number;
}

/** What an answer, or the lack of one, says beside its status. */
export interface Told {
  /** The execution that the answer comes from. */
  readonly execution?: string;
  /** What the attempt met at a gateway: `started`, `attached` or `replayed`. */
  readonly outcome?: string;
  /** Why it was refused, or how the connection broke off. */
  readonly reason?: string;
}

/** What a client hears of its attempt; nothing after it has left. Exactly one of the last three ends it. */
export interface AttemptListener {
  /** The server is there, but no answer yet: headers, a comment in a stream. */
  alive(): void;
  /** May be called more than once before the end; later words add to earlier ones. */
  told(told: Told): void;
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
