/** Counters with a bounded set of label values, which is all that a meter on open inputs may have. */

import { assert } from '../../core/assert.js';
import { type Family, sample } from '../../core/meter/exposition.js';

/** The label value that stands for everything beyond the bound. */
export const OTHER = 'other';

/** One count a label value: the closed set is there from the start, so that a zero is seen as one. */
export class Tally {
  readonly #family: Omit<Family, 'samples'>;
  readonly #label: string;
  readonly #counts: Map<string, number>;

  constructor(name: string, help: string, label: string, values: readonly string[]) {
    this.#family = { name, type: 'counter', help };
    this.#label = label;
    this.#counts = new Map(values.map((value) => [value, 0]));
  }

  add(value: string, by = 1): void {
    const count = this.#counts.get(value);
    assert(count !== undefined, `${this.#family.name} knows no ${this.#label} ${value}`);
    this.#counts.set(value, count + by);
  }

  get total(): number {
    let total = 0;
    for (const count of this.#counts.values()) total += count;
    return total;
  }

  family(): Family {
    const samples = [...this.#counts].map(([value, count]) =>
      sample(this.#family.name, count, { [this.#label]: value }),
    );
    return { ...this.#family, samples };
  }
}

/** The label values of tenants: the first `most` get their own, later ones share {@link OTHER}. */
export class TenantLabels {
  readonly #most: number;
  readonly #known = new Map<string, string>();
  readonly #labelOf: (tenant: string) => string;

  constructor(most: number, labelOf: (tenant: string) => string) {
    this.#most = most;
    this.#labelOf = labelOf;
  }

  of(tenant: string): string {
    const known = this.#known.get(tenant);
    if (known !== undefined) return known;
    if (this.#known.size >= this.#most) return OTHER;
    const label = this.#labelOf(tenant);
    this.#known.set(tenant, label);
    return label;
  }
}

/** One count a tenant label, and a further closed label if the family has one. */
export class TenantTally {
  readonly #family: Omit<Family, 'samples'>;
  readonly #counts = new Map<string, { readonly labels: Record<string, string>; count: number }>();

  constructor(name: string, help: string) {
    this.#family = { name, type: 'counter', help };
  }

  add(tenant: string, by: number, further: Readonly<Record<string, string>> = {}): void {
    let at = tenant;
    for (const [label, value] of Object.entries(further)) at += `\n${label}\n${value}`;
    const entry = this.#counts.get(at);
    if (entry === undefined) this.#counts.set(at, { labels: { tenant, ...further }, count: by });
    else entry.count += by;
  }

  family(): Family {
    const samples = [...this.#counts.values()].map(({ labels, count }) =>
      sample(this.#family.name, count, labels),
    );
    return { ...this.#family, samples };
  }
}
