/** The one door of the control: events in, verdicts out, nothing else. */

import type { ControlEvent } from './event.js';
import type { ControlOptions } from './options.js';
import type { Verdict } from './verdict.js';

export interface ControlParts {
  readonly options: ControlOptions;
  /** A fresh id each time, never repeated. */
  readonly makeId: (of: 'call' | 'execution') => string;
  /** Uniform in [0, 1): the jitter of Retry-After. */
  readonly uniform: () => number;
}

export class Control {
  constructor(_parts: ControlParts) {}
  /** Applies `event` at `now` (milliseconds, never backwards), after everything that time alone brings. */
  step(_now: number, _event: ControlEvent): readonly Verdict[] {
    return [];
  }
  /** When time alone will bring the next verdict; Infinity when never. */
  wakeAt(): number {
    return Number.POSITIVE_INFINITY;
  }
}
