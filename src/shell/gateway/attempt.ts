/** One HTTP request of a recognised route, seen from its client: what it is told, and how fast it reads. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Family } from '../../core/control/family.js';
import type { AttemptEnding, Outcome, RejectReason } from '../../core/control/words.js';
import type { Cancel, Clock } from '../../core/time/clock.js';
import { breakOff } from './break-off.js';
import type { Connection, Watch } from './departure.js';
import { errorBody } from './error-body.js';
import type { ErrorAnswer, Execution, Reader } from './execution.js';
import { type HeaderFields, textOf, writable } from './headers.js';
import { isOwnEnding, type OwnEnding, type RefusalTerms, refusal } from './refusal.js';
import type { Route } from './routes.js';
import type { EngineRequest } from './upstream.js';

/** A reader that takes nothing of an answer that broke off is cut after this, milliseconds. */
const FLUSH_MS = 5_000;
/** A reader that takes nothing at all while bytes wait for it is cut after this, milliseconds. */
const STALL_MS = 120_000;

/** What an attempt reports. */
export interface AttemptSink {
  handed(attempt: Attempt): void;
  left(attempt: Attempt): void;
  answered(attempt: Attempt, status: number): void;
  /** The client has taken nothing of what waits for it for too long. */
  stalled(attempt: Attempt): void;
}

export interface AttemptParts {
  readonly id: string;
  readonly route: Route;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly connection: Connection;
  readonly arrivedAt: number;
  readonly clock: Clock;
  /** Milliseconds of the clock a millisecond of the client's. */
  readonly scale: number;
  readonly host: AttemptHost;
  readonly sink: AttemptSink;
}

/** Where attempts take place. */
export interface AttemptHost {
  /** It is stopping, so that a client had better open its next connection elsewhere. */
  readonly draining: boolean;
  /** The state of a tenant's budget as its clients may see it; undefined while that is not its own. */
  budgetOf(tenant: string): string | undefined;
}

const NOTHING = (): void => {};

/** What the control has said about an attempt so far, for its answer's headers. */
interface Standing {
  call?: string;
  execution?: string;
  ordinal?: number;
  outcome?: Outcome;
  queueMs?: number;
}

/** How the answer ends: `whole`: the engine's; `clean`: not a good answer, but all of it; `cut`: broken off. */
type Close = 'whole' | 'clean' | 'cut';

/** `silent`: nothing sent; `speaking`; `ending`: all of it is with the connection; `gone`: nothing left to do. */
type State = 'silent' | 'speaking' | 'ending' | 'gone';

export class Attempt implements Reader {
  readonly id: string;
  readonly route: Route;
  readonly arrivedAt: number;
  family: Family = 'unknown';
  /** Absent where the request could not be read. */
  tenant: string | undefined;
  readonly #parts: AttemptParts;
  readonly #watch: Watch;
  readonly #standing: Standing = {};
  #request: EngineRequest | undefined;
  #execution: Execution | undefined;
  #position = 0;
  #flushed = 0;
  #state: State = 'silent';
  #blocked = false;
  #close: Close | undefined;
  #stall: Cancel = NOTHING;
  /** The call it waits in line with. */
  waitsFor: string | undefined;

  constructor(parts: AttemptParts) {
    this.id = parts.id;
    this.route = parts.route;
    this.arrivedAt = parts.arrivedAt;
    this.#parts = parts;
    this.#watch = parts.connection.watch(() => this.#leave());
    // Writing to a connection that has just gone is an error of nobody's: its closing is what counts.
    parts.response.on('error', NOTHING);
  }

  get flushed(): number {
    return this.#flushed;
  }

  /** Gives the attempt the request that its call may need in the engine. */
  keepRequest(request: EngineRequest): void {
    this.#request = request;
  }

  /** Hands the request over, once; it is not kept here any longer. */
  takeRequest(): EngineRequest | undefined {
    const request = this.#request;
    this.#request = undefined;
    return request;
  }

