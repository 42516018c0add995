/** Every way in which an execution may fail, with a status where it has one. */

import type { Failure } from '../../src/core/control/words.js';

/** A failure, with a status where it has one. */
export type Failed = readonly [Failure, number | undefined];

export const FAILURES: readonly Failed[] = [
  ['refused', undefined],
  ['unavailable', 503],
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

/** Those that say nothing against the engine, which everybody shares. */
export const REQUESTS_OWN: readonly Failed[] = [
  ['timeout', undefined],
  ['status_4xx', 400],
  ['status_5xx', 500],
  ['error_event', 500],
];
