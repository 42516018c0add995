/** What the reference model remembers of attempts, executions and calls, and the plain questions it asks of them. */

import type { AttemptFacts } from '../../src/core/control/event.js';
import { mannersOf } from '../../src/core/control/family.js';
import type { ControlOptions } from '../../src/core/control/options.js';
import type { AttemptEnding, CallEnding, Evidence, Outcome } from '../../src/core/control/words.js';

export const FOR_EVER = Number.POSITIVE_INFINITY;

export interface Attempt {
  readonly id: string;
  readonly facts: AttemptFacts;
  readonly at: number;
  call: Call;
  ordinal: number;
  /** The class that it came with, by its place among them. */
  asked?: number;
  outcome: Outcome | undefined;
  handedAt: number | undefined;
  /** Still waiting for an answer, or for the confirmation that it has one. */
  listening: boolean;
  delivered?: boolean;
  endedAt?: number;
  /** How it ended, and when it was told to come back, milliseconds from then. */
  ending?: AttemptEnding;
  toldMs?: number;
}

export interface Execution {
  readonly id: string;
  readonly engine: string;
  /** The attempt whose request was sent. */
  readonly attempt: Attempt;
  readonly startedAt: number;
  /** Which execution started before which. */
  readonly order: number;
  firstByte: boolean;
  /** Its answer is a stream, by the request or by the answer itself. */
  stream: boolean;
  /** Answer bytes that a listener may have seen. */
  streamed: boolean;
  /** A listener was handed it whole. */
  shown: boolean;
  bytes: number;
  sealed: boolean;
  finishedAt: number | undefined;
  usage: unknown;
}

export interface Entry {
  readonly queuedAt: number;
  readonly attempt: Attempt;
  readonly heldUntil: number;
}

export interface Call {
  readonly id: string;
  readonly facts: AttemptFacts;
  readonly attempts: Attempt[];
  /** Attempts refused because too many listen already. */
  turnedAway: number;
  state: 'waiting' | 'running' | 'answered' | 'idle' | 'gone';
  entitlement: number;
  executions: number;
  entry: Entry | undefined;
  execution: Execution | undefined;
  /** When the last listener left, and until when it is kept from cancellation. */
  orphanedAt: number | undefined;
  /** When it last lost its listener or its work; at first, when it came. */
  looseAt: number;
  graceEnd: number;
  /** Its work is cancelled, or even its finished answer dropped, when the last listener leaves. */
  cutOnLeave: boolean;
  unwanted: boolean;
  deliveredAt: number | undefined;
  giveUpAt: number;
  lastEventAt: number;
  /** The attempt of it that ended last. */
  lastEnded: Attempt | undefined;
  /** Which call became idle before which. */
  idleOrder: number;
  /** What the call ends as when it is forgotten idle. */
  lastWord: CallEnding;
  ended: boolean;
  /** Its right was handed over once: a call leaves one claim at most. */
  claimed: boolean;
  /** Engines that could not be reached for it since it last asked for work. */
  refusedBy: string[];
  /** When it came beside a live equal one: from then on it may merge. */
  besideAt: number | undefined;
}

/** A weakly adopted call's right to one execution, kept for the attempt that can prove itself. */
export interface Claim {
  readonly scope: string;
  readonly key: string | undefined;
  readonly count: number | undefined;
  readonly userAgent: string;
  readonly until: number;
}

export const scopeOf = (facts: AttemptFacts): string => JSON.stringify([facts.tenant, facts.fingerprint]);

export const listeners = (call: Call): Attempt[] => call.attempts.filter((attempt) => attempt.listening);

export const lastOf = (call: Call): Attempt => call.attempts[call.attempts.length - 1] as Attempt;

export const replayable = (call: Call): boolean => call.execution === undefined || !call.execution.sealed;

/** Work of the call exists and nobody has the answer yet. */
export const working = (call: Call): boolean =>
  call.deliveredAt === undefined &&
  (call.state === 'waiting' || call.state === 'running' || call.state === 'answered');

/** Somebody has seen part of a stream, or had a whole answer in hand: no sample is given twice. */
export const shown = (call: Call): boolean =>
  call.execution?.streamed === true || call.execution?.shown === true;

export const same = (a: string | undefined, b: string | undefined): boolean => a !== undefined && a === b;

