/** Every way in which an execution may fail, with a status where it has one. */

import type { Failure } from '../../src/core/control/words.js';

export const FAILURES: readonly (readonly [Failure, number | undefined])[] = [
  ['refused', undefined],
  ['reset', undefined],
  ['truncated', undefined],
  ['timeout', undefined],
  ['status_3xx', 307],
  ['status_4xx', 400],
  ['status_4xx', 429],
  ['status_5xx', 503],
  ['error_event', 500],
  ['malformed', undefined],
];
