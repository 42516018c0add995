/** Thresholds on the command line: `--expect` read, and what became of each told. */

import { readThreshold, type Threshold, ThresholdError, type Verdict } from '../../core/drill/threshold.js';
import { UserError } from '../shared/errors.js';
import { columns } from './trial-text.js';

/** Reads all; a {@link UserError} says which one cannot be read, where and why. */
export function thresholdsOf(texts: readonly string[], stages: readonly string[]): readonly Threshold[] {
  return texts.map((text) => {
    try {
      return readThreshold(text, stages);
    } catch (cause) {
      if (cause instanceof ThresholdError) {
        throw new UserError('bad_usage', `--expect ${cause.message}`, { cause });
      }
      throw cause;
    }
  });
}

/** One line a threshold; empty without any. */
export function verdictLines(verdicts: readonly Verdict[]): string {
  if (verdicts.length === 0) return '';
  const rows = verdicts.map(({ text, value, unit, met }) => [
    met ? 'met' : 'NOT MET',
    text,
    value === null ? 'could not be told' : `is ${Number(value.toFixed(4))}${unit}`,
  ]);
  return `\n${columns(rows, 3)}`;
}
