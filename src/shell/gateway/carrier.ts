/** Carries the control's verdicts out over sockets: the one place where attempts, calls and executions meet. */

import { assert, unreachable } from '../../core/assert.js';
import type { Control } from '../../core/control/control.js';
import { Driver } from '../../core/control/driver.js';
import type { AttemptFacts, ControlEvent } from '../../core/control/event.js';
import { familyOf } from '../../core/control/family.js';
import type { Verdict } from '../../core/control/verdict.js';
import type { RejectReason } from '../../core/control/words.js';
import type { Clock } from '../../core/time/clock.js';
import type { Attempt, AttemptSink } from './attempt.js';
import type { GatewayConfig } from './config.js';
import { priorityOf } from './engine-priority.js';
import { Execution, type ExecutionEvent, type ExecutionSink } from './execution.js';
import { GaugeFeed } from './gauge-feed.js';
import type { KeptRequests } from './kept-requests.js';
import type { Observer } from './observer.js';
import type { Dialect } from './routes.js';
import type { EngineRequest, Upstream } from './upstream.js';

export interface CarrierParts {
  /** The settings in force, which may change. */
  readonly config: () => GatewayConfig;
  readonly control: Control;
  readonly clock: Clock;
  readonly observer: Observer;
  readonly upstream: Upstream;
  readonly kept: KeptRequests;
}

interface Kept {
  readonly request: EngineRequest;
  readonly dialect: Dialect;
}

/** A call that waits in line: its request, and who waits with it. */
interface Waiting extends Kept {
  readonly listeners: Set<Attempt>;
  /** Its latest execution, when an engine sent it back. */
  readonly before?: Running | undefined;
}

interface Running {
  readonly execution: Execution;
  readonly startedAt: number;
}

export class Carrier implements AttemptSink, ExecutionSink {
  readonly #parts: CarrierParts;
  readonly #driver: Driver;
  readonly #attempts = new Map<string, Attempt>();
  /** How many attempts that have not ended each tenant has. */
  readonly #open = new Map<string, number>();
  readonly #waiting = new Map<string, Waiting>();
  /** Executions whose answer may still be read. */
  readonly #executions = new Map<string, Running>();
  readonly #gauges: GaugeFeed;
  /** The execution that failed last. */
  #lost: Running | undefined;
  #whenIdle: (() => void) | undefined;

