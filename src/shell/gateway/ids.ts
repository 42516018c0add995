/** Ids and chance out of one pool of random bytes: a draw from the system for each would cost more than the rest. */

const POOL_BYTES = 4_096;
const ID_BYTES = 12;
const NUMBER_BYTES = 6;

export class RandomPool {
  readonly #draw: (size: number) => Buffer;
  #pool: Buffer = Buffer.alloc(0);
  #at = 0;

  /** `draw` gives that many random bytes. */
  constructor(draw: (size: number) => Buffer) {
    this.#draw = draw;
  }

  /** 96 random bits in hexadecimal: never the same twice. */
  id(): string {
    return this.#take(ID_BYTES).toString('hex');
  }

  /** Uniform in [0, 1). */
  uniform(): number {
    return this.#take(NUMBER_BYTES).readUIntBE(0, NUMBER_BYTES) / 2 ** (8 * NUMBER_BYTES);
  }

  #take(size: number): Buffer {
    if (this.#at + size > this.#pool.length) {
      this.#pool = this.#draw(POOL_BYTES);
      this.#at = 0;
    }
    this.#at += size;
    return this.#pool.subarray(this.#at - size, this.#at);
  }
}
