/** In which order entries start: a rank an entry, the lowest first. */

import { unreachable } from '../assert.js';
import type { Entry } from './call.js';
import type { ControlOptions } from './options.js';

/** A finite number, fixed while the entry waits. */
export type Order = (entry: Entry) => number;

/** The order of an option; a call keeps the seniority of its first attempt. */
export function orderOf(order: ControlOptions['order']): Order {
  switch (order) {
    case 'oldest-first':
      return (entry) => entry.call.number;
    case 'newest-first':
      return (entry) => -entry.call.number;
    default:
      return unreachable(order);
  }
}