export const hasKey = (call: Call, key: string | undefined): boolean =>
  call.attempts.some((attempt) => same(attempt.facts.key, key));

export const hasTrace = (call: Call, traceparent: string | undefined): boolean =>
  call.attempts.some((attempt) => same(attempt.facts.traceparent, traceparent));

/** A key or traceparent that an attempt of the call has brought. */
export const names = (call: Call, facts: AttemptFacts): boolean =>
  hasKey(call, facts.key) || hasTrace(call, facts.traceparent);

export function contradicts(call: Call, key: string | undefined): boolean {
  const keyed = call.attempts.some((attempt) => attempt.facts.key !== undefined);
  return key !== undefined && keyed && !hasKey(call, key);
}

/** A count that follows the call's last one. */
export const countFits = (call: Call, facts: AttemptFacts): boolean =>
  (facts.retryCount ?? 0) >= 1 && facts.retryCount === (lastOf(call).facts.retryCount ?? 0) + 1;

export const countProves = (call: Call, facts: AttemptFacts): boolean =>
  countFits(call, facts) && !contradicts(call, facts.key);

/** Key, traceparent, or a count of at least 1 that no other key contradicts: what only a retry can bring. */
export const proves = (call: Call, facts: AttemptFacts): boolean =>
  names(call, facts) || ((facts.retryCount ?? 0) >= 1 && !contradicts(call, facts.key));

/** What only a retry of this very call can bring. */
export const provesThis = (call: Call, facts: AttemptFacts): boolean =>
  names(call, facts) || countProves(call, facts);

/** Two attempts that one client may have made, the second as its retry of the first. */
export const sameClient = (a: Attempt, b: Attempt): boolean =>
  a.facts.userAgent === b.facts.userAgent && (a.facts.key ?? b.facts.key) === (b.facts.key ?? a.facts.key);

export function deadlineOf(facts: AttemptFacts, options: ControlOptions): number {
  if (facts.explicitDeadlineMs !== undefined) return facts.explicitDeadlineMs;
  const announced = facts.announcedDeadlineMs ?? options.defaultDeadlineMs;
  const capped = mannersOf(facts.userAgent).nodeFetch ? Math.min(announced, 300_000) : announced;
  return Math.max(capped, options.leastDeadlineMs);
}

export function giveUpOf(facts: AttemptFacts, at: number, options: ControlOptions): number {
  const manners = mannersOf(facts.userAgent);
  const left = Math.max(1, manners.attempts - (facts.retryCount ?? 0));
  return at + left * deadlineOf(facts, options) + manners.backoffMs;
}

/** The earliest moment at which a client that was turned away or failed asks again; one that left may do so at once. */
export function backAt({ lastEnded }: Call): number {
  if (lastEnded?.endedAt === undefined || lastEnded.ending === undefined) return 0;
  const { shortestGapMs, obeysRetryAfterMs } = mannersOf(lastEnded.facts.userAgent);
  if (lastEnded.ending.startsWith('upstream')) return lastEnded.endedAt + shortestGapMs;
  if (lastEnded.toldMs === undefined) return lastEnded.endedAt;
  const obeyed = 0.9 * Math.min(lastEnded.toldMs, obeysRetryAfterMs);
  return lastEnded.endedAt + (obeyed > 0 ? obeyed : shortestGapMs);
}

/** Everything that ties the attempt to the call, strongest first. */
export function evidenceOf(call: Call, facts: AttemptFacts, plausible: boolean): Evidence[] {
  const last = lastOf(call).facts;
  const found: [Evidence, boolean][] = [
    ['key', hasKey(call, facts.key)],
    ['traceparent', hasTrace(call, facts.traceparent)],
    ['retry_count', countFits(call, facts)],
    ['session', same(facts.session, last.session)],
    ['user_agent', facts.userAgent === last.userAgent],
    ['address', facts.address === last.address],
    ['gap', plausible],
    ['fingerprint', true],
  ];
  return found.filter(([, holds]) => holds).map(([name]) => name);
}

/** Compares two lists of answers: the first difference decides, yes before no. */
export function better(a: readonly boolean[], b: readonly boolean[]): number {
  const at = a.findIndex((answer, index) => answer !== b[index]);
  if (at < 0) return 0;
  return a[at] === true ? -1 : 1;
}
