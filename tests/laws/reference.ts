/** A small, naive model of the control: no index, no timer, every step looks at everything that is due. */

import type { ControlEvent } from '../../src/core/control/event.js';
import { mannersOf } from '../../src/core/control/family.js';
import type { Verdict } from '../../src/core/control/verdict.js';
import { ReferenceEngine, worthLess } from './reference-engine.js';
import { recognise, sharedNames } from './reference-recognition.js';
import {
  type Attempt,
  type Call,
  type Claim,
  deadlineOf,
  type Execution,
  evidenceOf,
  FOR_EVER,
  giveUpOf,
  lastOf,
  listeners,
  provesThis,
  replayable,
  sameClient,
  scopeOf,
  shown,
  working,
} from './reference-words.js';

/** An idle call is remembered at least this long after its last event. */
const REMEMBER_MS = 60_000;
interface Due {
  readonly at: number;
  /** None: it is an engine's. */
  readonly call: Call | undefined;
  readonly act: () => void;
}

export class Reference extends ReferenceEngine {
  private draining = false;
  private claims: Claim[] = [];
  private readonly overlapping = new Set<string>();
  /** Two different calls had something due at one and the same moment: their order is nobody's promise. */
  tied = false;

  step(now: number, event: ControlEvent): readonly Verdict[] {
    this.out = [];
    this.pass(now);
    this.now = now;
    this.apply(event);
    this.pass(now);
    return this.out;
  }

  wakeAt(): number {
    const held = this.waiting().map((call) =>
      this.engineFor(call) === undefined ? 0 : (call.entry?.heldUntil ?? 0),
    );
    return Math.min(...this.dues().map((due) => due.at), ...held.filter((at) => at > this.now));
  }

  private apply(event: ControlEvent): void {
    switch (event.kind) {
      case 'arrive': {
        this.arrive(event);
        break;
      }
      case 'reject': {
        this.say({
          kind: 'attempt-ended',
          attempt: event.attempt,
          ordinal: 0,
          ending: event.reason,
          ageMs: 0,
        });
        break;
      }
      case 'leave': {
        this.leave(event.attempt);
        break;
      }
      case 'lag': {
        this.lag(event.attempt);
        break;
      }
      case 'handed': {
        const attempt = this.listening(event.attempt);
        if (attempt?.call.state !== 'answered') break;
        attempt.handedAt ??= this.now;
        (attempt.call.execution as Execution).shown = true;
        break;
      }
      case 'first-byte':
      case 'chunk':
      case 'finish':
      case 'fail': {
        this.engine(event);
        break;
      }
      case 'drain': {
        this.draining = true;
        break;
      }
      case 'stop': {
        this.stop();
        break;
      }
      case 'gauges': {
        const engine = this.fleet.machines.find(({ name }) => name === event.engine);
        if (engine !== undefined) this.fleet.look(engine, event.load, this.heldBy(engine.name), this.now);
        break;
      }
      case 'reconfigure': {
        throw new Error('the reference keeps the settings it was made with');
      }
      case 'time': {
        break;
      }
    }
  }

  private dues(): Due[] {
    const { deliveredAfterMs, replayDeliveredMs, bounds } = this.options;
    const dues: Due[] = this.fleet.silences().map(({ at, machine, execution }) => ({
      at,
      call: undefined,
      act: () => this.fleet.shows(machine, execution, this.now),
    }));
    for (const call of this.calls) {
      const add = (at: number, act: () => void): unknown => at < FOR_EVER && dues.push({ at, call, act });
      const attached = listeners(call);
      for (const attempt of attached) {
        if (attempt.handedAt !== undefined)
          add(attempt.handedAt + deliveredAfterMs, () => this.deliver(attempt));
      }
      if (call.state === 'idle') add(this.forgetAt(call), () => this.endCall(call, call.lastWord));
      const longest = (call.entry?.queuedAt ?? 0) + bounds.lineWaitMs;
      if (call.state === 'waiting' && attached.length > 0) {
        add(longest, () => this.outwait(call));
        const away = this.fleet.away(call) && this.engineFor(call) === undefined ? attached : [];
        for (const attempt of away) add(this.answerBy(attempt), () => this.endHopeless(attempt));
      }
      if (attached.length > 0) continue;
      if (call.state === 'waiting')
        add(Math.min(call.graceEnd, longest), () => this.expire(call, call.cutOnLeave ? 'left' : 'expired'));
      if (call.state === 'running') add(call.graceEnd, () => this.cancel(call));
      if (call.state !== 'answered') continue;
      if (call.deliveredAt === undefined) add(this.retainedUntil(call), () => this.forget(call));
      else
        add(this.keptPastDelivery(call) ? call.deliveredAt + replayDeliveredMs : 0, () => this.forget(call));
    }
    return dues;
  }

