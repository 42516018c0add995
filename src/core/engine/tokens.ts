/** What an execution's tokens are, as far as the prefix cache cares: a chain of block hashes. */

import { assert } from '../assert.js';

/** Tells every 32-bit number apart from every other. */
function scramble(value: number): number {
  const product = Math.imul(value, 0xc2b2ae35);
  return product ^ (product >>> 16);
}

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
    const hi = scramble(this.hi ^ (value + lo));
    this.lo = Math.imul(lo ^ hi, 0x27d4eb2f) ^ (lo >>> 15);
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

/** A prompt with its block hashes, computed once and shared by every execution of the same prompt. */
export class Prompt {
  readonly tokens: Tokens;
  readonly length: number;
  readonly #salt: number;
  #blockSize = 0;
  // Runs of blocks each of which is told by the one before it: where they begin, and the hashes there.
  readonly #starts: number[] = [];
  readonly #lo: number[] = [];
  readonly #hi: number[] = [];

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

  /** Makes the hashes of all its full blocks known. */
  hash(blockSize: number): void {
    if (this.#blockSize === blockSize) return;
    assert(this.#blockSize === 0, 'a prompt belongs to one block size');
    this.#blockSize = blockSize;
    const count = Math.floor(this.length / blockSize);
    this.root(digest);
    for (let block = 0; block < count; ) {
      const end = (block + 1) * blockSize;
      this.tokens.fold(digest, end - blockSize, end);
      this.#starts.push(block);
      this.#lo.push(digest.lo);
      this.#hi.push(digest.hi);
      block = Math.floor(this.tokens.runEnd(end - 1) / blockSize);
      digest.set(this.lo(block - 1), this.hi(block - 1));
    }
  }

  /** One lane of the hash of the full block at `at`, once {@link hash} was called. */
  lo(at: number): number {
    const run = this.#runOf(at);
    return ((this.#lo[run] as number) + at - (this.#starts[run] as number)) | 0;
  }

  /** The other lane. */
  hi(at: number): number {
    const run = this.#runOf(at);
    const first = this.#hi[run] as number;
    const after = at - (this.#starts[run] as number);
    return after === 0 ? first : scramble(first + Math.imul(after, 0x9e3779b1));
  }

  #runOf(at: number): number {
    // Either every block is a run of its own or runs are few.
    let run = Math.min(at, this.#starts.length - 1);
    while ((this.#starts[run] as number) > at) run -= 1;
    return run;
  }
}
