/** How work and answers that nobody may want any more are let go: orphaning, cancelling, sealing, wiping. */

import { type Attempt, type Call, type Execution, isReplayable, reach } from './call.js';
import type { AttemptFacts } from './event.js';
import { matchOf } from './evidence.js';
import { expectOf } from './expecting.js';
import { dropAnswer, forgetCall, sayWasted, setIdle } from './settle.js';
import { fillRoom, leaveLine } from './starting.js';
import type { State } from './state.js';
import type { CancelEnding, Evidence, ExecutionEnding } from './words.js';

/** The call's last listener is gone; `facts` are what that one said. */
export function orphan(state: State, call: Call, facts: AttemptFacts): void {
  call.vacatedAt = state.now;
  if (call.deliveredAt !== undefined) return vacateDelivered(state, call);
  if (lateMerge(state, call)) return;
  const graceMs = state.departures.graceMs(facts, call.execution?.shown === true, state.now);
  call.graceUntil = state.now + graceMs;
  call.cancelAs = graceMs === 0 ? 'cancelled_on_leave' : 'cancelled_grace';
  if (call.state === 'waiting') orphanEntry(state, call, graceMs);
  else if (call.state === 'running') orphanExecution(state, call, graceMs);
  else if (call.state === 'answered') orphanAnswer(state, call, facts);
}

function orphanEntry(state: State, call: Call, graceMs: number): void {
  if (call.entry === undefined) return;
  if (graceMs === 0) {
    leaveLine(state, call.entry, 'left');
    setIdle(state, call, 'abandoned');
    return;
  }
  state.line.heard(call.entry, false);
  state.plan(call);
}

function orphanExecution(state: State, call: Call, graceMs: number): void {
  if (!isReplayable(call)) cancel(state, call, 'cancelled_not_replayable');
  else if (graceMs === 0) cancel(state, call, call.cancelAs);
  else state.plan(call);
}

function orphanAnswer(state: State, call: Call, facts: AttemptFacts): void {
  if (!isReplayable(call) || facts.cancelOnLeave || !facts.shareable) dropAnswer(state, call, 'abandoned');
  else retain(state, call);
}

/** A finished answer waits for its client to come back; where nothing is attached, nobody could be given it. */
export function retain(state: State, call: Call): void {
  const { execution } = call;
  if (execution === undefined) return;
  const delivered = call.deliveredAt !== undefined;
  if (state.options.coalesce === 'off') return dropAnswer(state, call, delivered ? 'delivered' : 'abandoned');
  const { retainMs, retainKeyedMs } = state.options;
  call.retainUntil = state.now + (call.keyed ? retainKeyedMs : retainMs);
  state.plan(call);
  for (const dropped of state.memory.retain(execution, state.payer(call.tenant), delivered)) {
    dropAnswer(state, dropped.call, 'abandoned');
  }
}

/** The answer was received: it stays a moment for a client that proves to have missed it. */
export function vacateDelivered(state: State, call: Call): void {
  if (state.answerUntil(call) <= state.now) dropAnswer(state, call, 'delivered');
  else retain(state, call);
}

/**
 * An equal that came just before this departure was noticed is its retry after all, if nothing was sent for it.
 * Its attempts move over, its own call never was one.
 */
function lateMerge(state: State, call: Call): boolean {
  if (call.state === 'gone' || call.execution?.shown === true || call.last.stateful) return false;
  if (!isReplayable(call)) return false;
  const since = state.now - state.options.lateMergeMs;
  for (const other of state.register.scope(call.scope)) {
    if (other === call || !other.beside || other.createdAt < since) continue;
    if (other.state !== 'waiting' || other.listeners.size === 0 || !mayBeRetryOf(other.last, call)) continue;
    merge(state, other, call);
    return true;
  }
  return false;
}

