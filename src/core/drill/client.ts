/** One client with one call: it waits, gives up on an attempt, backs off, asks again, and in the end gives up. */

import { Random } from '../chance/random.js';
import { type Cancel, type Clock, RANK } from '../time/clock.js';
import type { Backoff, PlannedCall } from './plan.js';
import type { AttemptRecord, CallRecord } from './record.js';
import type { AttemptListener, Leave, Target, Told } from './target.js';

/** Statuses that every kind of client tries again. */
const RETRIED = new Set([408, 409, 429]);

export interface ClientParts {
  readonly clock: Clock;
  readonly target: Target;
  readonly seed: number;
  /** Hears of each attempt when it has ended, and of the call when it has. */
  readonly attemptEnded: (attempt: AttemptRecord) => void;
  readonly callEnded: (call: CallRecord) => void;
}

export class Client implements AttemptListener {
  readonly #call: PlannedCall;
  readonly #parts: ClientParts;
  /** Its own chance, drawn only when it backs off, so that no policy changes another call's draws. */
  #random: Random | undefined;
  #attempt = 0;
  #dueAt: number;
  #sentAt = 0;
  #told: Told = {};
  #firstByteAt: number | undefined;
  #leave: Leave | undefined;
  #timer: Cancel | undefined;
  #over = true;

  constructor(call: PlannedCall, parts: ClientParts) {
    this.#call = call;
    this.#parts = parts;
    this.#dueAt = call.atMs;
  }

  /** Sends the first attempt now. */
  start(): void {
    this.#send();
  }

  /** Leaves at once, for good: the run is over, the call stays open. */
  stop(): void {
    if (this.#over) {
      this.#timer?.();
      return;
    }
    const leave = this.#leave;
    this.#end('stopped', undefined);
    leave?.();
  }

  told(told: Told): void {
    if (!this.#over) this.#told = { ...this.#told, ...told };
  }

  bytes(): void {
    if (this.#over) return;
    this.#firstByteAt ??= this.#parts.clock.now();
    this.alive();
  }

  alive(): void {
    if (this.#over) return;
    const { timer } = this.#call.client;
    if (timer === 'first-byte') this.#timer?.();
    else if (timer === 'silence') this.#arm();
  }

  answered(): void {
    if (this.#over) return;
    this.#firstByteAt ??= this.#parts.clock.now();
    this.#end('delivered', 200);
    this.#finish(true);
  }

  refused(status: number, retryAfterMs?: number, mayRetry?: boolean): void {
    if (this.#over) return;
    this.#end('refused', status);
    const obeys = this.#call.client.obeysRetryAfterSeconds * 1_000;
    const told = retryAfterMs !== undefined && retryAfterMs <= obeys ? retryAfterMs : undefined;
    const retried = this.#call.client.retriesRefusals && (RETRIED.has(status) || status >= 500);
    const sentAway = this.#call.client.obeysShouldRetry && mayRetry === false;
    if (retried && !sentAway) this.#retry(told);
    else this.#finish(false);
  }

  broken(): void {
    if (this.#over) return;
    this.#end('broken', undefined);
    this.#retry();
  }

  #send(): void {
    this.#over = false;
    this.#sentAt = this.#parts.clock.now();
    this.#firstByteAt = undefined;
    this.#told = {};
    this.#arm();
    const request = { call: this.#call, ordinal: this.#attempt, dueMs: this.#dueAt };
    const leave = this.#parts.target.send(request, this);
    if (!this.#over) this.#leave = leave;
  }

  #arm(): void {
    this.#timer?.();
    const deadlineMs = this.#call.client.deadlineSeconds * 1_000;
    this.#timer = this.#parts.clock.after(deadlineMs, () => this.#timeOut(), RANK.deadline);
  }

  #timeOut(): void {
    const leave = this.#leave;
    this.#end('timed_out', undefined);
    leave?.();
    this.#retry();
  }

  #retry(toldMs?: number): void {
    const { client } = this.#call;
    if (this.#attempt >= client.retries) return this.#finish(false);
    this.#random ??= new Random(this.#parts.seed, `back-off/${this.#call.index}`);
    const waitMs = toldMs ?? backoffMs(client.backoff, this.#attempt, this.#random);
    this.#attempt += 1;
    this.#dueAt = this.#parts.clock.now() + waitMs;
    this.#timer = this.#parts.clock.after(waitMs, () => this.#send(), RANK.retry);
  }

  #end(ending: AttemptRecord['ending'], status: number | undefined): void {
    this.#over = true;
    this.#timer?.();
    this.#leave = undefined;
    this.#parts.attemptEnded({
      call: this.#call.index,
      attempt: this.#attempt,
      plannedMs: this.#call.atMs,
      sentMs: this.#sentAt,
      firstByteMs: this.#firstByteAt,
      leftMs: this.#parts.clock.now(),
      ending,
      status,
      ...this.#told,
    });
  }

  #finish(delivered: boolean): void {
    const now = this.#parts.clock.now();
    this.#parts.callEnded({
      call: this.#call.index,
      stage: this.#call.stage,
      plannedMs: this.#call.atMs,
      endedMs: now,
      attempts: this.#attempt + 1,
      client: this.#call.client.name,
      delivered,
    });
  }
}

/** The wait after attempt `ordinal` (from 0), milliseconds. */
export function backoffMs(backoff: Backoff, ordinal: number, random: Random): number {
  if (backoff.kind === 'uniform') return random.between(backoff.lowMs, backoff.highMs);
  if (backoff.kind === 'list') return backoff.ms[Math.min(ordinal, backoff.ms.length - 1)] ?? 0;
  const plainMs = Math.min(backoff.mostMs, backoff.firstMs * backoff.factor ** ordinal);
  return plainMs * random.between(backoff.jitter[0], backoff.jitter[1]);
}
