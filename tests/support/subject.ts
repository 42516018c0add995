/** The control behind its one door, or anything that stands in for it, with ids and chance that repeat. */

import { Random } from '../../src/core/chance/random.js';
import { Control } from '../../src/core/control/control.js';
import type { ControlEvent } from '../../src/core/control/event.js';
import { type ControlSettings, controlOptions } from '../../src/core/control/options.js';
import type { Verdict } from '../../src/core/control/verdict.js';
import { Reference } from '../laws/reference.js';

export interface Subject {
  step(now: number, event: ControlEvent): readonly Verdict[];
  wakeAt(): number;
}

export type MakeSubject = (settings?: ControlSettings) => Subject;

/** Ids that count up: `c1`, `c2`, … for calls, `x1`, `x2`, … for executions. */
export function countedIds(): (of: 'call' | 'execution') => string {
  const given = { call: 0, execution: 0 };
  return (of) => `${of === 'call' ? 'c' : 'x'}${++given[of]}`;
}

export const control: MakeSubject = (settings) => {
  const chance = new Random(1, 'retry-after');
  return new Control({
    options: controlOptions(settings),
    makeId: countedIds(),
    uniform: () => chance.uniform(),
  });
};

export const reference: MakeSubject = (settings) =>
  new Reference({ options: controlOptions(settings), makeId: countedIds() });
