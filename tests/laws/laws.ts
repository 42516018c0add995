/** The promises of design §1 that are the control's, as watchers over events and verdicts alone. */

import { BalanceLaw } from './law-balance.js';
import { BoundsLaw, WholeLaw } from './law-bounds.js';
import { CancelLaw } from './law-cancel.js';
import { EnginesLaw } from './law-engines.js';
import { GaugesLaw } from './law-gauges.js';
import { DeliveryLaw, OnceLaw } from './law-work.js';
import type { Breach, Law, Moment, Surroundings } from './moment.js';

/** Laws that one run can break. Law 4 compares two runs, law 8 needs an engine: they have tests of their own. */
const LAWS: readonly (new (surroundings: Surroundings) => Law)[] = [
  BalanceLaw,
  OnceLaw,
  DeliveryLaw,
  CancelLaw,
  BoundsLaw,
  WholeLaw,
  EnginesLaw,
  GaugesLaw,
];

export class Laws {
  readonly #laws: readonly Law[];

  constructor(surroundings: Surroundings) {
    this.#laws = LAWS.map((Each) => new Each(surroundings));
  }

  see(moment: Moment): void {
    for (const law of this.#laws) law.see(moment);
  }

  finish(): void {
    for (const law of this.#laws) law.finish();
  }

  get breaches(): readonly Breach[] {
    return this.#laws.flatMap((law) => law.breaches);
  }

  /** Throws with every breach, the first ones first. */
  check(): void {
    if (this.breaches.length === 0) return;
    const lines = this.breaches.slice(0, 20).map(({ law, at, what }) => `law ${law} at ${at} ms: ${what}`);
    throw new Error(lines.join('\n'));
  }
}
