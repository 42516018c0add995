/** Prompts as bytes, put together from cached pieces: the same for every attempt of a call, another for every call. */

import { Random } from '../../core/chance/random.js';
import type { PlannedCall } from '../../core/drill/plan.js';
import { TRACE_BLOCK_TOKENS } from '../../core/drill/trace-lines.js';
import { within } from '../shared/options.js';

/**
 * `tokens`: token ids, so that lengths are exact; `text`: one common word of four letters a token, so that lengths are
 * nearly right with the tokenizers of today's models; `characters`: one letter a token, for byte-level tokenizers.
 */
export const PROMPT_FORMS = ['tokens', 'text', 'characters'] as const;
export type PromptForm = (typeof PROMPT_FORMS)[number];

export interface PromptSettings {
  readonly form: PromptForm;
  readonly seed: number;
  /** Another salt makes other prompts of the same lengths, so that a run does not meet the caches of the last one. */
  readonly salt: string;
  /** Token ids stay below this. 256 fits every model whose first ids are bytes, which is nearly every one. */
  readonly vocabulary: number;
}

const PIECE_TOKENS = 256;
const PIECES = 64;
/** Spells one of 2 million calls with the smallest alphabet. */
const HEAD_TOKENS = 8;

const WORDS =
  'time year work life hand part case week fact room area book word line city home side head team idea body back face game door road land form food care';

export class Prompts {
  /** Spellings of single tokens, equally wide, each with its separator. */
  readonly #alphabet: readonly Buffer[];
  readonly #width: number;
  readonly #settings: PromptSettings;
  readonly #pieces: readonly Buffer[];
  #prefix: Buffer = Buffer.alloc(0);

  constructor(settings: PromptSettings) {
    within('vocabulary', settings.vocabulary, 32, 10_000_000, true);
    this.#settings = settings;
    this.#alphabet = alphabetOf(settings).map((symbol) => Buffer.from(symbol));
    this.#width = this.#alphabet[0]?.length ?? 1;
    this.#pieces = Array.from({ length: PIECES }, (_, at) => this.#random(`piece/${at}`, PIECE_TOKENS));
  }

  /** The prompt of a call as JSON: a list of ids, or a text. */
  json(call: PlannedCall): Buffer {
    const bytes = Buffer.allocUnsafe(this.size(call));
    this.write(call, bytes);
    return bytes;
  }

  /** Bytes of {@link json}. */
  size({ promptTokens }: PlannedCall): number {
    const spelt = promptTokens * this.#width;
    // Ids are separated by commas, and JSON takes none behind the last: the bracket takes its place.
    return this.#settings.form === 'tokens' ? spelt + 1 : spelt + 2;
  }

  /** Writes {@link json} into `into`, which has its {@link size}. */
  write(call: PlannedCall, into: Buffer): void {
    const [open, close] = this.#settings.form === 'tokens' ? [0x5b, 0x5d] : [0x22, 0x22];
    this.#spell(call, into.subarray(1, 1 + call.promptTokens * this.#width));
    into[0] = open;
    into[into.length - 1] = close;
  }

  #spell({ index, promptTokens, sharedPrefixTokens, blocks = [] }: PlannedCall, bytes: Buffer): void {
    const width = this.#width;
    let at = 0;
    for (const name of blocks) {
      const end = Math.min(at + TRACE_BLOCK_TOKENS * width, bytes.length);
      this.#fill(bytes.subarray(at, end), name, ~name);
      at = end;
    }
    // Two calls with one prompt would be one call to whoever goes by the body.
    const shared = Math.min(sharedPrefixTokens, Math.max(0, promptTokens - HEAD_TOKENS));
    if (at === 0) at = this.#sharedPrefix(shared).copy(bytes);
    this.#fill(bytes.subarray(at), index, index);
  }

  /** Tokens that begin with `name` spelt out, and go on with pieces from `firstPiece` on. */
  #fill(bytes: Buffer, name: number, firstPiece: number): void {
    const { length: base } = this.#alphabet;
    let at = 0;
    for (let place = 0, left = name; place < HEAD_TOKENS && at < bytes.length; place += 1) {
      at += this.#alphabet[left % base]?.copy(bytes, at) ?? this.#width;
      left = Math.floor(left / base);
    }
    for (let piece = firstPiece; at < bytes.length; piece = Math.imul(piece, 31) + 7) {
      at += this.#pieces[(piece >>> 0) % PIECES]?.copy(bytes, at) ?? bytes.length;
    }
  }

  /** A shorter prefix is the beginning of a longer one. */
  #sharedPrefix(tokens: number): Buffer {
    if (this.#prefix.length < tokens * this.#width) this.#prefix = this.#random('prefix', tokens);
    return this.#prefix.subarray(0, tokens * this.#width);
  }

  #random(purpose: string, tokens: number): Buffer {
    const { seed, salt } = this.#settings;
    const random = new Random(seed, `${salt}/${purpose}`);
    const symbol = (): Buffer => this.#alphabet[random.integer(0, this.#alphabet.length - 1)] as Buffer;
    return Buffer.concat(Array.from({ length: tokens }, symbol));
  }
}

function alphabetOf({ form, vocabulary }: PromptSettings): readonly string[] {
  switch (form) {
    case 'tokens':
      return idsBelow(vocabulary).map((id) => `${id},`);
    case 'text':
      return WORDS.split(' ').map((word) => `${word} `);
    case 'characters':
      return 'abcdefghijklmnopqrstuvwxyz'.split('');
    default:
      return form satisfies never;
  }
}

/** Ids of equally many digits, as many as there are below the bound, at most 10,000. */
function idsBelow(vocabulary: number): readonly number[] {
  const lowest = 10 ** (String(vocabulary - 1).length - 1);
  const longest = vocabulary - lowest;
  const [from, count] = longest >= lowest * 0.9 ? [lowest, longest] : [lowest / 10, lowest * 0.9];
  return Array.from({ length: Math.min(count, 10_000) }, (_, at) => from + at);
}
