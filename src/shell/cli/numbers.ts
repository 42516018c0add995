/** Numbers from flags: read whole, within their bounds, or refused with the flag's name. */

import { UserError } from '../shared/errors.js';
import { shown } from '../shared/options.js';

/** A number above 0; a `UserError` otherwise. */
export function positive(text: string, flag: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value > 0 && Number.isFinite(value)) return value;
  throw new UserError('bad_usage', `--${flag} must be a number above 0, not ${shown(text)}`);
}

/** A whole number from 1 to `most`; a `UserError` otherwise. */
export function wholeNumber(text: string, flag: string, most: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= most) return value;
  throw new UserError('bad_usage', `--${flag} must be a whole number from 1 to ${most}, not ${shown(text)}`);
}
