/** The reference model's way in: budget, line and room, each counted anew whenever it is asked. */

import type { Outcome, RefusalReason } from '../../src/core/control/words.js';
import { ReferenceBook } from './reference-book.js';
import { ReferenceClasses } from './reference-classes.js';
import type { ReferenceMachine } from './reference-fleet.js';
import { type Ready, ReferenceShares } from './reference-shares.js';
import { type Attempt, type Call, type Execution, FOR_EVER, lastOf, listeners } from './reference-words.js';

/** An equal of a live attempt younger than this is a sample of its own, and is not held back. */
const HOLD_FROM_MS = 500;
/** Whose the calls of all are that no engine has accepted yet. */
const UNVERIFIED = 'unverified';

export class ReferenceLine extends ReferenceBook {
  protected readonly classes = new ReferenceClasses(this.options);
  protected readonly verified = new Set<string>();
  protected readonly firsts: { at: number; tenant: string }[] = [];
  protected readonly grants: { at: number; tenant: string }[] = [];
  /** Executions asked for, and whether they were let in. */
  protected readonly asked: { at: number; admitted: boolean }[] = [];
  private readonly shares = new ReferenceShares();

  protected purse(tenant: string): string {
    return this.verified.has(tenant) ? tenant : UNVERIFIED;
  }

  protected allowed(tenant: string | undefined): boolean {
    const { budget, capacity } = this.options;
    const inWindow = (counted: { at: number; tenant: string }[]): number =>
      counted.filter(
        (one) => one.at > this.now - budget.windowMs && (tenant === undefined || one.tenant === tenant),
      ).length;
    const floor = capacity === undefined ? budget.floor : 0.02 * capacity * (budget.windowMs / 1_000);
    return inWindow(this.grants) + 1 <= Math.max(budget.ratio * inWindow(this.firsts), floor);
  }

  /** Retries alone bring more executions than the engines can make. */
  protected guarded(call: Call): boolean {
    const { guard, capacity, budget } = this.options;
    if (!guard || capacity === undefined || (call.executions === 0 && call.entitlement > 0)) return false;
    const recent = <T extends { at: number }>(all: T[]): T[] =>
      all.filter((one) => one.at > this.now - budget.windowMs);
    const asked = recent(this.asked);
    const most = (capacity * budget.windowMs) / 1_000;
    if (asked.length <= 1.05 * recent(this.firsts).length || asked.length <= most) return false;
    return asked.filter((one) => one.admitted).length + 1 > 0.9 * most;
  }

  protected admit(call: Call, attempt: Attempt, beside: readonly Call[], retry: boolean): void {
    const { mode } = this.options.budget;
    call.refusedBy = [];
    const live = beside.flatMap(listeners);
    const settled = live.every((one) => this.now - one.at > HOLD_FROM_MS);
    const late = settled && live.some((one) => one.handedAt === undefined);
    const heldUntil = late ? this.now + this.options.lateMergeHoldMs : 0;
    const hold = heldUntil > this.now;
    const free = (one: Call): boolean => this.engineFor(one) !== undefined;
    const atOnce = free(call) && !hold && !this.eligible().some(free);
    if (retry && this.guarded(call)) {
      this.asked.push({ at: this.now, admitted: false });
      return this.refuse(attempt, 'refused_guard');
    }
    const charged = mode === 'entitlement' ? call.entitlement < 1 : mode === 'strict' && retry;
    if (charged) {
      const tenant = this.purse(attempt.facts.tenant);
      const uncharged = mode === 'entitlement' && atOnce;
      if (!uncharged && !(this.allowed(tenant) && this.allowed(undefined))) {
        this.asked.push({ at: this.now, admitted: false });
        return this.refuse(attempt, 'refused_budget');
      }
      this.grants.push({ at: this.now, tenant });
      if (call.entitlement < 1) call.entitlement += 1;
    }
    if (beside.length > 0) call.besideAt = this.now;
    if (atOnce) {
      this.asked.push({ at: this.now, admitted: true });
      this.start(call, attempt, 0);
      return this.attach(attempt, 'started');
    }
    const full = this.lineFull(attempt.facts.bodyBytes);
    if (full !== undefined) return this.refuse(attempt, full);
    this.asked.push({ at: this.now, admitted: true });
    call.state = 'waiting';
    call.entry = { queuedAt: this.now, attempt, heldUntil };
    this.lineChanged();
    this.say({ kind: 'queue', call: call.id, attempt: attempt.id, facts: attempt.facts });
    this.attach(attempt, 'started');
  }

