/** The last bytes of something long: enough to find what stands at its end, never more than a bound. */

export class Tail {
  readonly #limit: number;
  #bytes: Buffer = Buffer.alloc(0);
  #seen = 0;

  constructor(limitBytes: number) {
    this.#limit = limitBytes;
  }

  push(chunk: Buffer): void {
    this.#seen += chunk.length;
    const joined = this.#bytes.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#bytes, chunk]);
    this.#bytes = joined.length > this.#limit ? Buffer.from(joined.subarray(-this.#limit)) : joined;
  }

  get bytes(): Buffer {
    return this.#bytes;
  }

  /** Whether nothing has been left out. */
  get whole(): boolean {
    return this.#seen === this.#bytes.length;
  }
}
