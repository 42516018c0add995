/** The records of the control: calls, their attempts, their place in line, their execution. */

import type { AttemptFacts, Usage } from './event.js';
import type { Group, Member } from './fleet.js';
import type { Basis } from './patience.js';
import type { CallEnding, CancelEnding, Outcome } from './words.js';

/** One HTTP request of a call, from arrival to its ending. */
export interface Attempt {
  readonly id: string;
  readonly facts: AttemptFacts;
  readonly arrivedAt: number;
  /** Number within its call, from 0. */
  ordinal: number;
  call: Call;
  outcome: Outcome;
  /** It was given something to listen to. */
  attached: boolean;
  /** When its last byte was handed over. */
  handedAt: number | undefined;
  /** Answer bytes went to it. */
  reached: boolean;
}

/** A call's place in the line. */
export interface Entry {
  readonly call: Call;
  /** The engines that it may go to. */
  readonly group: Group;
  /** The attempt whose request will be sent. */
  readonly attempt: string;
  readonly queuedAt: number;
  readonly bytes: number;
  /** Held back until then. */
  readonly notBefore: number;
}

/** The work inside the engine. */
export interface Execution {
  readonly id: string;
  readonly call: Call;
  readonly engine: Member;
  /** The attempt whose request was sent, and its body's bytes. */
  readonly attempt: string;
  readonly bodyBytes: number;
  readonly startedAt: number;
  /** It was asked to stream: its first byte may come long before its end. */
  readonly streams: boolean;
  /** Order of starting, over all executions. */
  readonly number: number;
  firstByteAt: number | undefined;
  bytes: number;
  /** The whole answer so far is in the replay buffer. */
  replayable: boolean;
  /** A stream's bytes, or a whole answer, were shown to some listener: only proof may adopt the rest of it. */
  shown: boolean;
  /** The engine answers with a stream of events. */
  stream: boolean;
  /** Still inside the engine. */
  live: boolean;
  usage: Usage | undefined;
}

/** `idle`: no work now; `gone`: forgotten. */
export type CallState = 'waiting' | 'running' | 'answered' | 'idle' | 'gone';

export interface Call {
  readonly id: string;
  /** Order of first attempts, over all calls. */
  readonly number: number;
  readonly scope: string;
  readonly tenant: string;
  readonly createdAt: number;
  state: CallState;
  attempts: number;
  executions: number;
  /** Executions it may still have for free. */
  entitlement: number;
  readonly listeners: Set<Attempt>;
  /** The rank of the highest class that an attempt of it came with, before its tenant's highest is looked at. */
  askedRank: number;
  /** What its latest attempt said. */
  last: AttemptFacts;
  /** Its key and traceparent as known to the register. */
  readonly names: Set<string>;
  keyed: boolean;
  /** Some attempt of it asked that nothing be kept past delivery. */
  noStore: boolean;
  entry: Entry | undefined;
  execution: Execution | undefined;
  /** It arrived beside an equal live one at `createdAt` and may be that one's retry. */
  beside: boolean;
  /** Engines that could not be reached for it, since it last came to the line. */
  readonly refusedBy: Set<Member>;
  /** When its last listener left, or it lost its work: since then a return is a gap. */
  vacatedAt: number;
  /** Before this its client cannot be back, going by how the latest of its attempts ended. */
  mayReturnAt: number;
  graceUntil: number;
  cancelAs: CancelEnding;
  retainUntil: number;
  deliveredAt: number | undefined;
  /** When its first attempt is expected to end, by what, and whether that has happened. */
  deadlineAt: number;
  basis: Basis;
  tardy: boolean;
  /** When its latest attempt came. */
  askedAt: number;
  /** When the last of its attempts is expected to end: after it an answer is worth nothing. */
  lastEndsAt: number;
  /** … though its client may well ask again, going by what is known. */
  mayGoOn: boolean;
  /** Its client may come back until then: so long it is remembered. */
  giveUpAt: number;
  forgetAt: number;
  /** Counted in the ledger as ended. */
  ended: boolean;
  /** What it will be counted as if nothing more comes. */
  fate: CallEnding;
  /** The latest departure, not yet known to be for good. */
  departed: { readonly facts: AttemptFacts; readonly at: number } | undefined;
  /** An equal attempt took its work without proof, and a claim was left for its own next one. */
  robbed: boolean;
}

/** Nobody listens, and its work or answer could serve somebody. */
export function isOrphan(call: Call): boolean {
  if (call.listeners.size > 0 || call.deliveredAt !== undefined) return false;
  return (
    call.state === 'waiting' ||
    ((call.state === 'running' || call.state === 'answered') && isReplayable(call))
  );
}

/** Its answer, if it has one or gets one, can be given from the first byte. */
export function isReplayable(call: Call): boolean {
  return call.execution === undefined || call.execution.replayable;
}

/** Answer bytes go to the attempt from now on. */
export function reach(attempt: Attempt): void {
  attempt.reached = true;
  const { execution } = attempt.call;
  if ((attempt.facts.stream || attempt.call.execution?.stream === true) && execution !== undefined)
    execution.shown = true;
}
