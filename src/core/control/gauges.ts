/** An engine has said how much it has: its room follows, and whoever waits may start. */

import type { ControlEvent } from './event.js';
import { fillRoom } from './starting.js';
import type { State } from './state.js';

/** Takes the gauges up; says once when they begin to be of no use. Engines that there are none of are ignored. */
export function readGauges(
  state: State,
  { engine: name, load }: Extract<ControlEvent, { kind: 'gauges' }>,
): void {
  const room = state.fleet.member(name)?.room;
  if (room === undefined) return;
  const before = room.trust;
  room.read(load, state.now);
  const { trust } = room;
  if (trust !== before && (trust === 'absent' || trust === 'wrong')) {
    state.say({ kind: 'warn', warning: `engine_gauges_${trust}`, engine: name });
  }
  fillRoom(state);
}
