/** From a call that needs work to work in the engine: entitlement, budget, line, room. */

import { assert } from '../assert.js';
import type { Attempt, Call, Entry, Execution } from './call.js';
import type { Group } from './fleet.js';
import type { Chosen } from './order.js';
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
  call.refusedBy.clear();
  const group = state.fleet.groupOf(call);
  assert(group !== undefined, 'a call was admitted that no engine serves');
  const now = admission.notBefore <= state.now && isOpen(state, group);
  const shed = guard(state, call, admission.retry) ?? charge(state, call, admission.retry, now);
  const reason = shed ?? (now ? undefined : makePlace(state, attempt.facts.bodyBytes));
  // What found no place in line was asked of the line, not of an engine.
  if (reason === shed) state.guard.asked(shed === undefined, state.now);
  if (reason !== undefined) {
    refuse(state, attempt, reason);
    setIdle(state, call, 'refused');
    return reason;
  }
  state.register.setIdle(call, false);
  const { id, facts } = attempt;
  const sent = { call, group, attempt: id, bytes: facts.bodyBytes };
  if (now) start(state, sent, 0);
  else {
    enqueue(state, { ...sent, queuedAt: state.now, notBefore: admission.notBefore });
    state.say({ kind: 'queue', call: call.id, attempt: id, facts });
  }
  return undefined;
}

/** Room at an engine of the group that nobody in line could have. */
function isOpen(state: State, group: Group): boolean {
  return (
    state.fleet.opensTo(group, state.now) &&
    !state.line.hasReady((other) => state.fleet.opensTo(other, state.now))
  );
}

/** Never a call's first execution, whoever asks for it: only those that a retry makes beyond it. */
function guard(state: State, call: Call, retry: boolean): 'refused_guard' | undefined {
  if (!retry || (call.executions === 0 && call.entitlement >= 1)) return undefined;
  return state.guard.refuses(state.budget.state(state.now).firsts, state.now) ? 'refused_guard' : undefined;
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

function makePlace(state: State, bytes: number): RefusalReason | undefined {
  for (;;) {
    const obstacle = state.line.obstacle(bytes);
    if (obstacle === undefined) return undefined;
    const displaced = state.line.displaceable(bytes);
    if (displaced === undefined) return obstacle;
    leaveLine(state, displaced, 'displaced');
    setIdle(state, displaced.call, 'refused');
  }
}

function enqueue(state: State, entry: Entry): void {
  const { call } = entry;
  call.entry = entry;
  call.state = 'waiting';
  state.line.add(entry, state.now);
  state.prospects.waitedFor(state.line.waitedFor(), state.now);
  state.ledger.entries.begin();
}

/** The engines that a call may still go to whose execution did no work; undefined too when the line is full. */
export function engineLeft(state: State, { call, bodyBytes }: Execution): Group | undefined {
  const group = state.stopped ? undefined : state.fleet.groupOf(call);
  return group === undefined || makePlace(state, bodyBytes) !== undefined ? undefined : group;
}

/** Puts such a call back at its place in line. */
export function returnToLine(state: State, { id, call, attempt, bodyBytes }: Execution, group: Group): void {
  const entry = { call, group, attempt, bytes: bodyBytes, queuedAt: state.now, notBefore: state.now };
  enqueue(state, entry);
  state.say({ kind: 'return', call: call.id, execution: id, attempt });
  if (call.listeners.size === 0) state.line.heard(entry, false);
  state.plan(call);
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
  while (!state.stopped) {
    const chosen = state.line.next((group) => state.fleet.opensTo(group, state.now), state.now);
    if (chosen === undefined) break;
    const { entry } = chosen;
    state.line.served(entry);
    leaveLine(state, entry, 'started');
    start(state, entry, state.now - entry.queuedAt, chosen);
  }
  state.prospects.waitedFor(state.line.waitedFor(), state.now);
}

function start(
  state: State,
  { call, group, attempt, bytes }: Pick<Entry, 'call' | 'group' | 'attempt' | 'bytes'>,
  waitedMs: number,
  chosen?: Chosen,
): void {
  const engine = state.fleet.choose(group, call.last, state.now);
  assert(engine !== undefined, 'an execution started without room');
  const execution: Execution = {
    id: state.makeId('execution'),
    call,
    engine,
    attempt,
    bodyBytes: bytes,
    startedAt: state.now,
    streams: call.last.stream,
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
  state.returns.release(call);
  call.beside = false;
  state.fleet.take(execution, call.last, state.now);
  state.executions.set(execution.id, execution);
  state.ledger.executions.begin();
  state.guard.begun(state.now);
  const { id } = execution;
  const standing = {
    tier: chosen?.tier,
    class: state.classes.nameOf(chosen?.class ?? state.rankOf(call)),
    late: call.tardy,
    basis: call.basis,
    deadlineInMs: call.deadlineAt - state.now,
    giveUpInMs: call.lastEndsAt - state.now,
  };
  const engineName = engine.name;
  state.say({
    kind: 'start',
    call: call.id,
    execution: id,
    engine: engineName,
    attempt,
    waitedMs,
    earlier,
    standing,
  });
  state.plan(call);
}
