/** What the bench asks of its load, and what it hears back: messages between two processes. */

import type { Target } from './connection.js';
import type { AnswerKind } from './workload.js';

/** Where requests go, and how they look. */
export interface Asked {
  readonly target: Target;
  readonly path: string;
  /** Beside those that every contender gets. */
  readonly headers: Readonly<Record<string, string>>;
  readonly answer: AnswerKind;
  readonly bodyBytes: number;
}

/** Sends the next request of a connection when the last one's answer is there. */
export interface ClosedLoop {
  readonly kind: 'closed';
  readonly asked: Asked;
  readonly connections: number;
  /** Before what is measured, milliseconds. */
  readonly warmMs: number;
  readonly ms: number;
}

/** Sends at planned moments, whatever has come back. */
export interface OpenLoop {
  readonly kind: 'open';
  readonly asked: Asked;
  readonly ratePerSecond: number;
  readonly seed: number;
  readonly warmMs: number;
  readonly ms: number;
}

/** Opens so many streams, each silent after its first event, and keeps them until `release`. */
export interface Hold {
  readonly kind: 'hold';
  readonly asked: Asked;
  readonly streams: number;
  /** When to settle for those that are open, milliseconds. */
  readonly limitMs: number;
}

export interface Release {
  readonly kind: 'release';
}

export type Job = ClosedLoop | OpenLoop | Hold | Release;

/** Milliseconds; NaN becomes null on the way between processes. */
export interface Spread {
  readonly p50: number | null;
  readonly p99: number | null;
}

export interface Taken {
  /** By the words that came inside the window, so that half a stream counts half; closed loop only. */
  readonly answers: number;
  /** Whole answers that came inside the window (closed loop) or were planned in it (open loop); open streams (hold). */
  readonly whole: number;
  /** Requests without a whole answer, over all of the job. */
  readonly faults: number;
  /** Some of them, in words. */
  readonly said: readonly string[];
  /** Length of the window. */
  readonly seconds: number;
  /** From when a request was due to the first piece of its answer, and to the end of it. */
  readonly firstMs: Spread;
  readonly endMs: Spread;
  /** From when a request was due to when it was sent. */
  readonly lateMs: Spread;
}

/** `opened` and `closed` are the ends of the window that is measured. */
export type Reply =
  | { readonly kind: 'opened' | 'closed' }
  | { readonly kind: 'taken'; readonly taken: Taken };