  /** What the control said: which call this is, as its how-manieth attempt, and what it met. */
  know(standing: Partial<Standing>): void {
    Object.assign(this.#standing, standing);
  }

  /** Reads this execution's answer from its first byte on; what it read before is forgotten. */
  listen(execution: Execution, queueMs: number): void {
    if (this.#state !== 'silent' || this.#execution === execution) return;
    this.#detach();
    this.know({ execution: execution.id, queueMs });
    this.#execution = execution;
    execution.readers.add(this);
    this.advance();
  }

  /** Sends what there is and the client takes. */
  advance(): void {
    const execution = this.#execution;
    if (execution === undefined) return;
    if (this.#state === 'silent') {
      const { head } = execution;
      if (head === undefined) return;
      this.#begin(head.status, head.headers);
    }
    if (execution.state === 'whole') this.#close ??= 'whole';
    this.#pump(execution);
  }

  /** Answers with a refusal of the gateway's own. */
  refuse(ending: OwnEnding, terms: RefusalTerms): void {
    if (this.#state === 'speaking') return this.cut();
    if (this.#state !== 'silent') return;
    const { retryAfterMs, mayRetry } = terms;
    const scaled = retryAfterMs === undefined ? undefined : retryAfterMs / this.#parts.scale;
    const asSaid = { retryAfterMs: scaled, mayRetry };
    const { status, code, headers, message } = refusal(ending, this.family, asSaid);
    const body = errorBody(this.route.dialect, status, code, message);
    this.#answer(status, { ...headers, 'content-type': 'application/json' }, body);
  }

  /** Answers a request that was not read to its end, and gives the connection up. */
  hangUp(reason: RejectReason): void {
    this.#parts.response.shouldKeepAlive = false;
    this.refuse(reason, { mayRetry: true });
  }

  /** The control ended this attempt without a delivery. */
  end(ending: AttemptEnding, retryAfterMs?: number): void {
    const execution = this.#execution;
    if (this.#state === 'silent') {
      const error = execution?.errorAnswer;
      if (error !== undefined) return this.#passOn(error, ending, retryAfterMs);
      const own = isOwnEnding(ending) ? ending : 'upstream_reset';
      return this.refuse(own, { retryAfterMs, mayRetry: ending !== 'taken_over' });
    }
    if (execution === undefined || !ending.startsWith('upstream_')) return this.cut();
    this.#close = execution.endedCleanly ? 'clean' : 'cut';
    setTimeout(() => this.cut(), FLUSH_MS).unref();
    this.#pump(execution);
  }

  /** Breaks the connection off: never a clean end for something that is not whole. */
  cut(): void {
    if (this.#state === 'gone') return;
    this.#leaveOff();
    const { request, response } = this.#parts;
    breakOff(request, response);
  }

  #leave(): void {
    this.#leaveOff();
    this.#parts.response.destroy();
    this.#parts.sink.left(this);
  }

  #leaveOff(): void {
    this.#state = 'gone';
    this.#stall();
    this.#request = undefined;
    this.#watch.over();
    this.#detach();
  }

  #detach(): void {
    this.#execution?.dismiss(this);
    this.#execution = undefined;
  }

  #begin(status: number, headers: HeaderFields): void {
    this.#state = 'speaking';
    const { response, sink } = this.#parts;
    if (this.#parts.host.draining) response.shouldKeepAlive = false;
    response.writeHead(status, this.#headers(headers));
    sink.answered(this, status);
  }

  #pump(execution: Execution): void {
    const { response } = this.#parts;
    while (!this.#blocked && this.#state === 'speaking') {
      const piece = execution.broadcast.from(this.#position);
      this.#position += piece.length;
      const last = this.#position === execution.broadcast.length;
      if (last && this.#close !== undefined && this.#close !== 'cut') return this.#endWith(piece);
      if (piece.length === 0) {
        if (this.#close === 'cut' && this.#flushed === this.#position) this.cut();
        return;
      }
      this.#blocked = !response.write(piece, () => this.#wrote(piece.length));
      if (this.#blocked) this.#awaitReader();
    }
  }

  #awaitReader(): void {
    this.#watchReader();
    this.#parts.response.once('drain', () => {
      this.#blocked = false;
      this.#stall();
      this.advance();
    });
  }

  #wrote(bytes: number): void {
    this.#flushed += bytes;
    const execution = this.#execution;
    if (execution === undefined) return;
    execution.releaseRead();
    if (this.#close === 'cut' && this.#flushed === execution.broadcast.length) this.cut();
  }

  #endWith(piece: Buffer): void {
    this.#state = 'ending';
    const { response } = this.#parts;
    response.end(piece, () => {
      this.#stall();
      if (this.#state !== 'ending') return;
      if (this.#close !== 'whole') return this.#leaveOff();
      this.#state = 'gone';
      this.#detach();
      this.#watch.handed();
      this.#parts.sink.handed(this);
    });
    // Mostly the system has taken all of it by now.
    if (response.socket === null || response.socket.writableLength > 0) this.#watchReader();
  }

  #watchReader(): void {
    this.#stall();
    const { clock, scale, sink } = this.#parts;
    this.#stall = clock.after(STALL_MS * scale, () => sink.stalled(this));
  }

  #passOn({ status, headers: said, body }: ErrorAnswer, ending: AttemptEnding, retryAfterMs?: number): void {
    const headers = this.#withRetryAfter(said, retryAfterMs);
    if (body !== undefined) return this.#answer(status, headers, body);
    // These words are ours, so they are not packed as the engine's were.
    const { 'content-encoding': _, ...kept } = headers;
    const own = errorBody(
      this.route.dialect,
      status,
      `upstream_${status}`,
      'The engine broke its error off.',
    );
    const ours = { 'content-type': 'application/json', 'x-holdfast-reason': ending };
    this.#answer(status, { ...kept, ...ours }, own);
  }

  /** An engine that says nothing of when to come back leaves that to the gateway, which knows when it is tried again. */
  #withRetryAfter(headers: HeaderFields, retryAfterMs: number | undefined): HeaderFields {
    if (retryAfterMs === undefined || headers['retry-after'] !== undefined) return headers;
    return { ...headers, 'retry-after': String(Math.ceil(retryAfterMs / this.#parts.scale / 1_000)) };
  }

  #answer(status: number, headers: HeaderFields, body: Buffer): void {
    const { response, sink } = this.#parts;
    this.#leaveOff();
    if (this.#parts.host.draining) response.shouldKeepAlive = false;
    response.writeHead(status, this.#headers({ ...headers, 'content-length': String(body.length) }));
    sink.answered(this, status);
    response.end(body);
  }

  /** `headers`, with the accounting that goes with every answer. */
  #headers(headers: HeaderFields): (string | string[])[] {
    const { call, execution, ordinal, outcome, queueMs } = this.#standing;
    const own: string[] = [];
    const add = (name: string, value: string | number | undefined): void => {
      if (value !== undefined) own.push(name, String(value));
    };
    const requestId = textOf(this.#parts.request, 'x-request-id');
    add('x-request-id', requestId);
    add('x-holdfast-call', call);
    add('x-holdfast-execution', execution);
    add('x-holdfast-attempt', ordinal);
    add('x-holdfast-outcome', outcome);
    add('x-holdfast-budget', this.tenant === undefined ? undefined : this.#parts.host.budgetOf(this.tenant));
    add('x-holdfast-queue-ms', queueMs === undefined ? undefined : Math.round(queueMs / this.#parts.scale));
    if (requestId === undefined || headers['x-request-id'] === undefined) return writable(headers, own);
    const { 'x-request-id': _, ...others } = headers;
    return writable(others, own);
  }
}
