/** One piece of work in the engine: its request, its answer as it comes, and the readers that wait for it. */

import type { ControlEvent, Usage } from '../../core/control/event.js';
import type { Failure } from '../../core/control/words.js';
import type { Cancel, Clock } from '../../core/time/clock.js';
import { type Answer, answerOf, isEventStream } from './answer.js';
import { Broadcast } from './broadcast.js';
import type { UpstreamTimeouts } from './config.js';
import type { EngineError } from './engine-error.js';
import { answerHeaders, type HeaderFields } from './headers.js';
import type { KeptRequests } from './kept-requests.js';
import type { Dialect } from './routes.js';
import type { EngineRequest, Exchange, LetGo, Upstream } from './upstream.js';

/** Of an engine's error answer, more than this is not passed on. */
const ERROR_BODY_BYTES = 1024 * 1024;
/** Of the bytes that came in one turn, no more than this are said together. */
const UNSAID_BYTES = 16 * 1024;
/** After its status, an engine's error answer has this long to arrive; after its last event, a stream to end. */
const CLOSING_MS = 5_000;

/** An error that the engine itself said, to be passed on as it is. */
export interface ErrorAnswer {
  readonly status: number;
  readonly headers: HeaderFields;
  /** Absent when it did not arrive in full. */
  readonly body?: Buffer | undefined;
}

/** Whoever reads an execution's answer. */
export interface Reader {
  readonly id: string;
  /** Bytes that are out of our hands: handed to the system, or never to be. */
  readonly flushed: number;
  /** Something has changed: the head is there, bytes came, the answer ended. Called once a turn. */
  advance(): void;
  /** Breaks its client's connection off; it reads no more. */
  cut(): void;
}

export type ExecutionEvent = Extract<ControlEvent, { kind: 'first-byte' | 'chunk' | 'finish' | 'fail' }>;

/** What an execution reports. */
export interface ExecutionSink {
  /** Its request is on its way over a connection to the engine at `url`. */
  reached(execution: Execution, url: string): void;
  said(event: ExecutionEvent): void;
  /** Bytes were added to a sealed answer. */
  grown(execution: Execution): void;
}

export interface ExecutionParts {
  readonly id: string;
  readonly dialect: Dialect;
  /** Where it is sent, by the name of the engine. */
  readonly engine: string;
  readonly kept: KeptRequests;
  readonly upstream: Upstream;
  readonly timeouts: UpstreamTimeouts;
  /** How urgent it is to an engine that is told so. */
  readonly priority?: number | undefined;
  readonly clock: Clock;
  readonly sink: ExecutionSink;
}

const NOTHING = (): void => {};

/** The engine has done nothing: it has no capacity, or is not there behind its router. */
const UNAVAILABLE = 503;

/** `silent`: nothing a client may see; `speaking`; `whole`: all of a 2xx answer; `failed`. */
type State = 'silent' | 'speaking' | 'whole' | 'failed';

export class Execution implements Exchange {
  readonly id: string;
  readonly broadcast = new Broadcast();
  readonly readers = new Set<Reader>();
  readonly #parts: ExecutionParts;
  #letGo: LetGo;
  /** Until the engine has answered: it may have to be sent again. */
  #request: EngineRequest | undefined;
  #state: State = 'silent';
  #status = 0;
  #headers: HeaderFields = {};
  #answer: Answer | undefined;
  #errorPieces: Buffer[] | undefined;
  #errorAnswer: ErrorAnswer | undefined;
  #endedCleanly = false;
  #unsaid = 0;
  #sealed = false;
  #scheduled = false;
  #timer: Cancel = NOTHING;

  /** Sends `request` at once. It is not kept for longer than until the engine answers. */
  constructor(request: EngineRequest, parts: ExecutionParts) {
    this.id = parts.id;
    this.#parts = parts;
    this.#arm(parts.timeouts.firstByteMs);
    if (parts.kept.keep(request.body.length)) this.#request = request;
    const headers = [...request.headers, 'x-request-id', parts.id];
    this.#letGo = parts.upstream.send(parts.engine, { ...request, headers, priority: parts.priority }, this);
  }

  get dialect(): Dialect {
    return this.#parts.dialect;
  }