  /** Why the line cannot take the body, after displacing what may be displaced. */
  protected lineFull(bodyBytes: number): RefusalReason | undefined {
    const { lineEntries, lineBytes } = this.options.bounds;
    for (;;) {
      const waiting = this.waiting();
      const bytes = waiting.reduce(
        (sum, call) => sum + (call.entry?.attempt.facts.bodyBytes ?? 0),
        bodyBytes,
      );
      if (waiting.length < lineEntries && bytes <= lineBytes) return undefined;
      const loose = waiting.filter((call) => listeners(call).length === 0);
      const loosened = loose.reduce((sum, call) => sum - (call.entry?.attempt.facts.bodyBytes ?? 0), bytes);
      const hopeless = waiting.length - loose.length >= lineEntries || loosened > lineBytes;
      if (this.options.order !== 'newest-first' || loose[0] === undefined || hopeless) {
        return waiting.length < lineEntries ? 'refused_line_bytes' : 'refused_line_full';
      }
      this.expire(loose[0], 'displaced');
    }
  }

  /** Waiting calls, the oldest call first. */
  protected waiting(): Call[] {
    return this.calls.filter((call) => call.state === 'waiting');
  }

  protected eligible(): Call[] {
    return this.waiting().filter((call) => (call.entry?.heldUntil ?? 0) <= this.now);
  }

  protected engineFor(call: Call): ReferenceMachine | undefined {
    return this.fleet.pick(call, (name) => this.heldBy(name), this.now);
  }

  protected heldBy(engine: string): Execution[] {
    return this.calls
      .filter((one) => one.state === 'running')
      .flatMap(({ execution }) => (execution?.engine === engine ? [execution] : []));
  }

  /** Back in line, when there is an engine left for it, and a place. */
  protected returned(call: Call, { attempt }: Execution): boolean {
    if (this.fleet.left(call).length === 0) return false;
    const { state } = call;
    call.state = 'idle';
    const full = this.lineFull(attempt.facts.bodyBytes);
    call.state = state;
    return full === undefined;
  }

  protected override lineChanged(): void {
    this.shares.settle(
      this.eligible()
        .filter(({ entry }) => entry !== undefined)
        .map((call) => this.turnOf(call)),
    );
  }

  private turnOf(call: Call): Ready {
    const engines = this.fleet.left(call).map(({ name }) => name);
    return { engines: engines.join(' '), tenant: this.purse(call.facts.tenant) };
  }

  /** Whether it is the turn of the call's tenant, among those that wait for the same engines. */
  private hasTurn(call: Call): boolean {
    const { engines, tenant } = this.turnOf(call);
    return this.options.shares === 'off' || this.shares.next(engines) === tenant;
  }

  protected fill(): void {
    for (;;) {
      this.lineChanged();
      const open = this.eligible().filter((call) => this.engineFor(call) !== undefined && this.hasTurn(call));
      const rankOf = (call: Call): number => this.classes.rankOf(call, this.verified.has(call.facts.tenant));
      const highest = Math.min(...open.map(rankOf));
      const eligible = open.filter((call) => rankOf(call) === highest);
      const next = this.options.order === 'newest-first' ? eligible.at(-1) : eligible[0];
      if (next?.entry === undefined) return;
      const turn = this.turnOf(next);
      this.shares.served(turn, turn.tenant === UNVERIFIED ? 1 : (lastOf(next).facts.weight ?? 1));
      this.start(next, next.entry.attempt, this.now - next.entry.queuedAt);
    }
  }

  protected start(call: Call, attempt: Attempt, waitedMs: number): void {
    const engine = this.engineFor(call) as ReferenceMachine;
    const execution: Execution = {
      id: this.makeId('execution'),
      engine: engine.name,
      attempt,
      startedAt: this.now,
      order: this.started++,
      firstByte: false,
      stream: call.facts.stream,
      streamed: false,
      shown: false,
      bytes: 0,
      sealed: false,
      finishedAt: undefined,
      usage: undefined,
    };
    const earlier = call.executions;
    Object.assign(call, { state: 'running', entry: undefined, execution, executions: earlier + 1 });
    this.fleet.begin(engine, call, execution.id, this.heldBy(engine.name).length, this.now);
    call.besideAt = undefined;
    call.entitlement = Math.max(0, call.entitlement - 1);
    this.say({
      kind: 'start',
      call: call.id,
      execution: execution.id,
      engine: engine.name,
      attempt: attempt.id,
      waitedMs,
      earlier,
    });
  }

  protected attach(attempt: Attempt, outcome: Outcome): void {
    const { call } = attempt;
    attempt.outcome = outcome;
    call.orphanedAt = undefined;
    call.graceEnd = FOR_EVER;
    if (call.execution?.firstByte === true && call.execution.stream) call.execution.streamed = true;
    const execution = call.execution?.id;
    this.say({
      kind: 'attach',
      attempt: attempt.id,
      call: call.id,
      execution,
      outcome,
      ordinal: attempt.ordinal,
    });
  }
}