  constructor(parts: CarrierParts) {
    this.#parts = parts;
    this.#driver = new Driver(parts.control, parts.clock, (verdict) => this.#carry(verdict));
    const { config, clock, upstream, observer } = parts;
    this.#gauges = new GaugeFeed({
      config,
      clock,
      upstream,
      send: (event) => this.send(event),
      say: (engine, word) => observer.gauges(engine, word),
    });
  }

  /** From now on the engines' gauges are read, where a room follows them. */
  begin(): void {
    this.#gauges.follow();
  }

  /** Attempts that have not ended. */
  get live(): number {
    return this.#attempts.size;
  }

  /** Attempts of a tenant that have not ended. */
  openOf(tenant: string): number {
    return this.#open.get(tenant) ?? 0;
  }

  /** Puts an attempt before the control, which has got its request. */
  arrive(attempt: Attempt, facts: AttemptFacts): void {
    attempt.family = familyOf(facts.userAgent);
    this.#attempts.set(attempt.id, attempt);
    this.#open.set(facts.tenant, this.openOf(facts.tenant) + 1);
    this.send({ kind: 'arrive', attempt: attempt.id, facts });
  }

  /** Turns an attempt away whose request could not be read, and gives its connection up. */
  reject(attempt: Attempt, reason: RejectReason): void {
    const event = { kind: 'reject', attempt: attempt.id, reason } as const;
    this.#parts.observer.event(event, this.#parts.clock.now());
    attempt.hangUp(reason);
    this.#driver.send(event);
  }

  send(event: ControlEvent): void {
    this.#parts.observer.event(event, this.#parts.clock.now());
    this.#driver.send(event);
    if (event.kind === 'reconfigure') this.#gauges.follow();
  }

  /** Resolves once no attempt is live. */
  async idle(): Promise<void> {
    if (this.#attempts.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#whenIdle = resolve;
    });
  }

  close(): void {
    this.#gauges.close();
    this.#driver.close();
  }

  handed(attempt: Attempt): void {
    this.send({ kind: 'handed', attempt: attempt.id });
  }

  left(attempt: Attempt): void {
    this.send({ kind: 'leave', attempt: attempt.id });
  }

  answered(attempt: Attempt, status: number): void {
    this.#parts.observer.answered(attempt.id, status);
  }

  stalled(attempt: Attempt): void {
    this.send({ kind: 'lag', attempt: attempt.id });
  }

  reached({ id }: Execution, url: string): void {
    this.#parts.observer.reached(id, url);
  }

  said(event: ExecutionEvent): void {
    this.send(event);
  }

  /** Readers that are too far behind are cut. */
  grown(execution: Execution): void {
    const { readerBytes } = this.#parts.config();
    for (const reader of execution.readers) {
      const behind = execution.broadcast.length - reader.flushed;
      if (behind > readerBytes) this.send({ kind: 'lag', attempt: reader.id });
    }
    execution.releaseRead();
  }

  #carry(verdict: Verdict): void {
    this.#parts.observer.verdict(verdict, this.#parts.clock.now());
    switch (verdict.kind) {
      case 'decided':
        return this.#attempts.get(verdict.attempt)?.know({ call: verdict.call });
      case 'queue':
        return this.#queue(verdict);
      case 'return':
        return this.#return(verdict);
      case 'drop':
        this.#waiting.delete(verdict.call);
        return;
      case 'start':
        return this.#start(verdict);
      case 'attach':
        return this.#attach(verdict);
      case 'refuse':
        return this.#refuse(verdict);
      case 'end':
        return this.#attempts.get(verdict.attempt)?.end(verdict.ending, verdict.retryAfterMs);
      case 'cancel':
      case 'forget':
        return this.#forget(verdict.execution);
      case 'seal':
        return this.#executions.get(verdict.execution)?.execution.seal();
      case 'attempt-ended':
        return this.#attemptEnded(verdict.attempt);
      case 'execution-ended':
        if (verdict.ending.startsWith('failed_')) this.#failed(verdict.execution);
        return;
      case 'call-ended':
      case 'wasted':
      case 'rest':
      case 'back':
      case 'warn':
        return;
      default:
        return unreachable(verdict);
    }
  }

  #queue({ call, attempt }: Extract<Verdict, { kind: 'queue' }>): void {
    this.#waiting.set(call, { ...this.#requestOf(attempt), listeners: new Set() });
  }

  /** The call waits again, with everybody who listened to its execution. */
  #return({ call, execution: id }: Extract<Verdict, { kind: 'return' }>): void {
    const before = this.#lost;
    assert(before?.execution.id === id, `${id} was sent back without having failed`);
    const { execution } = before;
    const request = execution.takeRequest();
    assert(request !== undefined, `the request of ${id} is gone`);
    const listeners = new Set<Attempt>();
    for (const reader of execution.readers) {
      const attempt = this.#attempts.get(reader.id);
      if (attempt === undefined) continue;
      attempt.waitsFor = call;
      listeners.add(attempt);
    }
    this.#waiting.set(call, { request, dialect: execution.dialect, listeners, before });
  }

  #failed(id: string): void {
    this.#lost = this.#executions.get(id);
    this.#executions.delete(id);
  }

  #start({ call, execution: id, engine, attempt, standing }: Extract<Verdict, { kind: 'start' }>): void {
    const waiting = this.#waiting.get(call);
    this.#waiting.delete(call);
    const { request, dialect } = waiting ?? this.#requestOf(attempt);
    const { upstream, kept, clock } = this.#parts;
    const startedAt = clock.now();
    const execution = new Execution(request, {
      id,
      dialect,
      engine,
      upstream,
      kept,
      timeouts: upstream.timeouts(engine, this.#parts.config().upstreamTimeouts),
      priority: standing === undefined ? undefined : priorityOf(standing),
      clock,
      sink: this,
    });
    this.#executions.set(id, { execution, startedAt });
    for (const listener of waiting?.listeners ?? []) this.#listen(listener, { execution, startedAt });
  }

  #attach({ attempt: id, call, execution, outcome, ordinal }: Extract<Verdict, { kind: 'attach' }>): void {
    const attempt = this.#attempts.get(id);
    if (attempt === undefined) return;
    attempt.know({ call, outcome, ordinal });
    attempt.takeRequest();
    this.#stopWaiting(attempt);
    const running = execution === undefined ? undefined : this.#executions.get(execution);
    if (running !== undefined) return this.#listen(attempt, running);
    attempt.waitsFor = call;
    const waiting = this.#waiting.get(call);
    waiting?.listeners.add(attempt);
    // Should no engine come back, the attempt is answered with what the last one said.
    if (waiting?.before !== undefined) this.#listen(attempt, waiting.before);
  }

  #countDown({ tenant = '' }: Attempt): void {
    const left = this.openOf(tenant) - 1;
    if (left > 0) this.#open.set(tenant, left);
    else this.#open.delete(tenant);
  }

  #refuse(verdict: Extract<Verdict, { kind: 'refuse' }>): void {
    const attempt = this.#attempts.get(verdict.attempt);
    attempt?.know({ ordinal: verdict.ordinal });
    attempt?.refuse(verdict.reason, verdict);
  }

  #stopWaiting(attempt: Attempt): void {
    if (attempt.waitsFor !== undefined) this.#waiting.get(attempt.waitsFor)?.listeners.delete(attempt);
    attempt.waitsFor = undefined;
  }

  #listen(attempt: Attempt, { execution, startedAt }: Running): void {
    attempt.listen(execution, Math.max(0, startedAt - attempt.arrivedAt));
  }

  #requestOf(id: string): Kept {
    const attempt = this.#attempts.get(id);
    const request = attempt?.takeRequest();
    assert(attempt !== undefined && request !== undefined, `attempt ${id} has no request to start with`);
    return { request, dialect: attempt.route.dialect };
  }

  /** Nobody may read it any more: a connection that still does is cut, and the memory is overwritten. */
  #forget(id: string): void {
    const execution = this.#executions.get(id)?.execution;
    if (execution === undefined) return;
    this.#executions.delete(id);
    for (const reader of execution.readers) reader.cut();
    execution.cancel();
    execution.broadcast.wipe();
  }

  #attemptEnded(id: string): void {
    const attempt = this.#attempts.get(id);
    if (attempt === undefined) return;
    this.#attempts.delete(id);
    this.#countDown(attempt);
    this.#stopWaiting(attempt);
    if (this.#attempts.size === 0) this.#whenIdle?.();
  }
}
