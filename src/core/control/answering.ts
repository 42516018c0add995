/** What the engine and the clients' connections report of an answer: first byte, bytes, end, failure, delivery. */

import { type Attempt, type Call, type Execution, reach } from './call.js';
import type { ControlEvent } from './event.js';
import { learnFromLeaving, learnFromServing } from './expecting.js';
import { judge, mayGoAgain, prove } from './outage.js';
import { orphan, retain, retire, sealAll, vacateDelivered } from './releasing.js';
import { endAttempt, endCall, endListeners, forgetCall, sayWasted, setIdle } from './settle.js';
import { engineLeft, fillRoom, returnToLine } from './starting.js';
import type { State } from './state.js';

/** Client errors that a client may well try again. */
const TRANSIENT_4XX = new Set([408, 409, 425, 429]);

export function leave(state: State, id: string): void {
  const attempt = state.attempts.get(id);
  if (attempt === undefined) return;
  const { call, facts } = attempt;
  endAttempt(state, attempt, leavingOf(attempt));
  learnFromLeaving(state, attempt);
  if (call.deliveredAt === undefined) call.departed = { facts, at: state.now };
  if (call.listeners.size === 0) orphan(state, call, facts);
  else state.plan(call);
}

function leavingOf(attempt: Attempt): 'left_before_first_byte' | 'left_mid_answer' | 'left_unconfirmed' {
  if (attempt.handedAt !== undefined) return 'left_unconfirmed';
  return attempt.reached ? 'left_mid_answer' : 'left_before_first_byte';
}

/** A reader that is too far behind is cut; the work goes on for the call's return. */
export function lag(state: State, id: string): void {
  const attempt = state.attempts.get(id);
  if (attempt === undefined) return;
  const { call, facts } = attempt;
  state.say({ kind: 'end', attempt: id, ending: 'slow_reader' });
  endAttempt(state, attempt, 'slow_reader');
  if (call.listeners.size === 0) orphan(state, call, facts);
  else state.plan(call);
}

export function handed(state: State, id: string): void {
  const attempt = state.attempts.get(id);
  if (attempt === undefined || attempt.call.state !== 'answered' || attempt.handedAt !== undefined) return;
  attempt.handedAt = state.now;
  if (attempt.call.execution !== undefined) attempt.call.execution.shown = true;
  state.plan(attempt.call);
}

/** The connections that stood long enough after their last byte have received the answer. */
export function confirm(state: State, call: Call): void {
  for (const attempt of call.listeners) {
    const { handedAt } = attempt;
    if (handedAt !== undefined && handedAt + state.options.deliveredAfterMs <= state.now)
      deliver(state, attempt);
  }
}

function deliver(state: State, attempt: Attempt): void {
  const { call, facts, arrivedAt, handedAt = state.now } = attempt;
  if (!facts.stream) learnFromServing(state, facts, handedAt - arrivedAt);
  endAttempt(state, attempt, 'delivered');
  if (call.deliveredAt === undefined) {
    call.deliveredAt = state.now;
    call.departed = undefined;
    endCall(state, call, 'delivered');
  }
  if (call.listeners.size === 0) vacateDelivered(state, call);
}

export function firstByte(state: State, id: string, stream = false): void {
  const execution = state.executions.get(id);
  if (execution === undefined || execution.firstByteAt !== undefined) return;
  execution.engine.room.showed(execution);
  show(state, execution, stream);
}

/** What the first byte says of the client, the engine and the deadlines of others. */
function show(state: State, execution: Execution, stream: boolean): void {
  const { call } = execution;
  execution.firstByteAt = state.now;
  execution.stream = stream;
  accept(state, call.tenant);
  for (const listener of call.listeners) {
    reach(listener);
    if (listener.facts.stream) learnFromServing(state, listener.facts, state.now - listener.arrivedAt);
  }
  prove(state, execution);
}

/** The engine has accepted the tenant's credential: what of it waits has its share and its class from now on. */
function accept(state: State, tenant: string): void {
  const known = state.verified.has(tenant);
  state.verified.set(tenant, true);
  if (known) return;
  for (const entry of state.line) if (entry.call.tenant === tenant) state.line.review(entry);
}

export function chunk(state: State, id: string, bytes: number): void {
  const execution = state.executions.get(id);
  if (execution !== undefined) sealAll(state, state.memory.add(execution, bytes));
}

export function finish(
  state: State,
  { execution: id, usage }: Extract<ControlEvent, { kind: 'finish' }>,
): void {
  const execution = state.executions.get(id);
  if (execution === undefined) return;
  const { call } = execution;
  if (execution.firstByteAt === undefined) show(state, execution, false);
  execution.usage = usage;
  call.state = 'answered';
  state.prospects.finished(execution, state.now);
  state.retryAfter.finished(state.now);
  execution.engine.health.finished();
  retire(state, execution, 'finished');
  if (call.listeners.size === 0) retain(state, call);
  else state.plan(call);
  fillRoom(state);
}

export function fail(state: State, event: Extract<ControlEvent, { kind: 'fail' }>): void {
  const { execution: id, failure, status } = event;
  const execution = state.executions.get(id);
  if (execution === undefined) return;
  const { call } = execution;
  execution.usage = event.usage;
  const again = mayGoAgain(state, execution, event);
  retire(state, execution, `failed_${failure}`, status);
  judge(state, execution, event);
  const group = again ? engineLeft(state, execution) : undefined;
  if (group === undefined) endListeners(state, call, `upstream_${failure}`);
  sayWasted(state, call);
  state.memory.release(execution);
  call.execution = undefined;
  call.entitlement += 1;
  if (group === undefined) loseWork(state, call, event);
  else returnToLine(state, execution, group);
  fillRoom(state);
}

/** The call has no work any more, because the engine failed it. */
function loseWork(
  state: State,
  call: Call,
  { failure, status }: Extract<ControlEvent, { kind: 'fail' }>,
): void {
  // Asked again, it would say the same.
  const lasting = failure === 'status_4xx' && !TRANSIENT_4XX.has(status ?? 400);
  const final = failure === 'status_3xx' || lasting;
  if (final) forgetCall(state, call, 'failed');
  else setIdle(state, call, 'failed');
}
