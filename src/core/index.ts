/** The pure world, for use from outside: control, time and chance. */

export { Random } from './chance/random.js';
export { Control, type ControlParts } from './control/control.js';
export { Driver } from './control/driver.js';
export type { AttemptFacts, ControlEvent, Usage } from './control/event.js';
export {
  CONTROL_DEFAULTS,
  type ControlOptions,
  type ControlSettings,
  controlOptions,
} from './control/options.js';
export type { Verdict } from './control/verdict.js';
export type { Cancel, Clock, Rank } from './time/clock.js';
export { RANK } from './time/clock.js';
export { VirtualClock } from './time/virtual-clock.js';
