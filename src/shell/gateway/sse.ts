/** Finds the events in a stream of server-sent events, whatever pieces it arrives in, in bounded memory. */

import { Tail } from './tail.js';

/** Of a longer line, the head and the tail are kept. */
export const HEAD_LIMIT_BYTES = 64 * 1024;
export const TAIL_LIMIT_BYTES = 16 * 1024;

export interface SseEvent {
  /** The `event` field, or empty. */
  readonly name: string;
  /** The `data` field, its lines joined; of a longer one the head. */
  readonly data: Buffer;
  /** The end of a `data` field that was too long to keep; empty when `data` is all of it. */
  readonly rest: Buffer;
}

const DATA = Buffer.from('data');
const EVENT = Buffer.from('event');
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const COLON = 0x3a;
const SPACE = 0x20;
const NOTHING: Buffer = Buffer.alloc(0);

export class SseScanner {
  readonly #onEvent: (event: SseEvent) => void;
  /** The start of a line whose end has not come. */
  #line: Buffer = NOTHING;
  #overflow: Tail | undefined;
  #name = '';
  #data: Buffer | undefined;
  #rest: Buffer = NOTHING;

  /** `onEvent` is called for every event that has data, when its blank line has come. Comments are no events. */
  constructor(onEvent: (event: SseEvent) => void) {
    this.#onEvent = onEvent;
  }

  /** Takes the next piece; the events it hands on may look into `chunk`. */
  feed(chunk: Buffer): void {
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(LINE_FEED, from);
      if (end < 0) break;
      this.#endLine(chunk.subarray(from, end));
      from = end + 1;
    }
    if (from < chunk.length) this.#extend(chunk.subarray(from));
  }

  #extend(piece: Buffer): void {
    const room = HEAD_LIMIT_BYTES - this.#line.length;
    if (room > 0) this.#line = Buffer.concat([this.#line, piece.subarray(0, room)]);
    if (piece.length <= room) return;
    this.#overflow ??= new Tail(TAIL_LIMIT_BYTES);
    this.#overflow.push(piece.subarray(Math.max(0, room)));
  }

  #endLine(piece: Buffer): void {
    let line = piece;
    if (this.#line.length > 0) {
      this.#extend(piece);
      line = this.#line;
    }
    const rest = this.#overflow?.bytes ?? NOTHING;
    this.#line = NOTHING;
    this.#overflow = undefined;
    if (rest.length === 0 && line[line.length - 1] === CARRIAGE_RETURN) line = line.subarray(0, -1);
    if (line.length === 0) this.#endEvent();
    else this.#field(line, rest);
  }

  #field(line: Buffer, rest: Buffer): void {
    const colon = line.indexOf(COLON);
    if (colon === 0) return;
    const end = colon < 0 ? line.length : colon;
    let from = colon < 0 ? line.length : colon + 1;
    if (line[from] === SPACE) from += 1;
    if (begins(line, end, DATA)) this.#addData(line.subarray(from), rest);
    else if (begins(line, end, EVENT)) this.#name = line.toString('utf8', from, from + 256);
  }

  #addData(value: Buffer, rest: Buffer): void {
    if (this.#data === undefined) {
      this.#data = value;
    } else {
      const joined = Buffer.concat([this.#data, Buffer.from('\n'), value]);
      this.#data = joined.subarray(0, HEAD_LIMIT_BYTES);
    }
    if (rest.length > 0) this.#rest = rest;
  }

  #endEvent(): void {
    const event = { name: this.#name, data: this.#data ?? NOTHING, rest: this.#rest };
    const said = this.#data !== undefined;
    this.#name = '';
    this.#data = undefined;
    this.#rest = NOTHING;
    if (said) this.#onEvent(event);
  }
}

/** Whether the first `end` bytes of a line are the name of this field. */
function begins(line: Buffer, end: number, name: Buffer): boolean {
  if (end !== name.length) return false;
  for (let at = 0; at < end; at += 1) if (line[at] !== name[at]) return false;
  return true;
}