/** An equal attempt takes the call's work without proof: the call's own next attempt, if it comes, has a claim. */
export function rob(state: State, call: Call, lost: AttemptFacts): void {
  state.register.crowd(call.scope);
  if (call.robbed) return;
  call.robbed = state.claims.give(lost, call.giveUpAt);
}

function mayBeRetryOf(facts: AttemptFacts, call: Call): boolean {
  const otherKey = facts.key !== undefined && call.last.key !== undefined && facts.key !== call.last.key;
  return facts.userAgent === call.last.userAgent && !otherKey;
}

function merge(state: State, from: Call, into: Call): void {
  if (from.entry !== undefined) leaveLine(state, from.entry, 'merged');
  const moved = [...from.listeners];
  from.listeners.clear();
  const lost = into.last;
  for (const attempt of moved) {
    const match = matchOf(attempt.facts, into, state.now, 0);
    const proven = match.sameKey || match.sameTrace || (match.nextCount && !match.otherKey);
    if (!proven) rob(state, into, lost);
    move(state, attempt, into, match.evidence);
  }
  into.giveUpAt = Math.max(into.giveUpAt, from.giveUpAt);
  into.askedRank = Math.min(into.askedRank, from.askedRank);
  forgetCall(state, from, 'merged');
  expectOf(state, into, into.departed);
  if (into.entry !== undefined) state.line.heard(into.entry, true);
  if (into.departed !== undefined) state.departures.returned(into.departed.facts, 0);
  into.departed = undefined;
  if (into.execution !== undefined) sealAll(state, state.memory.reopen(into.execution));
  state.plan(into);
}

function move(state: State, attempt: Attempt, into: Call, evidence: readonly Evidence[]): void {
  attempt.call = into;
  attempt.ordinal = into.attempts;
  attempt.outcome = into.state === 'answered' ? 'replayed' : 'attached';
  into.attempts += 1;
  into.listeners.add(attempt);
  into.last = attempt.facts;
  into.keyed ||= attempt.facts.key !== undefined;
  into.noStore ||= attempt.facts.noStore;
  state.register.name(into, attempt.facts);
  if (into.execution?.firstByteAt !== undefined) reach(attempt);
  const { id, outcome, ordinal } = attempt;
  state.say({ kind: 'decided', attempt: id, call: into.id, decision: 'late_merge', evidence, candidates: 1 });
  state.say({ kind: 'attach', attempt: id, call: into.id, execution: into.execution?.id, outcome, ordinal });
}

/** Ends an execution by the gateway's choice. */
export function cancel(state: State, call: Call, ending: CancelEnding): void {
  const { execution } = call;
  if (execution === undefined) return;
  state.say({ kind: 'cancel', execution: execution.id, ending });
  retire(state, execution, ending);
  sayWasted(state, call);
  state.memory.release(execution);
  call.execution = undefined;
  setIdle(state, call, 'abandoned');
  fillRoom(state);
}

/** The execution has left the engine. */
export function retire(state: State, execution: Execution, ending: ExecutionEnding, status?: number): void {
  const { id, call, engine, bytes, usage, startedAt } = execution;
  execution.live = false;
  state.executions.delete(id);
  engine.room.release(execution);
  if (!ending.startsWith('failed_')) engine.health.ended(execution);
  state.ledger.executions.end(ending);
  const ageMs = state.now - startedAt;
  state.say({
    kind: 'execution-ended',
    execution: id,
    call: call.id,
    tenant: call.tenant,
    ending,
    ageMs,
    bytes,
    status,
    usage,
  });
}

/** Answers that are too large to be kept whole: those that nobody reads have no use any more. */
export function sealAll(state: State, sealed: readonly Execution[]): void {
  for (const execution of sealed) {
    const { call } = execution;
    state.say({ kind: 'seal', execution: execution.id });
    if (call.listeners.size > 0) continue;
    if (execution.live) cancel(state, call, 'cancelled_not_replayable');
    else dropAnswer(state, call, 'abandoned');
  }
}
