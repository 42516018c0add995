/** What is expected of a call's client: until when it waits, and until when an answer is worth anything. */

import type { Attempt, Call } from './call.js';
import type { AttemptFacts } from './event.js';
import type { State } from './state.js';

/** Takes up an attempt of the call that has just arrived; its latest facts are known. */
export function expectOf(state: State, call: Call): void {
  call.askedAt = state.now;
  state.patience.asked(call.last, call.attempts - 1);
  estimate(state, call);
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
  if (call.departed === undefined) return;
  const { facts, at } = call.departed;
  const waitedOut = WAITED_OUT * state.patience.expected(facts).deadlineMs;
  if (at - call.askedAt >= waitedOut) state.patience.gaveUp(facts, call.attempts);
}

/** Of the expected deadline; whoever leaves before that does so for another reason. */
const WAITED_OUT = 0.9;

/** What is expected of clients has changed: looks at everything in line anew. */
function reviseLine(state: State): void {
  for (const entry of state.line) {
    estimate(state, entry.call);
    state.line.review(entry);
    state.plan(entry.call);
  }
}

/**
 * The call came beside an equal one and may be its next attempt, whose leaving was not noticed yet. Until that is known
 * it gets no place before an equal one that waits: else both would be started.
 */
export function waitBehindEqual(state: State, call: Call): void {
  for (const other of state.register.scope(call.scope)) {
    if (other === call || other.entry === undefined || other.last.userAgent !== call.last.userAgent) continue;
    const { deadlineAt, basis, tardy, lastEndsAt } = other;
    Object.assign(call, { deadlineAt, basis, tardy, lastEndsAt });
    return;
  }
}

function estimate(state: State, call: Call): void {
  const { deadlineMs, basis } = state.patience.expected(call.last);
  call.deadlineAt = call.createdAt + deadlineMs;
  call.basis = basis;
  call.lastEndsAt = state.patience.lastEndsAt(call.last, call.attempts - 1, call.askedAt);
}