  /** Brings everything up to `until`, one thing at a time: what is due, then the bounds, then the engine's room. */
  private pass(until: number): void {
    for (;;) {
      if (!this.dues().some((due) => due.at <= this.now)) {
        this.boundLive();
        this.boundRetained();
        this.fill();
      }
      const [next, after] = this.dues().toSorted((a, b) => a.at - b.at);
      const nextAt = next?.at ?? FOR_EVER;
      const held = this.waiting().map((call) => call.entry?.heldUntil ?? 0);
      const rests = this.fleet.machines.map((machine) => machine.restsUntil);
      const heldAt = Math.min(FOR_EVER, ...[...held, ...rests].filter((at) => at > this.now));
      if (Math.min(nextAt, heldAt) > until) return;
      this.now = Math.max(this.now, Math.min(nextAt, heldAt));
      if (heldAt < nextAt) continue;
      this.tied ||= after?.at === nextAt && after.call !== next?.call && nextAt > 0;
      next?.act();
    }
  }

  private forgetAt(call: Call): number {
    return Math.max(call.giveUpAt, call.lastEventAt + REMEMBER_MS);
  }

  private retainedUntil(call: Call): number {
    if (!replayable(call) || call.unwanted || this.options.coalesce === 'off') return 0;
    const keyed = call.attempts.some((attempt) => attempt.facts.key !== undefined);
    const since = Math.max(call.execution?.finishedAt ?? 0, call.orphanedAt ?? 0);
    return since + (keyed ? this.options.retainKeyedMs : this.options.retainMs);
  }

  private keptPastDelivery(call: Call): boolean {
    return (
      this.options.coalesce !== 'off' &&
      replayable(call) &&
      call.facts.shareable &&
      !call.attempts.some((attempt) => attempt.facts.noStore)
    );
  }

  private arrive(event: Extract<ControlEvent, { kind: 'arrive' }>): void {
    const { facts } = event;
    const nobody = { id: event.attempt, facts, at: this.now, ordinal: 0, listening: true } as Attempt;
    if (this.draining) return this.refuse(nobody, 'refused_draining');
    if (this.classes.unknown(facts)) this.say({ kind: 'warn', warning: 'unknown_class', attempt: nobody.id });
    const known = {
      now: this.now,
      options: this.options,
      calls: this.calls,
      crowded: this.crowded,
      overlapping: this.overlapping,
    };
    const { decision, call: found, evidence, candidates, proof, beside } = recognise(known, nobody);
    if (decision === 'take_over' || decision === 'new_call_beside_live')
      this.watchNames(nobody, decision === 'take_over');
    if (found === undefined && this.fleet.serving(facts.model).length === 0)
      return this.refuse(nobody, 'refused_model');
    if (found === undefined && !this.makeRoom()) return this.refuse(nobody, 'refused_calls');
    const claimed = found === undefined && facts.shareable && this.claimed(facts);
    const retry = (facts.retryCount ?? 0) >= 1 || decision === 'retry_not_attached';
    const first = found === undefined && !retry && !claimed;
    const call = found ?? this.newCall(nobody, first || claimed);
    const attempt: Attempt = Object.assign(nobody, { call, ordinal: call.attempts.length + call.turnedAway });
    this.attempts.set(attempt.id, attempt);
    this.say({ kind: 'decided', attempt: attempt.id, call: call.id, decision, evidence, candidates });
    if (decision === 'take_over') this.displaceListener(call, attempt);
    const weak =
      found !== undefined && !proof && decision !== 'rejoin_spent' && decision !== 'join_identical';
    if (weak) this.leaveClaim(call);
    if (first) this.firsts.push({ at: this.now, tenant: this.purse(facts.tenant) });
    if (call.state !== 'idle' && listeners(call).length >= this.options.bounds.listeners) {
      call.turnedAway += 1;
      return this.refuse(attempt, 'refused_listeners');
    }
    call.attempts.push(attempt);
    attempt.asked = this.classes.enter(facts);
    call.lastEventAt = this.now;
    call.giveUpAt = Math.max(call.giveUpAt, giveUpOf(facts, this.now, this.options));
    if (call.state === 'idle') return this.admit(call, attempt, beside, found !== undefined || retry);
    this.attach(attempt, call.state === 'answered' ? 'replayed' : 'attached');
  }

