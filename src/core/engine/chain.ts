/** The block hashes of one execution: those of its prompt, then those of its output as far as it is known. */

import { Digest, type Prompt, type Tokens } from './tokens.js';

const digest = new Digest();

export class Chain {
  readonly #prompt: Prompt;
  readonly #output: Tokens;
  /** Of the blocks that are not wholly in the prompt. */
  readonly #lo: number[] = [];
  readonly #hi: number[] = [];
  /** Full blocks that lie in the prompt alone. */
  #inPrompt = 0;

  constructor(prompt: Prompt, output: Tokens) {
    this.#prompt = prompt;
    this.#output = output;
  }

  lo(at: number): number {
    return at < this.#inPrompt ? this.#prompt.lo(at) : (this.#lo[at - this.#inPrompt] as number);
  }

  hi(at: number): number {
    return at < this.#inPrompt ? this.#prompt.hi(at) : (this.#hi[at - this.#inPrompt] as number);
  }

  /** Whether the blocks at `at` and all before them are equal. */
  agrees(other: Chain, at: number): boolean {
    return this.lo(at) === other.lo(at) && this.hi(at) === other.hi(at);
  }

  /** Makes the hashes of the first `count` full blocks known; the tokens of all of them are. */
  hashUpTo(count: number, blockSize: number): void {
    if (count <= this.#inPrompt + this.#lo.length) return;
    this.#prompt.hash(blockSize);
    this.#inPrompt = Math.floor(this.#prompt.length / blockSize);
    for (let at = this.#inPrompt + this.#lo.length; at < count; at += 1) {
      this.#hash(at, blockSize);
      this.#lo.push(digest.lo);
      this.#hi.push(digest.hi);
    }
  }

  #hash(at: number, blockSize: number): void {
    if (at > 0) digest.set(this.lo(at - 1), this.hi(at - 1));
    else this.#prompt.root(digest);
    const start = at * blockSize;
    const end = start + blockSize;
    const { tokens, length } = this.#prompt;
    if (start < length) tokens.fold(digest, start, length);
    this.#output.fold(digest, Math.max(0, start - length), end - length);
  }
}
