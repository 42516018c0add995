/** A plan's stages in one line: `base 0.6c 120s, pulse 2.7c 107s, hold 5/s 12m`. */

import type { Rate, Stage } from '../../core/drill/plan.js';
import { UserError } from '../shared/errors.js';
import { shown } from '../shared/options.js';
import { DURATION_FORM, readDuration } from '../shared/units.js';

const FORM = 'NAME RATE DURATION, …: the rate as 5/s or, in multiples of the capacity, as 0.6c';
const MOST_STAGES = 1_000;

/** Stages in their order; a {@link UserError} says which one cannot be read and why. */
export function readStages(text: string): readonly Stage[] {
  const parts = text.split(',');
  if (parts.length > MOST_STAGES) throw wrong(text, `takes at most ${MOST_STAGES} stages`);
  return parts.map((part, at) => {
    const words = part.trim().split(/\s+/);
    const [name = '', rate = '', duration = ''] = words;
    if (words.length !== 3) throw wrong(part, `stage ${at + 1} is not ${FORM}`);
    const read = rateOf(rate);
    if (read === undefined) throw wrong(rate, `the rate of ${name} must be above 0, as 5/s or 0.6c`);
    const ms = readDuration(duration);
    if (ms === undefined || ms <= 0) throw wrong(duration, `${name} lasts ${DURATION_FORM}, above 0`);
    return { name, rate: read, seconds: ms / 1_000 };
  });
}

function rateOf(text: string): Rate | undefined {
  const parts = /^(?<count>\d{1,9}(?:\.\d{1,9})?)(?<unit>\/s|c|C|Ĉ)$/.exec(text)?.groups;
  const count = Number(parts?.['count']);
  if (!(count > 0)) return undefined;
  return parts?.['unit'] === '/s' ? { perSecond: count } : { capacity: count };
}

function wrong(text: string, what: string): UserError {
  return new UserError('bad_usage', `--stages: ${what}, not ${shown(text.trim())}`);
}
