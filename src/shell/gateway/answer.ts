/** Follows a 2xx answer as it arrives: when it has begun, whether it is whole, what went wrong in it, its tokens. */

import type { Usage } from '../../core/control/event.js';
import { type EngineError, engineError } from './engine-error.js';
import { type HeaderFields, mediaType } from './headers.js';
import { JsonEnd } from './json-end.js';
import type { Dialect } from './routes.js';
import { type SseEvent, SseScanner } from './sse.js';
import { Tail } from './tail.js';
import { merged, usageAtEnd, usageIn } from './usage.js';

/** Of a longer JSON answer only its end is searched for the usage. */
const JSON_TAIL_BYTES = 64 * 1024;

export interface Answer {
  /** A byte has come that a client may see: the first of a JSON body, the first whole event of a stream. */
  readonly begun: boolean;
  /** It is all there, whatever else the connection still says. */
  readonly whole: boolean;
  /** An error was the first event: nothing of this answer is an answer. */
  readonly failedFirst: EngineError | undefined;
  /** An error came after the beginning; the answer goes out as it is, and is not a whole one. */
  readonly failedLater: EngineError | undefined;
  feed(chunk: Buffer): void;
  /** The HTTP message ended properly; says whether the answer is whole with that. */
  end(): boolean;
  /** To be asked once. */
  usage(): Usage | undefined;
}

/** Follows the answer with these headers to a request of an API that speaks `dialect`. */
export function answerOf(dialect: Dialect, headers: HeaderFields): Answer {
  // Packed against our wish, a stream cannot be looked into; it is whole when its message is.
  const packed = (headers['content-encoding'] ?? 'identity') !== 'identity';
  if (isEventStream(headers) && !packed) return new EventAnswer(dialect);
  const framed = 'content-length' in headers || 'transfer-encoding' in headers;
  return new PlainAnswer(packed || framed || mediaType(headers['content-type']) !== 'application/json');
}

/** Whether an answer with these headers is a stream of server-sent events. */
export function isEventStream(headers: HeaderFields): boolean {
  return mediaType(headers['content-type']) === 'text/event-stream';
}

class PlainAnswer implements Answer {
  readonly whole = false;
  readonly failedFirst = undefined;
  readonly failedLater = undefined;
  readonly #tail = new Tail(JSON_TAIL_BYTES);
  /** Without a length, only the document itself can show that it is whole. */
  readonly #document: JsonEnd | undefined;
  begun = false;

  constructor(framed: boolean) {
    this.#document = framed ? undefined : new JsonEnd();
  }

  feed(chunk: Buffer): void {
    if (chunk.length > 0) this.begun = true;
    this.#tail.push(chunk);
    this.#document?.feed(chunk);
  }

  end(): boolean {
    return this.#document?.reached ?? true;
  }

  usage(): Usage | undefined {
    const text = this.#tail.bytes.toString('utf8');
    return this.#tail.whole ? usageIn(text) : usageAtEnd(text);
  }
}

/** Closing events by name; the OpenAI dialect closes with a word instead. */
const CLOSING: Readonly<Record<Dialect, readonly string[]>> = {
  openai: [],
  plain: [],
  anthropic: ['message_stop'],
  responses: ['response.completed', 'response.incomplete', 'response.failed'],
};
/** Events that vLLM sends before it queues the work: they say no more than early headers would. */
const BEFORE_WORK: Readonly<Record<Dialect, readonly string[]>> = {
  openai: [],
  plain: [],
  anthropic: [],
  responses: ['response.created', 'response.queued', 'response.in_progress'],
};
const DONE = Buffer.from('[DONE]');
const USAGE = Buffer.from('"usage"');

class EventAnswer implements Answer {
  readonly #dialect: Dialect;
  readonly #scanner = new SseScanner((event) => this.#see(event));
  #events = 0;
  #firstUsage: SseEvent | undefined;
  #lastUsage: SseEvent | undefined;
  whole = false;
  failedFirst: EngineError | undefined;
  failedLater: EngineError | undefined;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  get begun(): boolean {
    return this.#events > 0 && this.failedFirst === undefined;
  }

  feed(chunk: Buffer): void {
    this.#scanner.feed(chunk);
  }

  end(): boolean {
    return this.whole || (this.#dialect === 'plain' && this.#events > 0);
  }

  usage(): Usage | undefined {
    const first = this.#firstUsage;
    const last = this.#lastUsage;
    return merged(
      first === undefined ? undefined : usageOf(first),
      last === undefined ? undefined : usageOf(last),
    );
  }

  #see(event: SseEvent): void {
    const failed = engineError(event);
    if (failed !== undefined) {
      if (this.#events === 0) this.failedFirst = failed;
      else this.failedLater ??= failed;
    }
    if (!named(event, BEFORE_WORK[this.#dialect])) this.#events += 1;
    if (this.#closes(event)) this.whole = true;
    if (event.data.includes(USAGE) || (event.rest.length > 0 && event.rest.includes(USAGE)))
      this.#keepUsage(event);
  }

  /** A copy: the event may look into a chunk that is much longer than it. */
  #keepUsage(event: SseEvent): void {
    const kept = { name: event.name, data: Buffer.from(event.data), rest: event.rest };
    if (this.#firstUsage === undefined) this.#firstUsage = kept;
    else this.#lastUsage = kept;
  }

  #closes(event: SseEvent): boolean {
    if (this.#dialect === 'plain') return false;
    if (event.data.length === DONE.length && event.data.equals(DONE)) return true;
    return named(event, CLOSING[this.#dialect]);
  }
}

function named(event: SseEvent, names: readonly string[]): boolean {
  if (names.length === 0) return false;
  if (event.name !== '') return names.includes(event.name);
  return names.some((name) => event.data.includes(`"type":"${name}"`));
}

function usageOf(event: SseEvent): Usage | undefined {
  return event.rest.length === 0
    ? usageIn(event.data.toString('utf8'))
    : usageAtEnd(event.rest.toString('utf8'));
}
