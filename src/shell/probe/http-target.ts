/** Sends a drill's attempts over HTTP as real clients do, and tells each client what became of its attempt. */

import type { Dispatcher } from 'undici';
import type { AttemptListener, AttemptRequest, Leave, Target } from '../../core/drill/target.js';
import type { Clock } from '../../core/time/clock.js';
import { type AnswerReader, DocumentReader, StreamReader } from './answer.js';
import { type Line, Lines } from './lines.js';
import type { Requests } from './request.js';

export interface HttpTargetParts {
  /** The drill's own clock. */
  readonly clock: Clock;
  /** Without a path at its end: `/v1/…` is added. */
  readonly url: URL;
  readonly requests: Requests;
  /** Seconds of the plan in one second of the wall clock. */
  readonly timeScale: number;
  /** How late an attempt was handed to its socket, milliseconds of the wall clock, waits for the connection apart. */
  readonly sentLate: (ms: number) => void;
}

/** An error's body is read to its end, so that its connection can be used again, up to this many bytes. */
const MOST_REFUSAL_BYTES = 1024 * 1024;

export class HttpTarget implements Target {
  readonly #parts: HttpTargetParts;
  readonly #lines: Lines;
  readonly #path: string;

  constructor(parts: HttpTargetParts) {
    this.#parts = parts;
    this.#lines = new Lines(parts.url.origin);
    this.#path = `${parts.url.pathname.replace(/\/+$/, '')}${parts.requests.path}`;
  }

