/** An attempt arrives: whose is it, what does it join, and if nothing, what may it start? */

import { assert } from '../assert.js';
import { type Attempt, type Call, reach } from './call.js';
import { giveUpAt } from './deadline.js';
import type { AttemptFacts } from './event.js';
import { expectOf, waitBehindEqual } from './expecting.js';
import { type Recognition, recognise } from './recognition.js';
import { scopeOf } from './register.js';
import { rob, sealAll } from './releasing.js';
import { drawRetryAfter, dropAnswer, endListeners, forgetCall, refuse } from './settle.js';
import { admit } from './starting.js';
import type { State } from './state.js';
import type { Outcome, RefusalReason, RejectReason } from './words.js';

const ALONE: Recognition = {
  decision: 'new_call_not_shared',
  evidence: [],
  candidates: 0,
  proven: false,
  overlaps: [],
  holdBack: false,
};

export function arrive(state: State, id: string, facts: AttemptFacts): void {
  assert(!state.attempts.has(id), `attempt ${id} arrived twice`);
  state.ledger.attempts.begin();
  if (state.draining) return turnAway(state, id, facts.tenant, 'refused_draining');
  if (state.classes.isUnknown(facts)) state.say({ kind: 'warn', warning: 'unknown_class', attempt: id });
  const recognition = facts.shareable ? recogniseKnown(state, facts) : ALONE;
  noteOverlap(state, id, recognition);
  if (recognition.call !== undefined) join(state, id, facts, recognition.call, recognition);
  else openCall(state, id, facts, recognition);
}

/** A request that was turned away before anything could be known of it. */
export function reject(state: State, id: string, reason: RejectReason): void {
  state.ledger.attempts.begin();
  state.ledger.attempts.end(reason);
  state.say({ kind: 'attempt-ended', attempt: id, ordinal: 0, ending: reason, ageMs: 0 });
}

function recogniseKnown(state: State, facts: AttemptFacts): Recognition {
  return recognise(facts, state.register.candidates(facts), {
    now: state.now,
    options: state.options,
    crowded: state.register.crowded(scopeOf(facts)),
    overlapped: (name) => state.overlapped.get(name) !== undefined,
  });
}

function noteOverlap(state: State, id: string, { overlaps, decision }: Recognition): void {
  const takesOver = decision === 'take_over';
  if (takesOver) state.say({ kind: 'warn', warning: 'listener_taken_over', attempt: id });
  const again = overlaps.some((name) => state.overlapped.get(name) !== undefined);
  if (again && !takesOver) state.say({ kind: 'warn', warning: 'key_on_overlapping_attempts', attempt: id });
  for (const name of overlaps) state.overlapped.set(name, true);
}

/** Sheds an attempt that was not given a call. */
function turnAway(state: State, id: string, tenant: string, reason: RefusalReason): void {
  state.say({
    kind: 'refuse',
    attempt: id,
    reason,
    ordinal: 0,
    retryAfterMs: drawRetryAfter(state, tenant),
    mayRetry: reason !== 'refused_model',
  });
  state.ledger.attempts.end(reason);
  state.say({ kind: 'attempt-ended', attempt: id, ordinal: 0, ending: reason, ageMs: 0, tenant });
}

/** A new call, entitled to one execution unless it says itself that it is not the first attempt. */
function openCall(state: State, id: string, facts: AttemptFacts, recognition: Recognition): void {
  if (state.fleet.serving(facts.model) === undefined)
    return turnAway(state, id, facts.tenant, 'refused_model');
  if (!placeForCall(state)) return turnAway(state, id, facts.tenant, 'refused_calls');
  const { decision } = recognition;
  const claimed = facts.shareable && state.claims.take(facts, state.now);
  const retry = decision === 'retry_not_attached' || (facts.retryCount ?? 0) >= 1;
  const call = newCall(state, facts, claimed || !retry ? 1 : 0);
  call.beside = decision === 'new_call_beside_live';
  if (!retry && !claimed) state.budget.first(state.payer(facts.tenant), state.now);
  call.tardy = retry;
  const attempt = newAttempt(state, id, facts, call, 'started');
  expectOf(state, call);
  if (call.beside) waitBehindEqual(state, call);
  decide(state, attempt, recognition);
  const notBefore = recognition.holdBack ? state.now + state.options.lateMergeHoldMs : state.now;
  if (admit(state, attempt, { retry, notBefore }) === undefined) attach(state, attempt);
}

