/** Reads the body of an answer as it comes and says in the end whether it is one: whole, and no error. */

import type { Told } from '../../core/drill/target.js';

/** What an answer turned out to be. `error`: the server said that it failed; `partial`: it ended too early. */
export type Reading = 'whole' | 'error' | 'partial';

export interface AnswerReader {
  /** Whether this piece held anything of the answer; a comment of a stream does not. */
  feed(piece: Buffer): boolean;
  /** Known before the body's end: a stream says that it is whole, or that it failed. */
  readonly early: Reading | undefined;
  /** What it was, once the body has ended in order. */
  end(): Reading;
  /** The answer's own id, where it has one. */
  readonly told: Told;
}

/** Longest line of a stream and largest body that does not stream; what is longer is no answer. */
const LONGEST_LINE_BYTES = 1024 * 1024;
const LARGEST_BODY_BYTES = 16 * 1024 * 1024;

const LINE_FEED = 0x0a;
const DATA = Buffer.from('data:');
const DONE = '[DONE]';
const ERROR = Buffer.from('"error"');

/** A stream of server-sent events in OpenAI's manner: whole with `[DONE]`, an error with an event that says so. */
export class StreamReader implements AnswerReader {
  early: Reading | undefined;
  told: Told = {};
  #rest: Buffer = Buffer.alloc(0);
  #first = true;

  feed(piece: Buffer): boolean {
    if (this.early !== undefined) return false;
    const bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    let [from, data] = [0, false];
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, from)) {
      data = this.#line(bytes.subarray(from, end)) || data;
      from = end + 1;
    }
    this.#rest = from === bytes.length ? Buffer.alloc(0) : bytes.subarray(from);
    if (this.#rest.length > LONGEST_LINE_BYTES) this.early ??= 'error';
    return data;
  }

  end(): Reading {
    return this.early ?? 'partial';
  }

  #line(line: Buffer): boolean {
    if (line.length < DATA.length || DATA.compare(line, 0, DATA.length) !== 0) return false;
    const size = line.length - DATA.length;
    if (size <= DONE.length + 2 && line.toString('latin1', DATA.length).trim() === DONE) {
      this.early ??= 'whole';
      return true;
    }
    if (!this.#first && !line.includes(ERROR)) return true;
    this.#first = false;
    const event = objectIn(line.toString('utf8', DATA.length));
    if (isError(event)) this.early ??= 'error';
    else this.told = idOf(event);
    return true;
  }
}

/** A JSON document: whole when it can be read and is no error. */
export class DocumentReader implements AnswerReader {
  readonly early: Reading | undefined = undefined;
  told: Told = {};
  #pieces: Buffer[] = [];
  #size = 0;

  feed(piece: Buffer): boolean {
    this.#size += piece.length;
    if (this.#size <= LARGEST_BODY_BYTES) this.#pieces.push(piece);
    else this.#pieces = [];
    return true;
  }

  end(): Reading {
    const document = objectIn(Buffer.concat(this.#pieces).toString('utf8'));
    if (document === undefined) return 'partial';
    if (isError(document)) return 'error';
    this.told = idOf(document);
    return 'whole';
  }
}

type Fields = Readonly<Record<string, unknown>>;

function objectIn(text: string): Fields | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Fields)
      : undefined;
  } catch {
    return undefined;
  }
}

function isError(fields: Fields | undefined): boolean {
  if (fields === undefined) return false;
  const { error, object } = fields;
  return (error !== undefined && error !== null) || object === 'error';
}

function idOf(fields: Fields | undefined): Told {
  const id = fields?.['id'];
  return typeof id === 'string' && id !== '' ? { execution: id.slice(0, 256) } : {};
}
