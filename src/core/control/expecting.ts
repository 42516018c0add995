/** What is expected of a call's client: until when it waits, and until when an answer is worth anything. */

import type { Attempt, Call, Entry } from './call.js';
import type { AttemptFacts } from './event.js';
import type { State } from './state.js';

/** Takes up the call's latest attempt, which came after `departed`; what it says is known. */
export function expectOf(state: State, call: Call, departed?: Call['departed']): void {
  const attempt = attemptOf(call);
  const stopped = departed !== undefined && !waitedOut(state, departed, call.askedAt);
  for (const { arrivedAt } of call.listeners) call.askedAt = Math.max(call.askedAt, arrivedAt);
  if (attempt > 1 && !stopped) revise(state, state.returns.returned(call.last, attempt - 1));
  estimate(state, call);
}

/** Number of its latest attempt, from 1: who counts itself knows of those that were not seen. */
function attemptOf({ attempts, last }: Call): number {
  return Math.max(attempts, (last.retryCount ?? 0) + 1);
}

/** An attempt has ended without an answer by its client's will: so long does it wait. */
export function learnFromLeaving(state: State, { call, facts, arrivedAt, reached, ordinal }: Attempt): void {
  if (ordinal === 0) call.tardy = true;
  if (!reached && state.patience.left(facts, state.now - arrivedAt)) reviseLine(state);
  else if (call.entry !== undefined) state.line.review(call.entry);
}

/** An attempt was served after `ageMs`. */
export function learnFromServing(state: State, facts: AttemptFacts, ageMs: number): void {
  if (state.patience.served(facts, ageMs)) reviseLine(state);
}

/** The call's first attempt is still there at a moment by which it was assumed to leave. */
export function learnFromWaiting(state: State, call: Call): void {
  if (call.tardy || call.basis !== 'assumed' || call.deadlineAt > state.now) return;
  for (const { ordinal, facts, arrivedAt } of call.listeners) {
    if (ordinal === 0 && state.patience.waits(facts, state.now - arrivedAt)) reviseLine(state);
  }
}

/** The client has not come back: so many attempts does it make, if it was a deadline that ended the last one. */
export function learnFromGivingUp(state: State, call: Call): void {
  const { departed, last } = call;
  if (departed === undefined || !waitedOut(state, departed, call.askedAt)) return;
  revise(state, state.returns.lost(last, attemptOf(call)));
}

/** Of the expected deadline; whoever leaves before that does so for another reason. */
const WAITED_OUT = 0.9;

function waitedOut(state: State, { facts, at }: NonNullable<Call['departed']>, askedAt: number): boolean {
  return at - askedAt >= WAITED_OUT * state.patience.expected(facts).deadlineMs;
}

/** What is expected of clients has changed: looks at everything in line anew. */
function reviseLine(state: State): void {
  revise(
    state,
    [...state.line].map(({ call }) => call),
  );
}

/** The same for some calls, and for those that wait behind an equal one of them. */
function revise(state: State, calls: readonly Call[]): void {
  const scopes = new Set<string>();
  for (const call of calls) {
    if (call.entry === undefined) continue;
    estimate(state, call);
    scopes.add(call.scope);
    renew(state, call.entry);
  }
  for (const scope of scopes) {
    for (const call of state.register.scope(scope)) {
      if (!call.beside || call.entry === undefined) continue;
      waitBehindEqual(state, call);
      renew(state, call.entry);
    }
  }
}

function renew(state: State, entry: Entry): void {
  state.line.review(entry);
  state.plan(entry.call);
}

/**
 * The call came beside an equal one and may be its next attempt, whose leaving was not noticed yet. Until that is known
 * it gets no place before an equal one that waits: else both would be started.
 */
export function waitBehindEqual(state: State, call: Call): void {
  for (const other of state.register.scope(call.scope)) {
    if (other === call || other.entry === undefined || other.last.userAgent !== call.last.userAgent) continue;
    const { deadlineAt, basis, tardy, lastEndsAt, mayGoOn } = other;
    Object.assign(call, { deadlineAt, basis, tardy, lastEndsAt, mayGoOn });
    return;
  }
}

function estimate(state: State, call: Call): void {
  const { patience, returns } = state;
  const attempt = attemptOf(call);
  const works = call.state === 'running' || call.state === 'answered';
  const attempts = works ? returns.expected(call.last, attempt) : returns.stake(call, call.last, attempt);
  const { deadlineMs, basis } = patience.expected(call.last, attempts);
  call.deadlineAt = call.createdAt + deadlineMs;
  call.basis = basis;
  call.mayGoOn = returns.mayGoOn(call.last, attempts);
  call.lastEndsAt = patience.lastEndsAt(call.last, { attempt, attempts, arrivedAt: call.askedAt });
}