  /** Room for one more call: the oldest idle one goes when too many are known, then an answer nobody reads. */
  private makeRoom(): boolean {
    if (this.calls.length < this.options.bounds.calls) return true;
    const idle = this.calls.filter((call) => call.state === 'idle');
    const kept = this.calls.filter((call) => call.state === 'answered' && listeners(call).length === 0);
    const [first, second] = idle.toSorted((a, b) => a.idleOrder - b.idleOrder);
    // An engine that goes lets several calls hear of it at one moment, in no order that matters.
    this.tied ||= first !== undefined && first.looseAt === second?.looseAt;
    const oldest = first ?? kept.toSorted((a, b) => worthLess(a, b))[0];
    if (oldest?.state === 'answered') this.forget(oldest);
    if (oldest !== undefined) this.endCall(oldest, oldest.lastWord);
    return oldest !== undefined;
  }

  private newCall(attempt: Attempt, entitled: boolean): Call {
    const call: Call = {
      id: this.makeId('call'),
      facts: attempt.facts,
      attempts: [],
      turnedAway: 0,
      state: 'idle',
      entitlement: entitled ? 1 : 0,
      executions: 0,
      entry: undefined,
      execution: undefined,
      orphanedAt: undefined,
      graceEnd: FOR_EVER,
      cutOnLeave: false,
      unwanted: false,
      deliveredAt: undefined,
      giveUpAt: 0,
      lastEventAt: this.now,
      lastEnded: undefined,
      idleOrder: 0,
      looseAt: this.now,
      lastWord: 'abandoned',
      ended: false,
      claimed: false,
      besideAt: undefined,
      refusedBy: [],
    };
    this.calls.push(call);
    const equals = this.calls.filter(
      (one) => one.facts.shareable && scopeOf(one.facts) === scopeOf(call.facts),
    );
    if (call.facts.shareable && equals.length > 1) this.crowded.add(scopeOf(call.facts));
    return call;
  }

  /** A name on two attempts at once is marked; from the second time on it is not proof against a live one. */
  private watchNames({ id, facts }: Attempt, takesOver: boolean): void {
    const others = this.calls.filter(
      (call) => call.facts.shareable && scopeOf(call.facts) === scopeOf(facts),
    );
    const live = others.filter((call) => listeners(call).length > 0);
    const bearers = live.flatMap((call) => listeners(call));
    const shared = bearers.flatMap((other) => sharedNames(facts, other.facts));
    if (!takesOver && shared.some((name) => this.overlapping.has(name))) {
      this.say({ kind: 'warn', warning: 'key_on_overlapping_attempts', attempt: id });
    }
    for (const name of shared) this.overlapping.add(name);
  }

  private displaceListener(call: Call, by: Attempt): void {
    for (const old of listeners(call)) {
      this.end(old, 'taken_over');
      this.say({ kind: 'warn', warning: 'listener_taken_over', attempt: by.id });
    }
  }

  private leaveClaim(call: Call): void {
    const { facts } = lastOf(call);
    this.crowded.add(scopeOf(facts));
    if (call.claimed || (facts.key === undefined && facts.retryCount === undefined)) return;
    call.claimed = true;
    const count = facts.retryCount === undefined ? undefined : facts.retryCount + 1;
    const { userAgent, key } = facts;
    this.claims.push({ scope: scopeOf(facts), key, count, userAgent, until: call.giveUpAt });
  }

  private claimed(facts: Attempt['facts']): boolean {
    const fits = this.claims.find(
      (claim) =>
        claim.scope === scopeOf(facts) &&
        claim.until >= this.now &&
        (claim.key === undefined
          ? claim.count === facts.retryCount && claim.userAgent === facts.userAgent
          : claim.key === facts.key),
    );
    if (fits !== undefined) this.claims = this.claims.filter((claim) => claim !== fits);
    return fits !== undefined;
  }

  private answerBy({ at, facts }: Attempt): number {
    return at + Math.max(0, deadlineOf(facts, this.options) - this.options.health.answerMarginMs);
  }