  /** Hands over the request of an execution for which its engine has done nothing; undefined when it was not kept. */
  takeRequest(): EngineRequest | undefined {
    const request = this.#request;
    this.#request = undefined;
    if (request !== undefined) this.#parts.kept.letGo(request.body.length);
    return request;
  }

  get state(): State {
    return this.#state;
  }

  /** Status and headers of the answer, once a client may see them. */
  get head(): { readonly status: number; readonly headers: HeaderFields } | undefined {
    const begun = this.#state === 'speaking' || this.#state === 'whole';
    return begun ? { status: this.#status, headers: this.#headers } : undefined;
  }

  get errorAnswer(): ErrorAnswer | undefined {
    return this.#errorAnswer;
  }

  /** The engine ended its answer properly, even if that answer is not a good one. */
  get endedCleanly(): boolean {
    return this.#endedCleanly;
  }

  get sealed(): boolean {
    return this.#sealed;
  }

  seal(): void {
    this.#sealed = true;
    this.releaseRead();
  }

  /** Lets go of what every reader of a sealed answer has behind it. */
  releaseRead(): void {
    if (!this.#sealed) return;
    let least = this.broadcast.length;
    for (const reader of this.readers) least = Math.min(least, reader.flushed);
    this.broadcast.release(least);
  }

  /** This reader reads no more, and none of our memory is on its way to it. */
  dismiss(reader: Reader): void {
    this.readers.delete(reader);
    if (this.#state === 'failed' && this.readers.size === 0) this.broadcast.wipe();
    else this.releaseRead();
  }

  /** Destroys the engine connection. Nothing is said any more. */
  cancel(): void {
    this.#state = this.#state === 'whole' ? 'whole' : 'failed';
    this.takeRequest();
    this.#letGo();
    this.#leaveEngine();
  }

  onReached(url: string): void {
    this.#parts.sink.reached(this, url);
  }

  onHead(status: number, headers: HeaderFields): void {
    this.#status = status;
    if (status !== UNAVAILABLE) this.takeRequest();
    this.#headers = answerHeaders(headers);
    if (status >= 300) {
      this.#errorPieces = [];
      this.#arm(CLOSING_MS);
      return;
    }
    this.#answer = answerOf(this.#parts.dialect, headers);
    if (isEventStream(headers)) {
      const { 'content-length': _length, ...rest } = this.#headers;
      this.#headers = rest;
    }
  }

  onData(chunk: Buffer): void {
    if (this.#errorPieces !== undefined) return this.#keepError(chunk);
    const answer = this.#answer;
    if (answer === undefined || this.#over) return;
    answer.feed(chunk);
    this.broadcast.append(chunk);
    this.#unsaid += chunk.length;
    if (answer.failedFirst !== undefined) return this.#failFirst(answer);
    if (!answer.begun) return;
    if (this.#state === 'silent') {
      this.#state = 'speaking';
      this.#say({ kind: 'first-byte', execution: this.id, stream: isEventStream(this.#headers) });
    }
    this.#arm(this.#parts.timeouts.idleMs);
    if (answer.whole) this.#close(answer);
    else if (this.#unsaid >= UNSAID_BYTES) this.#sayBytes();
    this.#schedule();
  }

  onEnd(): void {
    const answer = this.#answer;
    this.#leaveEngine();
    if (this.#errorPieces !== undefined) return this.#failStatus(Buffer.concat(this.#errorPieces));
    if (answer === undefined || this.#over) return;
    const whole = answer.end();
    if (whole || answer.failedLater !== undefined) this.#conclude(answer);
    else this.#fail(this.#state === 'silent' ? 'reset' : 'truncated', undefined, answer.usage());
  }

  onFailure(failure: Extract<Failure, 'refused' | 'reset' | 'malformed'>): void {
    const usage = this.#over ? undefined : this.#answer?.usage();
    this.#leaveEngine();
    if (this.#errorPieces !== undefined) return this.#failStatus(undefined);
    if (this.#over) return;
    const broken = failure === 'reset' && this.#state === 'speaking' ? 'truncated' : failure;
    this.#fail(broken, undefined, usage);
  }

  /** Of its exchange with the engine nothing is left, though its answer may be kept for long. */
  #leaveEngine(): void {
    this.#timer();
    this.#timer = NOTHING;
    this.#letGo = NOTHING;
    this.#answer = undefined;
  }

  #say(event: ExecutionEvent): void {
    this.#parts.sink.said(event);
  }

  /** Says how many bytes have come since the last time. */
  #sayBytes(): void {
    const bytes = this.#unsaid;
    if (bytes === 0 || this.#state === 'silent') return;
    this.#unsaid = 0;
    this.#say({ kind: 'chunk', execution: this.id, bytes });
    if (this.#sealed) this.#parts.sink.grown(this);
  }

  get #over(): boolean {
    return this.#state === 'whole' || this.#state === 'failed';
  }

  /** The answer is all there; what the connection still says is waited for only so that it can be used again. */
  #close(answer: Answer): void {
    this.#arm(CLOSING_MS);
    this.#conclude(answer);
  }

  #conclude(answer: Answer): void {
    this.#endedCleanly = true;
    const usage = answer.usage();
    if (answer.failedLater !== undefined) {
      this.#keepEventError(answer.failedLater);
      this.#fail('error_event', answer.failedLater.status, usage);
      return;
    }
    this.#sayBytes();
    this.#state = 'whole';
    this.#say({ kind: 'finish', execution: this.id, usage });
    this.#schedule();
  }

  #failFirst(answer: Answer): void {
    const error = answer.failedFirst;
    if (error === undefined) return;
    this.#keepEventError(error);
    this.broadcast.wipe();
    this.#arm(CLOSING_MS);
    this.#fail('error_event', error.status, answer.usage());
  }

  /** For whoever has seen nothing yet: the error with the status that it should have had. */
  #keepEventError({ status, body }: EngineError): void {
    const headers = { ...this.#headers, 'content-type': 'application/json' };
    this.#errorAnswer = { status, headers, body };
  }

  #failStatus(body: Buffer | undefined): void {
    this.#errorPieces = undefined;
    this.#errorAnswer = { status: this.#status, headers: this.#headers, body };
    this.#fail(failureOf(this.#status), this.#status);
  }

  #fail(failure: Failure, status?: number, usage?: Usage): void {
    this.#sayBytes();
    this.#state = 'failed';
    const repeatable = this.#request !== undefined;
    const retryAfterMs = retryAfterIn(this.#headers);
    this.#say({ kind: 'fail', execution: this.id, failure, status, repeatable, retryAfterMs, usage });
    // The event may be heard a little later, but within this turn.
    process.nextTick(() => this.takeRequest());
    this.#schedule();
  }

  #keepError(chunk: Buffer): void {
    const pieces = this.#errorPieces ?? [];
    pieces.push(chunk);
    if (pieces.reduce((sum, piece) => sum + piece.length, 0) <= ERROR_BODY_BYTES) return;
    this.#timer();
    this.#letGo();
    this.#failStatus(undefined);
  }

  /** One timer at a time: for the first byte, the next one, or the end of what is over. 0: none. */
  #arm(ms: number): void {
    this.#timer();
    this.#timer = ms > 0 ? this.#parts.clock.after(ms, () => this.#late()) : NOTHING;
  }

  #late(): void {
    const usage = this.#over ? undefined : this.#answer?.usage();
    this.#letGo();
    this.#leaveEngine();
    if (this.#errorPieces !== undefined) this.#failStatus(undefined);
    else if (!this.#over) this.#fail('timeout', undefined, usage);
  }

  /** What came in one turn is said, and read, together. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    process.nextTick(Execution.#passOn, this);
  }

  static #passOn(this: void, execution: Execution): void {
    execution.#scheduled = false;
    if (!execution.#over) execution.#sayBytes();
    for (const reader of execution.readers) reader.advance();
  }
}

/** Milliseconds that an engine asks to be left alone; undefined when it says nothing, or gives a date. */
function retryAfterIn(headers: HeaderFields): number | undefined {
  const said = headers['retry-after'];
  return typeof said === 'string' && /^\d{1,6}$/.test(said) ? Number(said) * 1_000 : undefined;
}

/** What an answer with this status, which is none of 2xx, stands for. */
function failureOf(status: number): Failure {
  if (status === UNAVAILABLE) return 'unavailable';
  if (status >= 500) return 'status_5xx';
  return status >= 400 ? 'status_4xx' : 'status_3xx';
}
