/** Reads a whole file that somebody named, within a bound. */

import { readFileSync, statSync } from 'node:fs';
import { type ErrorCode, UserError } from './errors.js';
import { errorText } from './log.js';

export interface TextFile {
  readonly path: string;
  /** How the complaint calls it: "the plan". */
  readonly what: string;
  readonly largestBytes: number;
  /** `input_unreadable` when absent. */
  readonly code?: ErrorCode;
}

/** The file's text; a {@link UserError} says why it cannot be had. */
export function readTextFile(file: TextFile): string {
  return readWithin(file).toString('utf8');
}

/** The same for a file whose bytes are wanted as they are. */
export function readWithin({ path, what, largestBytes, code = 'input_unreadable' }: TextFile): Buffer {
  let size: number;
  try {
    ({ size } = statSync(path));
    if (size <= largestBytes) return readFileSync(path);
  } catch (cause) {
    throw new UserError(code, `cannot read ${what}: ${errorText(cause)}`, { cause });
  }
  throw new UserError(code, `cannot read ${what}: ${path}: ${size} bytes are more than ${largestBytes}`);
}
