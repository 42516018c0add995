/** HTTP/1.1 messages out of raw bytes, for a load and an upstream that must cost less than what they measure. */

export type MessageKind = 'request' | 'response';

export interface MessageListener {
  /** The start line and the headers, without the empty line at their end. */
  head(head: string): void;
  /** A piece of the body, its chunk framing taken off. */
  piece(bytes: Buffer): void;
  end(): void;
}

const MOST_HEAD_BYTES = 65_536;
const MOST_CHUNK_LINE_BYTES = 256;
const HEAD_END = Buffer.from('\r\n\r\n');
const NEWLINE = 0x0a;
const LENGTH = /\r\ncontent-length: *(\d+)/i;
const CHUNKED = /\r\ntransfer-encoding: *chunked/i;

type State = 'head' | 'counted' | 'chunk-line' | 'chunk' | 'after-chunk' | 'trailer' | 'until-close';

/** Reads one connection's messages of one direction, one after another. Throws on what is no such message. */
export class MessageReader {
  readonly #kind: MessageKind;
  readonly #listener: MessageListener;
  #state: State = 'head';
  /** Bytes still to come of a counted body or of a chunk. */
  #left = 0;
  #kept: Buffer | undefined;

  constructor(kind: MessageKind, listener: MessageListener) {
    this.#kind = kind;
    this.#listener = listener;
  }

  read(bytes: Buffer): void {
    const all = this.#kept === undefined ? bytes : Buffer.concat([this.#kept, bytes]);
    this.#kept = undefined;
    let at = 0;
    while (at < all.length) {
      const next = this.#step(all, at);
      if (next === undefined) {
        this.#kept = Buffer.from(all.subarray(at));
        return;
      }
      at = next;
    }
  }

  /** The other side has closed: the end of a body that has no other. */
  closed(): void {
    if (this.#state === 'until-close') this.#end();
  }

  /** Where to go on; undefined when more bytes are needed to say so. */
  #step(all: Buffer, at: number): number | undefined {
    switch (this.#state) {
      case 'head':
        return this.#head(all, at);
      case 'counted':
      case 'chunk':
        return this.#body(all, at);
      case 'until-close':
        this.#listener.piece(all.subarray(at));
        return all.length;
      case 'chunk-line':
      case 'after-chunk':
      case 'trailer':
        return this.#line(all, at);
      default:
        return this.#state satisfies never;
    }
  }

  #head(all: Buffer, at: number): number | undefined {
    const end = all.indexOf(HEAD_END, at);
    if (end === -1) {
      if (all.length - at > MOST_HEAD_BYTES) throw new Error(`a head of more than ${MOST_HEAD_BYTES} bytes`);
      return undefined;
    }
    const head = all.toString('latin1', at, end);
    if (this.#kind === 'response' && head.startsWith('HTTP/1.1 1')) return end + HEAD_END.length;
    this.#listener.head(head);
    const length = LENGTH.exec(head)?.[1];
    if (length !== undefined) {
      this.#left = Number(length);
      this.#state = 'counted';
      if (this.#left === 0) this.#end();
    } else if (CHUNKED.test(head)) this.#state = 'chunk-line';
    else if (this.#kind === 'response') this.#state = 'until-close';
    else this.#end();
    return end + HEAD_END.length;
  }

  #body(all: Buffer, at: number): number {
    const end = Math.min(all.length, at + this.#left);
    this.#listener.piece(at === 0 && end === all.length ? all : all.subarray(at, end));
    this.#left -= end - at;
    if (this.#left > 0) return end;
    if (this.#state === 'chunk') this.#state = 'after-chunk';
    else this.#end();
    return end;
  }

  #line(all: Buffer, at: number): number | undefined {
    const end = all.indexOf(NEWLINE, at);
    if (end === -1) {
      if (all.length - at > MOST_CHUNK_LINE_BYTES) throw new Error('a chunk line without an end');
      return undefined;
    }
    if (this.#state === 'after-chunk') this.#state = 'chunk-line';
    else if (this.#state === 'trailer') {
      if (end - at <= 1) this.#end();
    } else {
      this.#left = Number.parseInt(all.toString('latin1', at, end), 16);
      if (!Number.isInteger(this.#left)) throw new Error('a chunk without its length');
      this.#state = this.#left === 0 ? 'trailer' : 'chunk';
    }
    return end + 1;
  }

  #end(): void {
    this.#state = 'head';
    this.#listener.end();
  }
}