  /** No engine is there, and the client is about to leave. */
  private endHopeless(attempt: Attempt): void {
    const { call } = attempt;
    this.end(attempt, 'upstream_unavailable');
    if (listeners(call).length > 0) return;
    this.drop(call, 'unavailable');
    call.lastWord = 'failed';
    this.toIdle(call);
  }

  private outwait(call: Call): void {
    for (const attempt of listeners(call)) this.refuse(attempt, 'gave_up');
    this.drop(call, 'gave_up');
    this.endCall(call, 'gave_up');
  }

  private deliver(attempt: Attempt): void {
    const { call } = attempt;
    this.endAttempt(attempt, 'delivered');
    this.sayCallEnded(call, 'delivered');
    call.deliveredAt ??= this.now;
    attempt.delivered = true;
  }

  private leave(id: string): void {
    const attempt = this.listening(id);
    if (attempt === undefined) return;
    const seen = attempt.call.execution?.firstByte === true ? 'left_mid_answer' : 'left_before_first_byte';
    this.endAttempt(attempt, attempt.handedAt === undefined ? seen : 'left_unconfirmed');
    this.orphan(attempt);
  }

  private lag(id: string): void {
    const attempt = this.listening(id);
    if (attempt === undefined) return;
    this.end(attempt, 'slow_reader');
    this.orphan(attempt);
  }

  private orphan(attempt: Attempt): void {
    const { call, facts } = attempt;
    if (call.deliveredAt !== undefined || listeners(call).length > 0) return;
    call.orphanedAt = this.now;
    call.looseAt = this.now;
    call.lastEventAt = this.now;
    call.lastWord = 'abandoned';
    if (this.mergedLate(attempt)) return;
    const { grace, graceAfterFirstByteMs } = this.options;
    call.unwanted = facts.cancelOnLeave || !facts.shareable;
    call.cutOnLeave = call.unwanted || grace === 'now';
    const counts = call.execution?.stream !== true && facts.retryCount !== undefined;
    const unlikely = facts.key === undefined && !counts && !mannersOf(facts.userAgent).reconnectsStreams;
    if (call.cutOnLeave || !replayable(call)) call.graceEnd = this.now;
    else if (call.execution?.streamed === true && unlikely) call.graceEnd = this.now + graceAfterFirstByteMs;
    else call.graceEnd = this.now + (typeof grace === 'number' ? grace : FOR_EVER);
  }

  /** The attempt that came beside this call, just before its listener was seen to leave, was its retry. */
  private mergedLate(gone: Attempt): boolean {
    const { call } = gone;
    const onlyProof = shown(call) || call.facts.stateful || !replayable(call);
    if (onlyProof || !working(call)) return false;
    const late = this.calls.find(
      (other) =>
        other.state === 'waiting' &&
        other.besideAt !== undefined &&
        this.now - other.besideAt <= this.options.lateMergeMs &&
        scopeOf(other.facts) === scopeOf(call.facts) &&
        other !== call &&
        sameClient(lastOf(call), lastOf(other)) &&
        listeners(other).length > 0,
    );
    if (late === undefined) return false;
    this.drop(late, 'merged');
    const moving = listeners(late);
    this.endCall(late, 'merged');
    if (!moving.every((attempt) => provesThis(call, attempt.facts))) this.leaveClaim(call);
    call.giveUpAt = Math.max(call.giveUpAt, late.giveUpAt);
    for (const attempt of moving) this.move(attempt, call);
    return true;
  }

  private move(attempt: Attempt, call: Call): void {
    const decided = { attempt: attempt.id, call: call.id, decision: 'late_merge' } as const;
    this.say({ kind: 'decided', ...decided, evidence: evidenceOf(call, attempt.facts, true), candidates: 1 });
    attempt.call = call;
    attempt.ordinal = call.attempts.length + call.turnedAway;
    call.attempts.push(attempt);
    this.attach(attempt, call.state === 'answered' ? 'replayed' : 'attached');
  }

  private stop(): void {
    this.draining = true;
    for (const call of this.calls.slice()) {
      for (const attempt of listeners(call)) this.end(attempt, 'drained');
      if (call.state === 'waiting') this.drop(call, 'drained');
      if (call.state === 'running') this.cancel(call, 'cancelled_drained');
      if (call.state === 'answered') this.forget(call, 'drained');
      this.endCall(call, 'drained');
    }
  }
}
