/** The requests of executions whose engine has not answered yet: kept for another engine, or the same again. */

/** One bound for all of them, since answers that come late are many at once when an engine is busy. */
export class KeptRequests {
  readonly #most: () => number;
  #bytes = 0;
  /** Requests that were not kept, since the bound was met. */
  notKept = 0;

  /** `most`: bytes that may be kept now. */
  constructor(most: () => number) {
    this.#most = most;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether a request of `bytes` may be kept; if so, it counts until it is let go. */
  keep(bytes: number): boolean {
    if (this.#bytes + bytes > this.#most()) {
      this.notKept += 1;
      return false;
    }
    this.#bytes += bytes;
    return true;
  }

  letGo(bytes: number): void {
    this.#bytes -= bytes;
  }
}
