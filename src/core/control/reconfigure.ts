/** Other settings while running: what is there is kept where the new bounds let it, and planned anew. */

import { type ControlOptions, takeOver } from './options.js';
import { passTime } from './passing.js';
import { sealAll } from './releasing.js';
import { dropAnswer } from './settle.js';
import { fillRoom } from './starting.js';
import type { State } from './state.js';

/**
 * Takes over `options`. Bytes above a smaller bound are let go of at once; entries, listeners, calls and executions
 * above one stay, and newcomers are refused until there is room again. A grace or a retention that has begun ends
 * when it was going to.
 */
export function reconfigure(state: State, options: ControlOptions): void {
  takeOver(state.options, options);
  state.fleet.resize(state.options);
  const { sealed, dropped } = state.memory.fit();
  sealAll(state, sealed);
  for (const { call } of dropped) dropAnswer(state, call, 'abandoned');
  for (const call of state.register) state.plan(call);
  passTime(state, state.now);
  fillRoom(state);
}
