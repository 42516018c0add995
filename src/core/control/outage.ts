/** What an engine that cannot take work means for the others and for the calls: these go elsewhere, or wait for it. */

import type { Call, Execution } from './call.js';
import type { ControlEvent } from './event.js';
import { endListener, setIdle } from './settle.js';
import { fillRoom, leaveLine } from './starting.js';
import type { State } from './state.js';
import type { Failure } from './words.js';

type FailEvent = Extract<ControlEvent, { kind: 'fail' }>;

/** An attempt that hears that no engine is there is told to stay away for at least so long, milliseconds. */
const LEAST_RETRY_AFTER_MS = 1_000;

/** The execution's engine has answered it: an engine that was trying itself out may be given more. */
export function prove(state: State, execution: Execution): void {
  const { engine } = execution;
  if (engine.health.proved(execution, state.now)) state.say({ kind: 'back', engine: engine.name });
  fillRoom(state);
}

/** Silence for long enough says the same. */
export function proveBySilence(state: State): void {
  for (const { name } of state.fleet.passTime(state.now)) state.say({ kind: 'back', engine: name });
  fillRoom(state);
}

/** What the failure of an execution, which has left its engine, says of that engine. */
export function judge(state: State, execution: Execution, { failure, retryAfterMs }: FailEvent): void {
  const { engine } = execution;
  if (answered(state, failure)) return prove(state, execution);
  const restMs = engine.health.failed(execution, failure, retryAfterMs, state.now);
  if (restMs === undefined) return;
  state.say({ kind: 'rest', engine: engine.name, failure, restMs });
  // Whoever waits for this engine alone has to hear of it before its client leaves.
  for (const { call, group } of state.line) if (group.members.includes(engine)) state.plan(call);
}

function answered({ options }: State, failure: Failure): boolean {
  if (failure === 'unavailable') return options.unavailable === 'pass';
  return failure.startsWith('status_') || failure === 'error_event';
}

/** The engine has done nothing for the execution, and its call may be sent again without doing anything twice. */
export function mayGoAgain({ options }: State, execution: Execution, event: FailEvent): boolean {
  const { failure, repeatable = true } = event;
  if (!repeatable || execution.firstByteAt !== undefined || execution.bytes > 0) return false;
  if (failure === 'refused') {
    execution.call.refusedBy.add(execution.engine);
    return true;
  }
  return failure === 'unavailable' && options.unavailable === 'wait';
}

/** No engine is there for the waiting call: those of its listeners whose clients are about to leave hear it now. */
export function endHopeless(state: State, call: Call): void {
  const { entry } = call;
  if (entry === undefined || state.hopelessFrom(call) > state.now) return;
  const opensInMs = state.fleet.opensAt(entry.group) - state.now;
  const retryAfterMs = Math.max(LEAST_RETRY_AFTER_MS, opensInMs);
  for (const listener of call.listeners) {
    if (state.answerBy(listener) <= state.now)
      endListener(state, listener, 'upstream_unavailable', retryAfterMs);
  }
  if (call.listeners.size > 0) return;
  leaveLine(state, entry, 'unavailable');
  setIdle(state, call, 'failed');
}
