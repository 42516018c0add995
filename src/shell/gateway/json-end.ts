/** Sees where a JSON document ends, whatever its length and pieces, without keeping any of it. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

export class JsonEnd {
  #depth = 0;
  #begun = false;
  #inString = false;
  #escaped = false;

  /** Every bracket that was opened has been closed, and there was one. A document that is no list or object never ends. */
  get reached(): boolean {
    return this.#begun && this.#depth === 0;
  }

  feed(chunk: Buffer): void {
    for (const byte of chunk) {
      if (this.#escaped) this.#escaped = false;
      else if (this.#inString) this.#insideString(byte);
      else this.#outsideString(byte);
    }
  }

  #insideString(byte: number): void {
    if (byte === BACKSLASH) this.#escaped = true;
    else if (byte === QUOTE) this.#inString = false;
  }

  #outsideString(byte: number): void {
    if (byte === QUOTE) {
      this.#inString = true;
    } else if (OPENING.has(byte)) {
      this.#begun = true;
      this.#depth += 1;
    } else if (CLOSING.has(byte)) {
      this.#depth -= 1;
    }
  }
}
