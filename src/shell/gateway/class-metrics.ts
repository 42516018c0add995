/** What the meter says of each class of calls, by its configured name: a closed set, known from the start. */

import type { ClassGauges } from '../../core/control/classes.js';
import type { Verdict } from '../../core/control/verdict.js';
import { type Family, histogramSamples, sample } from '../../core/meter/exposition.js';
import { Histogram } from '../../core/meter/histogram.js';
import { HELP } from './metric-names.js';

const WAITS = 'holdfast_class_queue_seconds';
const ENTRIES = 'holdfast_class_line_entries';

/** Counts how long the executions of each class waited, and writes it down beside what the control tells of them. */
export class ClassMetrics {
  readonly #bounds: readonly number[];
  readonly #waits = new Map<string, Histogram>();

  /** `bounds`: of the buckets, seconds. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
  }

  started({ standing, waitedMs }: Extract<Verdict, { kind: 'start' }>): void {
    if (standing?.class !== undefined) this.#of(standing.class).observe(waitedMs / 1000);
  }

  families(classes: readonly ClassGauges[]): Family[] {
    return [
      {
        name: ENTRIES,
        type: 'gauge',
        help: HELP[ENTRIES],
        samples: classes.map(({ name, entries }) => sample(ENTRIES, entries, { class: name })),
      },
      {
        name: WAITS,
        type: 'histogram',
        help: HELP[WAITS],
        samples: classes.flatMap(({ name }) => histogramSamples(WAITS, this.#of(name), { class: name })),
      },
    ];
  }

  #of(name: string): Histogram {
    const known = this.#waits.get(name);
    if (known !== undefined) return known;
    const fresh = new Histogram(this.#bounds);
    this.#waits.set(name, fresh);
    return fresh;
  }
}
