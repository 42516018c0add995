/** One kept connection of the load: a request out, its answer in, and whether that was whole. */

import { connect, type Socket } from 'node:net';
import { MessageReader } from './message-reader.js';
import { nowMs } from './ticker.js';
import { type AnswerKind, fault, wordsIn } from './workload.js';

/** One request and what became of it. */
export interface Exchange {
  readonly kind: AnswerKind;
  readonly marker: string;
  /** The request up to its marker, and what follows, which is the same for many. */
  readonly start: string;
  readonly rest: Buffer;
  /** When it was due, milliseconds of {@link nowMs}. */
  readonly plannedMs: number;
  sentMs: number;
  /** The first piece of the answer that has a word in it. */
  firstMs: number;
  endMs: number;
  /** Undefined for a whole answer. */
  fault: string | undefined;
  /** Words of its answer that came inside the window that is measured. */
  wordsInside: number;
  /** Called at `firstMs`. */
  readonly first?: () => void;
}

export interface Target {
  readonly host: string;
  readonly port: number;
}

/** The words of an error status that are worth showing. */
const SHOWN_BYTES = 200;

export class Connection {
  readonly #target: Target;
  readonly #done: (exchange: Exchange) => void;
  readonly #heard: (exchange: Exchange, words: number) => void;
  #socket: Socket | undefined;
  #exchange: Exchange | undefined;
  #pieces: Buffer[] = [];
  #words = 0;
  #head = '';
  /** Answers that this socket has brought; one that has brought some may have been closed for its age. */
  #answers = 0;

  /** `done` is called once for each exchange that was begun, `heard` for each piece of an answer. */
  constructor(
    target: Target,
    done: (exchange: Exchange) => void,
    heard: (exchange: Exchange, words: number) => void = () => {},
  ) {
    this.#target = target;
    this.#done = done;
    this.#heard = heard;
  }

  send(exchange: Exchange): void {
    this.#exchange = exchange;
    this.#pieces = [];
    this.#words = 0;
    this.#head = '';
    exchange.sentMs = nowMs();
    this.#socket ??= this.#connected();
    this.#socket.cork();
    this.#socket.write(exchange.start, 'latin1');
    this.#socket.write(exchange.rest);
    this.#socket.uncork();
  }

  /** An exchange that is under way ends as one that did not come to its end. */
  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #connected(): Socket {
    this.#answers = 0;
    const socket = connect({ ...this.#target, noDelay: true });
    const reader = new MessageReader('response', {
      head: (head) => {
        this.#head = head;
      },
      piece: (bytes) => this.#piece(bytes),
      end: () => this.#ended(),
    });
    socket.on('data', (bytes) => {
      try {
        reader.read(bytes);
      } catch (error) {
        this.#broken(socket, (error as Error).message);
      }
    });
    socket.on('error', (error) => this.#broken(socket, error.message));
    socket.on('close', () => {
      if (this.#socket === socket) reader.closed();
      this.#broken(socket, 'connection closed before the answer was whole');
    });
    return socket;
  }

  #piece(bytes: Buffer): void {
    const exchange = this.#exchange;
    if (exchange === undefined) return;
    const words = wordsIn(bytes);
    this.#words += words;
    this.#heard(exchange, words);
    if (words > 0 && Number.isNaN(exchange.firstMs)) {
      exchange.firstMs = nowMs();
      exchange.first?.();
    }
    this.#pieces.push(bytes);
  }

  #ended(): void {
    const exchange = this.#exchange;
    if (exchange === undefined) return;
    this.#answers += 1;
    const [piece = Buffer.alloc(0)] = this.#pieces;
    const answer = this.#pieces.length === 1 ? piece : Buffer.concat(this.#pieces);
    const status = this.#head.slice(9, 12);
    if (/\r\nconnection: *close/i.test(this.#head)) this.close();
    this.#settle(
      exchange,
      status === '200'
        ? fault(exchange.kind, exchange.marker, answer, this.#words)
        : `status ${status}: ${answer.toString('latin1', 0, SHOWN_BYTES)}`,
    );
  }

  /** A kept connection may be closed just as it is used again; then the request goes out anew, as a client's would. */
  #broken(socket: Socket, reason: string): void {
    if (this.#socket !== socket) return;
    const [exchange, used] = [this.#exchange, this.#answers > 0];
    this.close();
    if (exchange === undefined) return;
    if (used && this.#head === '') this.send(exchange);
    else this.#settle(exchange, reason);
  }

  #settle(exchange: Exchange, reason: string | undefined): void {
    this.#exchange = undefined;
    exchange.endMs = nowMs();
    exchange.fault = reason;
    this.#done(exchange);
  }
}
