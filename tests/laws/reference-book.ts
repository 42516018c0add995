/** The reference model's book: what it knows of calls and attempts, and every ending said in one place. */

import type { ControlOptions } from '../../src/core/control/options.js';
import type { Verdict } from '../../src/core/control/verdict.js';
import type {
  AttemptEnding,
  CallEnding,
  CancelEnding,
  EntryEnding,
  ExecutionEnding,
  RefusalReason,
} from '../../src/core/control/words.js';
import { ReferenceFleet } from './reference-fleet.js';
import { type Attempt, type Call, type Execution, FOR_EVER, scopeOf } from './reference-words.js';

/** What a refusal says while nobody says otherwise: the reference knows neither chance nor the pace of the engine. */
const WAIT_MS = 5_000;

export interface ReferenceParts {
  readonly options: ControlOptions;
  readonly makeId: (of: 'call' | 'execution') => string;
}

export class ReferenceBook {
  protected readonly options: ControlOptions;
  protected readonly makeId: ReferenceParts['makeId'];
  protected readonly fleet: ReferenceFleet;
  protected now = 0;
  protected idled = 0;
  protected started = 0;
  protected out: Verdict[] = [];
  protected calls: Call[] = [];
  protected readonly crowded = new Set<string>();
  protected readonly attempts = new Map<string, Attempt>();

  constructor(parts: ReferenceParts) {
    this.options = parts.options;
    this.makeId = parts.makeId;
    this.fleet = new ReferenceFleet(parts.options, (verdict) => this.say(verdict));
  }

  protected say(verdict: Verdict): void {
    this.out.push(verdict);
  }

  protected listening(id: string): Attempt | undefined {
    const attempt = this.attempts.get(id);
    return attempt?.listening === true ? attempt : undefined;
  }

  /** What the attempt was in fact told when it was refused. */
  told(attempt: string, retryAfterMs: number): void {
    const refused = this.attempts.get(attempt);
    if (refused !== undefined) refused.toldMs = retryAfterMs;
  }

  protected refuse(attempt: Attempt, reason: RefusalReason): void {
    this.say({
      kind: 'refuse',
      attempt: attempt.id,
      reason,
      ordinal: attempt.ordinal,
      retryAfterMs: WAIT_MS,
      mayRetry: true,
    });
    attempt.toldMs = WAIT_MS;
    this.endAttempt(attempt, reason);
    const { call } = attempt as { call: Call | undefined };
    if (call === undefined) return;
    call.lastWord = 'refused';
    call.lastEventAt = this.now;
    if (call.state === 'idle') call.looseAt = this.now;
    if (attempt.ordinal === 0) call.idleOrder = this.idled++;
  }

  protected end(attempt: Attempt, ending: AttemptEnding): void {
    this.say({ kind: 'end', attempt: attempt.id, ending });
    this.endAttempt(attempt, ending);
  }

  protected endAttempt(attempt: Attempt, ending: AttemptEnding): void {
    const { call } = attempt as { call: Call | undefined };
    Object.assign(attempt, { listening: false, endedAt: this.now, ending });
    if (call !== undefined) call.lastEnded = attempt;
    this.say({
      kind: 'attempt-ended',
      attempt: attempt.id,
      call: call?.id,
      execution: call?.execution?.id,
      outcome: attempt.outcome,
      ordinal: attempt.ordinal,
      ending,
      ageMs: this.now - attempt.at,
      tenant: attempt.facts.tenant,
    });
  }

  protected endExecution(call: Call, ending: ExecutionEnding, status?: number, usage?: unknown): void {
    const execution = call.execution as Execution;
    this.say({
      kind: 'execution-ended',
      execution: execution.id,
      call: call.id,
      tenant: call.facts.tenant,
      ending,
      ageMs: this.now - execution.startedAt,
      bytes: execution.bytes,
      status,
      usage: usage as undefined,
    });
    if (!ending.startsWith('failed')) this.fleet.isOver(this.fleet.of(execution.engine), execution.id);
    if (ending !== 'finished') this.waste(call);
  }

  protected waste(call: Call): void {
    const { id, usage, bytes } = call.execution as Execution;
    this.say({ kind: 'wasted', execution: id, tenant: call.facts.tenant, usage: usage as undefined, bytes });
  }

  protected sayCallEnded(call: Call, ending: CallEnding): void {
    if (call.ended) return;
    call.ended = true;
    const { id, executions, attempts, facts } = call;
    this.say({
      kind: 'call-ended',
      call: id,
      tenant: facts.tenant,
      ending,
      attempts: attempts.length + call.turnedAway,
      executions,
    });
  }

  protected endCall(call: Call, ending: CallEnding): void {
    this.sayCallEnded(call, ending);
    call.state = 'gone';
    this.calls = this.calls.filter((other) => other !== call);
    const scope = scopeOf(call.facts);
    if (!this.calls.some((other) => other.facts.shareable && scopeOf(other.facts) === scope))
      this.crowded.delete(scope);
  }

  protected drop(call: Call, ending: EntryEnding): void {
    call.entry = undefined;
    this.say({ kind: 'drop', call: call.id, ending });
    this.lineChanged();
  }

  /** Who waits is not the same as before. */
  protected lineChanged(): void {}

  protected toIdle(call: Call): void {
    Object.assign(call, { state: 'idle', orphanedAt: undefined, graceEnd: FOR_EVER });
    call.idleOrder = this.idled++;
    call.lastEventAt = this.now;
    call.looseAt = this.now;
    call.execution = undefined;
  }

  protected expire(call: Call, ending: 'expired' | 'left' | 'displaced'): void {
    this.drop(call, ending);
    if (ending === 'displaced') call.lastWord = 'refused';
    this.toIdle(call);
  }

  protected cancel(call: Call, forced?: CancelEnding): void {
    const execution = call.execution as Execution;
    const onLeave = call.cutOnLeave ? 'cancelled_on_leave' : 'cancelled_grace';
    const ending = forced ?? (execution.sealed ? 'cancelled_not_replayable' : onLeave);
    this.say({ kind: 'cancel', execution: execution.id, ending });
    this.endExecution(call, ending);
    this.toIdle(call);
  }

  /** Wipes the answer. A call that nobody got it of is remembered, with nothing left; a delivered one is over. */
  protected forget(call: Call, fate: CallEnding = 'abandoned'): void {
    this.say({ kind: 'forget', execution: (call.execution as Execution).id });
    if (call.deliveredAt === undefined) this.waste(call);
    if (call.deliveredAt !== undefined || !call.facts.shareable) return this.endCall(call, fate);
    call.lastWord = 'abandoned';
    this.toIdle(call);
  }
}
