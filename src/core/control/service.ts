/** How long executions take from start to answer: their mean, and how far above it they reach. */

/** Latest executions that count. */
const KEPT = 256;
/** The spread is worked out anew this often, and at once while there are few. */
const REVIEW_EVERY = 16;

export class ServiceTimes {
  readonly #latest: number[] = [];
  #seen = 0;
  #sum = 0;
  #sorted: readonly number[] = [];
  #sortedMean = 0;

  /** Executions seen. */
  get seen(): number {
    return this.#seen;
  }

  /** Milliseconds; 0 before the first. */
  get meanMs(): number {
    return this.#latest.length === 0 ? 0 : this.#sum / this.#latest.length;
  }

  add(ms: number): void {
    const at = this.#seen % KEPT;
    this.#sum += ms - (this.#latest[at] ?? 0);
    this.#latest[at] = ms;
    this.#seen += 1;
    if (this.#seen % REVIEW_EVERY !== 0 && this.#seen > REVIEW_EVERY) return;
    this.#sorted = this.#latest.toSorted((a, b) => a - b);
    this.#sortedMean = this.meanMs;
  }

  /** The time that a share `part` of executions does not exceed, in means; 1 before the first. */
  spread(part: number): number {
    const last = this.#sorted.length - 1;
    if (last < 0 || this.#sortedMean === 0) return 1;
    return (this.#sorted[Math.min(last, Math.floor(part * (last + 1)))] as number) / this.#sortedMean;
  }
}