  send(request: AttemptRequest, listener: AttemptListener): Leave {
    const { clock, timeScale, sentLate } = this.#parts;
    const line = this.#lines.take();
    const exchange = new Exchange(listener, {
      streams: request.call.client.stream,
      timeScale,
      over: (reusable) => (reusable ? this.#lines.giveBack(line) : this.#lines.leave(line)),
      started: () => sentLate(Math.max(0, (clock.now() - request.dueMs) / timeScale - line.connectMs)),
    });
    this.#dispatch(line, request, exchange);
    return () => exchange.leave();
  }

  #dispatch(line: Line, request: AttemptRequest, exchange: Exchange): void {
    const { requests } = this.#parts;
    const options: Dispatcher.DispatchOptions = {
      path: this.#path,
      method: 'POST',
      headers: requests.headers(request),
      body: requests.body(request.call),
    };
    try {
      line.client.dispatch(options, guarded(exchange));
    } catch (error) {
      exchange.onResponseError(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** Connections that an attempt uses. */
  get open(): number {
    return this.#lines.busy;
  }

  /** Closes every connection. */
  close(): void {
    this.#lines.close();
  }
}

interface ExchangeParts {
  readonly streams: boolean;
  readonly timeScale: number;
  /** Called once, when nothing more is heard of this exchange; whether its connection may be used again. */
  readonly over: (reusable: boolean) => void;
  /** The request is being written to its connection. */
  readonly started: () => void;
}

/** An error of ours must not be taken for one of the connection's, which is what undici makes of it. */
function guarded(exchange: Exchange): Dispatcher.DispatchHandler {
  const guard = (handle: () => void): void => {
    try {
      handle();
    } catch (error) {
      process.nextTick(() => {
        throw error;
      });
    }
  };
  return {
    onRequestStart: () => guard(() => exchange.onRequestStart()),
    onResponseStart: (_, status, headers) => guard(() => exchange.onResponseStart(status, headers)),
    onResponseData: (_, piece) => guard(() => exchange.onResponseData(piece)),
    onResponseEnd: () => guard(() => exchange.onResponseEnd()),
    onResponseError: (_, error) => guard(() => exchange.onResponseError(error)),
  };
}

/** What undici says of one request, in the words of a client. */
class Exchange {
  readonly #listener: AttemptListener;
  readonly #parts: ExchangeParts;
  #status = 0;
  #headers: Headers = {};
  #reader: AnswerReader | undefined;
  #refusalBytes = 0;
  /** The client knows how it ended. */
  #told = false;
  #over = false;

  constructor(listener: AttemptListener, parts: ExchangeParts) {
    this.#listener = listener;
    this.#parts = parts;
  }

  leave(): void {
    this.#told = true;
    this.#finish(false);
  }

  onRequestStart(): void {
    this.#parts.started();
  }

  onResponseStart(status: number, headers: Headers): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    this.#listener.told(toldBy(headers));
    if (status >= 300) return;
    const type = textOf(headers, 'content-type') ?? '';
    this.#reader = type.startsWith('text/event-stream') ? new StreamReader() : new DocumentReader();
    this.#listener.alive();
  }

  onResponseData(piece: Buffer): void {
    if (this.#told) return;
    const reader = this.#reader;
    if (reader === undefined) {
      this.#refusalBytes += piece.length;
      if (this.#refusalBytes > MOST_REFUSAL_BYTES) this.#refuse(false);
      return;
    }
    if (reader.feed(piece)) this.#listener.bytes();
    else this.#listener.alive();
    if (reader.early === 'whole') this.#answer(reader);
    else if (reader.early !== undefined) this.#break('error_event', false);
  }

  onResponseEnd(): void {
    const reader = this.#reader;
    if (reader === undefined) this.#refuse(true);
    else if (!this.#told) {
      const reading = reader.end();
      if (reading === 'whole') this.#answer(reader);
      else this.#break(reading === 'error' ? 'error_in_answer' : 'ended_early', true);
    }
    this.#finish(true);
  }

  onResponseError(error: Error): void {
    if (this.#status >= 300) this.#refuse(false);
    else this.#break(reasonOf(error), false);
    this.#finish(false);
  }

  #answer(reader: AnswerReader): void {
    if (this.#told) return;
    this.#told = true;
    // The gateway's own id is the better one: it names the execution, not the engine's answer.
    if (textOf(this.#headers, 'x-holdfast-execution') === undefined) this.#listener.told(reader.told);
    this.#listener.answered();
  }

  #refuse(ended: boolean): void {
    if (!this.#told) {
      this.#told = true;
      const retryAfterMs = retryAfterIn(this.#headers);
      const scaledMs = retryAfterMs === undefined ? undefined : retryAfterMs * this.#parts.timeScale;
      this.#listener.refused(this.#status, scaledMs, mayRetryIn(this.#headers));
    }
    if (!ended) this.#finish(false);
  }

  #break(reason: string, ended: boolean): void {
    if (!this.#told) {
      this.#told = true;
      this.#listener.told({ reason });
      this.#listener.broken();
    }
    if (!ended) this.#finish(false);
  }

  #finish(reusable: boolean): void {
    if (this.#over) return;
    this.#over = true;
    this.#parts.over(reusable);
  }
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

function textOf(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : value?.[0];
}

function toldBy(headers: Headers): Parameters<AttemptListener['told']>[0] {
  const [execution, outcome, reason] = ['execution', 'outcome', 'reason'].map((word) =>
    textOf(headers, `x-holdfast-${word}`)?.slice(0, 256),
  );
  return {
    ...(execution === undefined ? {} : { execution }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(reason === undefined ? {} : { reason }),
  };
}

/** Milliseconds of the wall clock; the exact header of the SDKs goes before the standard one, a date says nothing. */
function retryAfterIn(headers: Headers): number | undefined {
  const ms = numberIn(headers, 'retry-after-ms');
  const seconds = numberIn(headers, 'retry-after');
  return ms ?? (seconds === undefined ? undefined : seconds * 1_000);
}

function numberIn(headers: Headers, name: string): number | undefined {
  const text = textOf(headers, name)?.trim() ?? '';
  return /^\d{1,9}(?:\.\d{1,9})?$/.test(text) ? Number(text) : undefined;
}

function mayRetryIn(headers: Headers): boolean | undefined {
  const text = textOf(headers, 'x-should-retry');
  return text === 'true' ? true : text === 'false' ? false : undefined;
}

/** The stable code of a failed connection: `ECONNREFUSED`, `UND_ERR_SOCKET`, …. */
function reasonOf(error: Error): string {
  const code = 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : error.name;
}
