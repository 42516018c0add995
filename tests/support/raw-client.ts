/** A client that is nothing but a socket: it can leave in every way a connection can end. */

import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { OVER_TLS } from './over-tls.js';
import { within } from './promised.js';

export interface RawRequest {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly version?: '1.0' | '1.1';
}

/** The bytes of a request, with the headers that every API client sends. */
export function requestText({
  method = 'POST',
  path,
  headers,
  body,
  version = '1.1',
}: RawRequest = {}): string {
  const text = body ?? '{"model":"tiny","messages":[]}';
  const all: Record<string, string> = {
    host: 'gateway',
    authorization: 'Bearer raw',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(text)),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path ?? '/v1/chat/completions'} HTTP/${version}\r\n${lines.join('')}\r\n${text}`;
}

export class RawClient {
  readonly socket: Socket;
  readonly #pieces: Buffer[] = [];
  readonly #wakes = new Set<() => void>();
  #over = false;
  /** The code of the error that ended the connection, if one did. */
  error: string | undefined;

  private constructor(port: number) {
    this.socket = connection(port);
    this.socket.on('data', (piece: Buffer) => {
      this.#pieces.push(piece);
      this.#wake();
    });
    this.socket.on('error', (error: NodeJS.ErrnoException) => {
      this.error = error.code;
    });
    const ended = (): void => {
      this.#over = true;
      this.#wake();
    };
    this.socket.on('end', ended);
    this.socket.on('close', ended);
  }

  /** Connects. */
  static async open(port: number): Promise<RawClient> {
    const client = new RawClient(port);
    await within(
      'a connection',
      new Promise((resolve) => {
        client.socket.once(OVER_TLS === undefined ? 'connect' : 'secureConnect', () => resolve(undefined));
        client.socket.once('close', () => resolve(undefined));
      }),
    );
    return client;
  }

  /** Connects and sends a request. */
  static async ask(port: number, request?: RawRequest): Promise<RawClient> {
    const client = await RawClient.open(port);
    client.send(requestText(request));
    return client;
  }

  send(text: string): void {
    this.socket.write(text, 'latin1');
  }

  /** Everything received so far. */
  get text(): string {
    return Buffer.concat(this.#pieces).toString('latin1');
  }

  /** Whether the other side has ended the connection. */
  get over(): boolean {
    return this.#over;
  }

  /** Resolves with what was received once it holds `part`. */
  async until(part: string): Promise<string> {
    let looked = 0;
    let tail = '';
    const holds = (): boolean => {
      const fresh = tail + Buffer.concat(this.#pieces.slice(looked)).toString('latin1');
      looked = this.#pieces.length;
      // What was looked through can at most hold the start of it.
      tail = fresh.slice(-part.length);
      return fresh.includes(part);
    };
    await this.#when(`text with ${JSON.stringify(part.slice(0, 80))}`, holds);
    return this.text;
  }

  /** Resolves with what was received once the other side has ended the connection, and closes it. */
  async rest(): Promise<string> {
    await this.#when('the end of the connection', () => this.#over);
    this.socket.destroy();
    return this.text;
  }

  async #when(what: string, holds: () => boolean): Promise<void> {
    await within(
      what,
      new Promise<void>((resolve) => {
        const look = (): void => {
          if (!holds()) return;
          this.#wakes.delete(look);
          resolve();
        };
        this.#wakes.add(look);
        look();
      }),
    );
  }

  #wake(): void {
    for (const wake of this.#wakes) wake();
  }
}

/** A connection that can end in every way, with TLS on it or without. */
function connection(port: number): Socket {
  const plain = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  if (OVER_TLS === undefined) return plain;
  const secure = connectTls({ socket: plain, ca: OVER_TLS.authority, servername: 'localhost' });
  plain.on('error', () => {});
  // TCP alone can reset.
  secure.resetAndDestroy = () => {
    plain.resetAndDestroy();
    return secure;
  };
  return secure;
}

/** Status, headers (lower case) and body of a received answer; the body as it stands on the wire. */
export function answerIn(text: string): { status: number; headers: Record<string, string>; body: string } {
  const end = text.indexOf('\r\n\r\n');
  const [first = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  return { status: Number(first.split(' ')[1]), headers, body: text.slice(end + 4) };
}
