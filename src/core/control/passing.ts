/** What time alone brings: deliveries confirmed, graces over, answers and memories expired, the end of drain. */

import { assert } from '../assert.js';
import { confirm } from './answering.js';
import type { Call } from './call.js';
import { learnFromWaiting } from './expecting.js';
import { endHopeless, proveBySilence } from './outage.js';
import { cancel } from './releasing.js';
import { dropAnswer, endListeners, forgetCall, refuse, setIdle } from './settle.js';
import { fillRoom, leaveLine } from './starting.js';
import type { State } from './state.js';

/** Does everything that time alone brings up to `now`. */
export function passTime(state: State, now: number): void {
  for (;;) {
    const engineAt = state.fleet.nextAt(state.now);
    if (engineAt <= now && engineAt <= state.agenda.nextAt()) {
      state.now = Math.max(state.now, engineAt);
      proveBySilence(state);
      continue;
    }
    const due = state.agenda.takeDue(now);
    if (due === undefined) break;
    state.now = Math.max(state.now, due.at);
    review(state, due.item);
  }
  state.now = now;
}

/** Does what is due for the call at `state.now`, and plans its next moment. */
function review(state: State, call: Call): void {
  confirm(state, call);
  learnFromWaiting(state, call);
  const heard = call.listeners.size > 0;
  if (call.state === 'waiting') reviewEntry(state, call, heard);
  else if (call.state === 'running' && !heard && call.graceUntil <= state.now)
    cancel(state, call, call.cancelAs);
  else if (call.state === 'answered' && !heard && state.answerUntil(call) <= state.now) {
    dropAnswer(state, call, 'abandoned');
  } else if (call.state === 'idle' && call.forgetAt <= state.now) forgetCall(state, call, call.fate);
  state.plan(call);
}

function reviewEntry(state: State, call: Call, heard: boolean): void {
  const { entry } = call;
  assert(entry !== undefined, 'a call waits without an entry');
  const waitedOut = entry.queuedAt + state.options.bounds.lineWaitMs <= state.now;
  if (heard && waitedOut) {
    leaveLine(state, entry, 'gave_up');
    for (const listener of call.listeners) refuse(state, listener, 'gave_up');
    forgetCall(state, call, 'gave_up');
  } else if (!heard && (waitedOut || call.graceUntil <= state.now)) {
    leaveLine(state, entry, 'expired');
    setIdle(state, call, 'abandoned');
  } else {
    endHopeless(state, call);
    if (call.entry !== entry || entry.notBefore > state.now) return;
    state.line.release(entry);
    fillRoom(state);
  }
}

/** Ends everything at once: listeners, entries, executions, answers, memories. */
export function stop(state: State): void {
  state.draining = true;
  state.stopped = true;
  for (const call of state.register) {
    endListeners(state, call, 'drained');
    if (call.entry !== undefined) leaveLine(state, call.entry, 'drained');
    if (call.state === 'running') cancel(state, call, 'cancelled_drained');
    dropAnswer(state, call, 'drained');
  }
}
