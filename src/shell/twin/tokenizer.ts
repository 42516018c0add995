/** A byte-level tokenizer: three special tokens, then one token a byte in GPT-2's order of printable symbols. */

const SPECIALS = 3;
const BYTES = 256;
const printable = (byte: number): boolean =>
  (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;

const bytes = Array.from({ length: BYTES }, (_, byte) => byte);
const ORDER = [...bytes.filter(printable), ...bytes.filter((byte) => !printable(byte))];
const TOKEN_OF_BYTE = new Uint16Array(BYTES);
for (const [at, byte] of ORDER.entries()) TOKEN_OF_BYTE[byte] = at + SPECIALS;

/** Tokens that stand for a byte or are special; ids above are of a vocabulary we do not spell. */
export const BYTE_VOCABULARY = BYTES + SPECIALS;

/** The tokens of `text`, one a byte of its UTF-8 form. */
export function encode(text: string): Uint32Array {
  return Uint32Array.from(Buffer.from(text, 'utf8'), (byte) => TOKEN_OF_BYTE[byte] as number);
}

/** The text of `tokens`; specials and ids we do not spell are left out. */
export function decode(tokens: ArrayLike<number>): string {
  const known: number[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const byte = ORDER[(tokens[at] as number) - SPECIALS];
    if (byte !== undefined) known.push(byte);
  }
  return Buffer.from(known).toString('utf8');
}
