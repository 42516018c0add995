/** How attempts and calls end: each once, said once, booked once. */

import { assert } from '../assert.js';
import type { Attempt, Call } from './call.js';
import { shortestGapMs } from './deadline.js';
import { learnFromGivingUp } from './expecting.js';
import type { State } from './state.js';
import type { AttemptEnding, CallEnding, RefusalReason } from './words.js';

/** Least time a call without work is remembered, milliseconds. */
const REMEMBER_MS = 60_000;

export function endAttempt(state: State, attempt: Attempt, ending: AttemptEnding): void {
  const { call, id } = attempt;
  state.attempts.delete(id);
  call.listeners.delete(attempt);
  call.mayReturnAt = state.now;
  state.ledger.attempts.end(ending);
  state.say({
    kind: 'attempt-ended',
    attempt: id,
    call: call.id,
    execution: call.execution?.id,
    outcome: attempt.attached ? attempt.outcome : undefined,
    ordinal: attempt.ordinal,
    ending,
    ageMs: state.now - attempt.arrivedAt,
    tenant: call.tenant,
  });
}

/** Ends every listener by the gateway's word, not the client's. */
export function endListeners(state: State, call: Call, ending: AttemptEnding): void {
  for (const listener of call.listeners) endListener(state, listener, ending);
}

/** The same for one of them, which may be told when to come back. */
export function endListener(
  state: State,
  listener: Attempt,
  ending: AttemptEnding,
  retryAfterMs?: number,
): void {
  const { call, facts, id } = listener;
  state.say({ kind: 'end', attempt: id, ending, retryAfterMs });
  endAttempt(state, listener, ending);
  call.mayReturnAt = state.now + shortestGapMs(facts, retryAfterMs);
}

/** Sheds an attempt of a known call. */
export function refuse(state: State, attempt: Attempt, reason: RefusalReason): void {
  const retryAfterMs = drawRetryAfter(state, attempt.call.tenant);
  const mayRetry = reason !== 'gave_up' && state.now + retryAfterMs < attempt.call.giveUpAt;
  state.say({
    kind: 'refuse',
    attempt: attempt.id,
    reason,
    ordinal: attempt.ordinal,
    retryAfterMs,
    mayRetry,
  });
  endAttempt(state, attempt, reason);
  attempt.call.mayReturnAt = state.now + shortestGapMs(attempt.facts, retryAfterMs);
}

/** Milliseconds that a refused client of the tenant is told to stay away. */
export function drawRetryAfter(state: State, tenant: string): number {
  const retryAfterMs = state.retryAfter.draw(state.line.size, state.now);
  state.departures.toldToWait(tenant, retryAfterMs, state.now);
  return retryAfterMs;
}

/** Books the call's end; its record may live on for a while. */
export function endCall(state: State, call: Call, ending: CallEnding): void {
  if (call.ended) return;
  call.ended = true;
  state.ledger.calls.end(ending);
  const { id, tenant, attempts, executions } = call;
  state.say({ kind: 'call-ended', call: id, tenant, ending, attempts, executions });
}

/** The call has no work any more; it is remembered until its client has given up, and then ends as `fate`. */
export function setIdle(state: State, call: Call, fate: CallEnding): void {
  call.state = 'idle';
  call.fate = fate;
  if (call.departed === undefined) state.returns.release(call);
  call.vacatedAt = state.now;
  call.forgetAt = Math.max(call.giveUpAt, state.now + REMEMBER_MS);
  state.register.setIdle(call, true);
  state.plan(call);
}

/** Nothing of the call is known from now on. */
export function forgetCall(state: State, call: Call, fate: CallEnding): void {
  assert(call.state !== 'gone', 'a call was forgotten twice');
  if (call.departed !== undefined) {
    state.departures.lost(call.departed.facts);
    learnFromGivingUp(state, call);
  }
  call.departed = undefined;
  state.returns.release(call);
  endCall(state, call, fate);
  call.state = 'gone';
  state.register.remove(call);
  state.unplan(call);
}

/** Wipes the call's answer. A call whose answer reached nobody is remembered: its client may still ask again. */
export function dropAnswer(state: State, call: Call, fate: CallEnding): void {
  const { execution } = call;
  if (execution !== undefined) {
    state.memory.release(execution);
    state.say({ kind: 'forget', execution: execution.id });
    if (call.deliveredAt === undefined) sayWasted(state, call);
    call.execution = undefined;
  }
  const mayReturn = fate === 'abandoned' && call.deliveredAt === undefined && call.last.shareable;
  if (mayReturn) setIdle(state, call, fate);
  else forgetCall(state, call, fate);
}

/** The call's execution has reached nobody and never will. */
export function sayWasted(state: State, call: Call): void {
  const { execution, tenant } = call;
  if (execution === undefined) return;
  const { id, usage, bytes } = execution;
  state.say({ kind: 'wasted', execution: id, tenant, usage, bytes });
}
