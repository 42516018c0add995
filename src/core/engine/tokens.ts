/** What an execution's tokens are, as far as the prefix cache cares: a chain of block hashes. */

import { assert } from '../assert.js';

/** Two 32-bit lanes folded over numbers; together the name of a block and of everything before it. */
export class Digest {
  lo = 0;
  hi = 0;

  set(lo: number, hi: number): void {
    this.lo = lo;
    this.hi = hi;
  }

  fold(value: number): void {
    let lo = Math.imul(this.lo ^ value, 0x85ebca6b);
    lo ^= lo >>> 13;
    let hi = Math.imul(this.hi ^ (value + lo), 0xc2b2ae35);
    hi ^= hi >>> 16;
    this.lo = Math.imul(lo ^ hi, 0x27d4eb2f) ^ (lo >>> 15);
    this.hi = hi;
  }

  /** Folds "and so on": neighbouring blocks get neighbouring `lo`s, which a table indexed by it walks quickly. */
  continue(): void {
    this.lo = (this.lo + 1) | 0;
    let hi = Math.imul(this.hi ^ 0x5bd1e995, 0xc2b2ae35);
    hi ^= hi >>> 16;
    this.hi = hi;
  }
}

/** A sequence of tokens; equal content folds to equal digests over equal ranges. */
export interface Tokens {
  readonly length: number;
  /** Folds the tokens of [start, end) into `digest`. */
  fold(digest: Digest, start: number, end: number): void;
  /** Where the run ends whose every token is told by the token at `at`; at least `at + 1`. */
  runEnd(at: number): number;
}

/** Tokens named, not listed: token j of a segment is a fixed unknown function of (segment, j). */
export class SegmentTokens implements Tokens {
  readonly length: number;
  readonly #segments: readonly (readonly [segment: number, length: number])[];

  constructor(segments: readonly (readonly [segment: number, length: number])[]) {
    this.#segments = segments;
    this.length = segments.reduce((sum, [, length]) => sum + length, 0);
  }

  fold(digest: Digest, start: number, end: number): void {
    let from = 0;
    for (const [segment, length] of this.#segments) {
      const to = from + length;
      if (to > start) {
        if (from >= end) return;
        const first = Math.max(start, from) - from;
        digest.fold(segment);
        digest.fold(first);
        digest.fold(Math.min(end, to) - from - first);
      }
      from = to;
    }
  }

  runEnd(at: number): number {
    let end = 0;
    for (const [, length] of this.#segments) {
      end += length;
      if (end > at) break;
    }
    return end;
  }
}

/** Tokens listed by their ids. */
export class IdTokens implements Tokens {
  readonly length: number;
  readonly #ids: ArrayLike<number>;

  constructor(ids: ArrayLike<number>) {
    this.#ids = ids;
    this.length = ids.length;
  }

  fold(digest: Digest, start: number, end: number): void {
    for (let at = start; at < end; at += 1) digest.fold(this.#ids[at] ?? 0);
  }

  runEnd(at: number): number {
    return at + 1;
  }
}

const digest = new Digest();
const NO_HASHES = new Int32Array(0);

/** A prompt with its block hashes, computed once and shared by every execution of the same prompt. */
export class Prompt {
  readonly tokens: Tokens;
  readonly length: number;
  /** The hashes of its full blocks, as far as {@link hashUpTo} was asked for them. */
  lo: Int32Array = NO_HASHES;
  hi: Int32Array = NO_HASHES;
  readonly #salt: number;
  #blockSize = 0;
  #known = 0;

  /** `salt` keeps equal prompts of different salts apart (vLLM's `cache_salt`). */
  constructor(tokens: Tokens, salt = 0) {
    this.tokens = tokens;
    this.length = tokens.length;
    this.#salt = salt;
  }

  static ofSegments(segments: readonly (readonly [segment: number, length: number])[]): Prompt {
    return new Prompt(new SegmentTokens(segments));
  }

  /** Sets `into` to the value the chain starts from. */
  root(into: Digest): void {
    into.set(0x9747b28c, 0x3c6ef372);
    into.fold(this.#salt);
  }

  /** Makes `lo` and `hi` hold the hashes of the first `count` full blocks. */
  hashUpTo(count: number, blockSize: number): void {
    if (count <= this.#known) return;
    assert(this.#blockSize === 0 || this.#blockSize === blockSize, 'a prompt belongs to one block size');
    if (this.#blockSize === 0) {
      this.#blockSize = blockSize;
      this.lo = new Int32Array(Math.floor(this.length / blockSize));
      this.hi = new Int32Array(this.lo.length);
    }
    assert(count <= this.lo.length, `${count} of ${this.lo.length} full blocks`);
    const { lo, hi } = this;
    const known = this.#known;
    if (known === 0) this.root(digest);
    else digest.set(lo[known - 1] as number, hi[known - 1] as number);
    for (let block = known, runEnd = 0; block < count; block += 1) {
      const start = block * blockSize;
      const end = start + blockSize;
      // A block in the same run as the token before it is told by that alone.
      if (start > runEnd) runEnd = this.tokens.runEnd(start - 1);
      if (start > 0 && end <= runEnd) digest.continue();
      else this.tokens.fold(digest, start, end);
      lo[block] = digest.lo;
      hi[block] = digest.hi;
    }
    this.#known = count;
  }
}