function join(state: State, id: string, facts: AttemptFacts, call: Call, recognition: Recognition): void {
  const { last: lost, departed } = call;
  const attempt = newAttempt(state, id, facts, call, 'attached');
  decide(state, attempt, recognition);
  if (call.listeners.size > state.options.bounds.listeners)
    return refuse(state, attempt, 'refused_listeners');
  const orphaned = recognition.decision.startsWith('adopt_') || recognition.decision.startsWith('rejoin_');
  if (orphaned) returned(state, call);
  if (recognition.decision !== 'rejoin_spent' && orphaned && !recognition.proven) rob(state, call, lost);
  call.last = facts;
  // Whoever waits for the work has it as soon as one that would have come alone.
  call.askedRank = Math.min(call.askedRank, state.classes.enter(facts));
  call.giveUpAt = Math.max(call.giveUpAt, giveUpAt(facts, state.now, state.options));
  expectOf(state, call, departed);
  state.register.name(call, facts);
  call.keyed ||= facts.key !== undefined;
  call.noStore ||= facts.noStore;
  if (recognition.decision.startsWith('rejoin_')) return rejoin(state, attempt);
  if (recognition.decision === 'take_over') endOthers(state, attempt);
  if (call.state === 'answered') attempt.outcome = 'replayed';
  if (call.entry !== undefined) state.line.heard(call.entry, true);
  attach(state, attempt);
  if (call.execution !== undefined) sealAll(state, state.memory.reopen(call.execution));
}

function rejoin(state: State, attempt: Attempt): void {
  attempt.outcome = 'started';
  if (admit(state, attempt, { retry: true, notBefore: state.now }) === undefined) attach(state, attempt);
}

function endOthers(state: State, newcomer: Attempt): void {
  const { call } = newcomer;
  call.listeners.delete(newcomer);
  endListeners(state, call, 'taken_over');
  call.listeners.add(newcomer);
}

/** The client that had left is back. */
function returned(state: State, call: Call): void {
  const { departed } = call;
  if (departed !== undefined) state.departures.returned(departed.facts, state.now - departed.at);
  call.departed = undefined;
}

function attach(state: State, attempt: Attempt): void {
  const { call, id, outcome, ordinal } = attempt;
  const { execution } = call;
  attempt.attached = true;
  if (execution?.firstByteAt !== undefined) reach(attempt);
  state.say({ kind: 'attach', attempt: id, call: call.id, execution: execution?.id, outcome, ordinal });
  state.plan(call);
}

function decide(state: State, attempt: Attempt, { decision, evidence, candidates }: Recognition): void {
  state.say({ kind: 'decided', attempt: attempt.id, call: attempt.call.id, decision, evidence, candidates });
}

/** Room in the tables for one more call: calls without work go first, then answers that nobody reads. */
function placeForCall(state: State): boolean {
  while (state.register.size >= state.options.bounds.calls) {
    const idle = state.register.oldestIdle();
    const kept = idle === undefined ? state.memory.leastWorth() : undefined;
    if (idle !== undefined) pushOut(state, idle);
    else if (kept !== undefined) dropAnswer(state, kept.call, 'abandoned');
    else return false;
  }
  return true;
}

/** Whether its client would have come back will not be known. */
function pushOut(state: State, idle: Call): void {
  idle.departed = undefined;
  forgetCall(state, idle, idle.fate);
}

function newAttempt(state: State, id: string, facts: AttemptFacts, call: Call, outcome: Outcome): Attempt {
  const attempt: Attempt = {
    id,
    facts,
    arrivedAt: state.now,
    ordinal: call.attempts,
    call,
    outcome,
    attached: false,
    handedAt: undefined,
    reached: false,
  };
  call.attempts += 1;
  call.listeners.add(attempt);
  state.attempts.set(id, attempt);
  return attempt;
}

function newCall(state: State, facts: AttemptFacts, entitlement: number): Call {
  const id = state.makeId('call');
  const call: Call = {
    id,
    number: state.nextNumber(),
    scope: facts.shareable ? scopeOf(facts) : `alone\n${id}`,
    tenant: facts.tenant,
    createdAt: state.now,
    state: 'idle',
    attempts: 0,
    executions: 0,
    entitlement,
    listeners: new Set(),
    askedRank: state.classes.enter(facts),
    last: facts,
    names: new Set(),
    keyed: facts.key !== undefined,
    noStore: facts.noStore,
    entry: undefined,
    execution: undefined,
    beside: false,
    refusedBy: new Set(),
    vacatedAt: state.now,
    mayReturnAt: state.now,
    graceUntil: Number.POSITIVE_INFINITY,
    cancelAs: 'cancelled_grace',
    retainUntil: Number.POSITIVE_INFINITY,
    deliveredAt: undefined,
    deadlineAt: state.now,
    basis: 'assumed',
    tardy: false,
    askedAt: state.now,
    lastEndsAt: state.now,
    mayGoOn: false,
    giveUpAt: giveUpAt(facts, state.now, state.options),
    forgetAt: Number.POSITIVE_INFINITY,
    ended: false,
    fate: 'abandoned',
    departed: undefined,
    robbed: false,
  };
  state.register.add(call);
  if (facts.shareable) state.register.name(call, facts);
  state.ledger.calls.begin();
  return call;
}
