/** The text of an answer: words that mean nothing, the same for the same seed, one ASCII letter a token. */

import { lognormal } from '../../core/chance/distributions.js';
import { Random } from '../../core/chance/random.js';
import type { Digest, Tokens } from '../../core/engine/tokens.js';
import { encode } from './tokenizer.js';

const WORDS = (
  'a in of to and the our old new wide calm slow late next word light river stone north under water paper ' +
  'quiet early maple copper window garden winter across between harbour morning distant gathered'
).split(' ');

/** Median and shape of answer lengths when nothing else ends them: those of the standard workload. */
const NATURAL_MEDIAN = 300;
const NATURAL_SIGMA = 0.5;

export class Filler implements Tokens {
  readonly length: number;
  readonly #random: Random;
  readonly #seed: string;
  #text = '';

  /** `length`: the most tokens ever asked for. */
  constructor(seed: string, length: number) {
    this.#seed = seed;
    this.#random = new Random(0, `filler/${seed}`);
    this.length = length;
  }

  /** Tokens after which this answer would end by itself, ≥ 1. */
  get naturalLength(): number {
    const random = new Random(0, `length/${this.#seed}`);
    return Math.max(1, Math.round(lognormal(random, NATURAL_MEDIAN, NATURAL_SIGMA)));
  }

  /** The text of the tokens [start, end). */
  slice(start: number, end: number): string {
    while (this.#text.length < end) {
      const word = WORDS[this.#random.integer(0, WORDS.length - 1)] ?? '';
      this.#text += this.#text === '' ? word : ` ${word}`;
    }
    return this.#text.slice(start, end);
  }

  runEnd(at: number): number {
    return at + 1;
  }

  fold(digest: Digest, start: number, end: number): void {
    for (const token of encode(this.slice(start, end))) digest.fold(token);
  }
}
