/** Counts observations into fixed buckets: the state behind every histogram we expose. */

import { assert } from '../assert.js';
import type { HistogramState } from './exposition.js';

export class Histogram implements HistogramState {
  readonly bounds: readonly number[];
  readonly counts: Float64Array;
  sum = 0;

  /** `bounds`: upper bounds, strictly ascending, without infinity. */
  constructor(bounds: readonly number[]) {
    assert(
      bounds.every((bound, at) => at === 0 || bound > (bounds[at - 1] as number)),
      `histogram bounds must ascend: ${bounds.join(' ')}`,
    );
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  /** Counts `value` (`times` times) in the first bucket whose bound it does not exceed. */
  observe(value: number, times = 1): void {
    let at = 0;
    while (at < this.bounds.length && value > (this.bounds[at] as number)) at += 1;
    this.counts[at] = (this.counts[at] as number) + times;
    this.sum += value * times;
  }
}
