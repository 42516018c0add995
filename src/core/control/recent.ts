/** A map with a stated maximum: at the bound the least recently used entry goes. */

export class RecentMap<K, V> {
  readonly #entries = new Map<K, V>();
  readonly #most: number;
  /** The entry used last, which need not be moved. */
  #newest: K | undefined;

  /** `most` ≥ 1. */
  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#entries.size;
  }

  has(key: K): boolean {
    return this.#entries.has(key);
  }

  /** Reading counts as use. */
  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined || key === this.#newest) return value;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    this.#newest = key;
    return value;
  }

  set(key: K, value: V): void {
    if (key !== this.#newest) this.#entries.delete(key);
    this.#entries.set(key, value);
    this.#newest = key;
    if (this.#entries.size <= this.#most) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      return;
    }
  }

  delete(key: K): void {
    this.#entries.delete(key);
    if (key === this.#newest) this.#newest = undefined;
  }
}
