/** From a call that needs work to work in the engine: entitlement, budget, line, room. */

import { assert } from '../assert.js';
import type { Attempt, Call, Entry, Execution } from './call.js';
import { refuse, setIdle } from './settle.js';
import type { State } from './state.js';
import type { EntryEnding, RefusalReason } from './words.js';

export interface Admission {
  /** It is known not to be the first attempt of its call. */
  readonly retry: boolean;
  /** It may not start before. */
  readonly notBefore: number;
}

/** Starts the call's work, or puts it in line; or refuses the attempt and says why by returning the reason. */
export function admit(state: State, attempt: Attempt, admission: Admission): RefusalReason | undefined {
  const { call } = attempt;
  const now = admission.notBefore <= state.now && state.room.free && !state.line.hasReady;
  const reason = charge(state, call, admission.retry, now) ?? (now ? undefined : makePlace(state, attempt));
  if (reason !== undefined) {
    refuse(state, attempt, reason);
    setIdle(state, call, 'refused');
    return reason;
  }
  state.register.setIdle(call, false);
  if (now) start(state, call, attempt.id, 0);
  else enqueue(state, attempt, admission.notBefore);
  return undefined;
}

/** Coalesce first, budget second: work beyond the entitlement is granted or refused. */
function charge(state: State, call: Call, retry: boolean, startsNow: boolean): 'refused_budget' | undefined {
  const { mode } = state.options.budget;
  const beyond = mode === 'strict' ? retry : call.entitlement < 1;
  if (mode === 'off' || !beyond) return undefined;
  const payer = state.payer(call.tenant);
  if (mode === 'entitlement' && startsNow) {
    // An idle engine locks nobody out: counted, so that it weighs on what follows, but never refused.
    state.budget.count(payer, state.now);
  } else if (!state.budget.take(payer, state.now)) {
    state.ledger.refused += 1;
    return 'refused_budget';
  }
  state.ledger.granted += 1;
  call.entitlement = Math.max(1, call.entitlement);
  return undefined;
}

function makePlace(state: State, attempt: Attempt): RefusalReason | undefined {
  const bytes = attempt.facts.bodyBytes;
  for (;;) {
    const obstacle = state.line.obstacle(bytes);
    if (obstacle === undefined) return undefined;
    const displaced = state.line.displaceable(bytes);
    if (displaced === undefined) return obstacle;
    leaveLine(state, displaced, 'displaced');
    setIdle(state, displaced.call, 'refused');
  }
}

function enqueue(state: State, attempt: Attempt, notBefore: number): void {
  const { call, facts } = attempt;
  const entry: Entry = { call, attempt: attempt.id, queuedAt: state.now, bytes: facts.bodyBytes, notBefore };
  call.entry = entry;
  call.state = 'waiting';
  state.line.add(entry, state.now);
  state.ledger.entries.begin();
  state.say({ kind: 'queue', call: call.id, attempt: attempt.id, facts });
}

/** Takes the entry out of the line; unless it starts, its request body is not needed any more. */
export function leaveLine(state: State, entry: Entry, ending: EntryEnding): void {
  assert(entry.call.entry === entry, 'an entry left the line twice');
  state.line.remove(entry);
  entry.call.entry = undefined;
  state.ledger.entries.end(ending);
  if (ending !== 'started') state.say({ kind: 'drop', call: entry.call.id, ending });
}

/** Starts entries while there is room. */
export function fillRoom(state: State): void {
  while (!state.stopped && state.room.free) {
    const entry = state.line.next();
    if (entry === undefined) return;
    leaveLine(state, entry, 'started');
    start(state, entry.call, entry.attempt, state.now - entry.queuedAt);
  }
}

function start(state: State, call: Call, attempt: string, waitedMs: number): void {
  state.room.take();
  const execution: Execution = {
    id: state.makeId('execution'),
    call,
    startedAt: state.now,
    number: state.nextNumber(),
    firstByteAt: undefined,
    bytes: 0,
    replayable: true,
    shown: false,
    stream: false,
    live: true,
    usage: undefined,
  };
  const earlier = call.executions;
  call.executions += 1;
  call.entitlement = Math.max(0, call.entitlement - 1);
  call.execution = execution;
  call.state = 'running';
  call.beside = false;
  state.executions.set(execution.id, execution);
  state.ledger.executions.begin();
  state.say({ kind: 'start', call: call.id, execution: execution.id, attempt, waitedMs, earlier });
  state.plan(call);
}
