/** Everything the control knows at one moment, and the pen it writes verdicts with. */

import { Agenda } from '../time/agenda.js';
import { Budget } from './budget.js';
import { type Attempt, type Call, type Entry, type Execution, isOrphan, isReplayable } from './call.js';
import { Claims } from './claims.js';
import { Classes } from './classes.js';
import { deadlineMs } from './deadline.js';
import { Departures } from './departure.js';
import { Fleet, type Group } from './fleet.js';
import { Guard } from './guard.js';
import { Ledger } from './ledger.js';
import { Line } from './line.js';
import { AnswerMemory } from './memory.js';
import { type ControlOptions, ownOptions } from './options.js';
import { Patience } from './patience.js';
import { Prospects } from './prospects.js';
import { RecentMap } from './recent.js';
import { Register } from './register.js';
import { RetryAfter } from './retry-after.js';
import { Returns } from './returns.js';
import type { Share } from './shares.js';
import type { Dues } from './tiers.js';
import type { Verdict } from './verdict.js';

export interface ControlParts {
  readonly options: ControlOptions;
  /** A fresh id each time, never repeated. */
  readonly makeId: (of: 'call' | 'execution') => string;
  /** Uniform in [0, 1): the jitter of Retry-After. */
  readonly uniform: () => number;
}

/** Whose weight, budget and bounds count for a credential that the engine has not accepted once. */
const UNVERIFIED = 'unverified';

export class State {
  /** One object for life, which the parts look at anew each time; see `reconfigure`. */
  readonly options: ControlOptions;
  readonly makeId: ControlParts['makeId'];
  readonly ledger = new Ledger();
  readonly register = new Register();
  readonly attempts = new Map<string, Attempt>();
  readonly executions = new Map<string, Execution>();
  /** When time alone brings something for a call. */
  readonly agenda = new Agenda<Call>();
  /** Waiting or running calls that nobody listens to. */
  readonly orphans = new Set<Call>();
  readonly line: Line;
  readonly fleet: Fleet;
  readonly budget: Budget;
  readonly guard: Guard;
  readonly memory: AnswerMemory;
  readonly departures: Departures;
  readonly patience: Patience;
  readonly returns: Returns<Call>;
  readonly prospects: Prospects;
  readonly retryAfter: RetryAfter;
  readonly claims: Claims;
  readonly classes: Classes;
  /** Key names that were seen on two overlapping attempts. */
  readonly overlapped: RecentMap<string, true>;
  /** Tenants whose credential the engine has accepted. */
  readonly verified: RecentMap<string, true>;
  now = 0;
  draining = false;
  stopped = false;
  #number = 0;
  #verdicts: Verdict[] = [];

  constructor({ options, makeId, uniform }: ControlParts) {
    this.options = ownOptions(options);
    this.makeId = makeId;
    this.line = new Line(this.options, {
      dues: (entry) => this.#dues(entry),
      prospect: (group) => this.prospects.of(group),
      shareOf: (entry) => this.#shareOf(entry),
      rankOf: ({ call }) => this.rankOf(call),
    });
    this.fleet = new Fleet(this.options);
    this.budget = new Budget(this.options);
    this.guard = new Guard(this.options);
    this.memory = new AnswerMemory(this.options.bounds);
    this.patience = new Patience(this.options);
    this.returns = new Returns(this.options);
    this.prospects = new Prospects(this.options);
    this.departures = new Departures(this.options);
    this.retryAfter = new RetryAfter(this.options, uniform);
    this.claims = new Claims(options.bounds.learnedKeys);
    this.classes = new Classes(this.options);
    this.overlapped = new RecentMap(options.bounds.learnedKeys);
    this.verified = new RecentMap(options.bounds.tenants);
  }

  /** The rank of the call's class, 0 the highest. */
  rankOf({ tenant, askedRank, last }: Call): number {
    return this.classes.allowed(askedRank, last.maxClass, this.verified.has(tenant));
  }

  say(verdict: Verdict): void {
    this.#verdicts.push(verdict);
  }

  /** Hands over what was said since the last time. */
  takeVerdicts(): readonly Verdict[] {
    if (this.#verdicts.length === 0) return NONE;
    const said = this.#verdicts;
    this.#verdicts = [];
    return said;
  }

  nextNumber(): number {
    this.#number += 1;
    return this.#number;
  }

  /** Whom a tenant's budget and bounds are counted under. */
  payer(tenant: string): string {
    return this.verified.get(tenant) === undefined ? UNVERIFIED : tenant;
  }

  /** The call has changed: puts it on the agenda for the next moment that matters to it, and among the orphans or not. */
  plan(call: Call): void {
    this.agenda.set(call, this.#nextMoment(call));
    if (call.state !== 'answered' && isOrphan(call)) this.orphans.add(call);
    else this.orphans.delete(call);
  }

  /** The call is known no more. */
  unplan(call: Call): void {
    this.agenda.delete(call);
    this.orphans.delete(call);
  }

  #nextMoment(call: Call): number {
    const { options } = this;
    let at = Number.POSITIVE_INFINITY;
    for (const { handedAt } of call.listeners) {
      if (handedAt !== undefined) at = Math.min(at, handedAt + options.deliveredAfterMs);
    }
    const heard = call.listeners.size > 0;
    if (call.state === 'idle') return call.forgetAt;
    if (call.state === 'waiting') return Math.min(at, this.#entryMoment(call, heard));
    if (heard || call.state === 'gone') return at;
    return call.state === 'running' ? call.graceUntil : this.answerUntil(call);
  }

  #entryMoment(call: Call, heard: boolean): number {
    const entry = call.entry;
    if (entry === undefined) return Number.POSITIVE_INFINITY;
    const end = entry.queuedAt + this.options.bounds.lineWaitMs;
    const leaves = heard
      ? Math.min(end, Math.max(this.now, this.hopelessFrom(call)), outlastsFrom(call, this.now))
      : Math.min(end, call.graceUntil);
    return entry.notBefore > this.now ? Math.min(leaves, entry.notBefore) : leaves;
  }

  /** When a listener of a waiting call has to hear that no engine is there; Infinity while one is. */
  hopelessFrom({ entry, listeners }: Call): number {
    let at = Number.POSITIVE_INFINITY;
    if (entry === undefined || !this.fleet.isAway(entry.group, this.now)) return at;
    for (const attempt of listeners) at = Math.min(at, this.answerBy(attempt));
    return at;
  }

  /** The last moment at which an answer still reaches the attempt's client before it leaves. */
  answerBy({ facts, arrivedAt }: Attempt): number {
    return arrivedAt + Math.max(0, deadlineMs(facts, this.options) - this.options.health.answerMarginMs);
  }

  /** Whoever waits is refused at the bound of the line, however much longer its client would. */
  #dues({ call, queuedAt, group }: Entry): Dues {
    const soonerMs = this.prospects.soonerMs(call.last);
    const lastEndsAt = call.lastEndsAt + soonerMs + (call.mayGoOn ? this.#spareMs(group) : 0);
    return {
      deadlineAt: call.deadlineAt + soonerMs,
      giveUpAt: Math.min(lastEndsAt, queuedAt + this.options.bounds.lineWaitMs),
      late: call.tardy,
      tenant: this.payer(call.tenant),
      weight: 1,
    };
  }

  /** What the margin keeps free for ends that are known, and where more may come need not be: beyond one execution. */
  #spareMs(group: Group): number {
    const { longestMs, margin } = this.prospects.of(group);
    return (margin - 1) * longestMs;
  }

  /** Credentials that the engine has not accepted share one weight, whatever they claim. */
  #shareOf({ call }: Entry): Share {
    const tenant = this.payer(call.tenant);
    return { tenant, weight: tenant === UNVERIFIED ? 1 : (call.last.weight ?? 1) };
  }

  /** How long an answer that nobody reads is kept. */
  answerUntil(call: Call): number {
    if (!isReplayable(call)) return this.now;
    if (call.deliveredAt === undefined) return call.retainUntil;
    return call.noStore || !call.last.shareable
      ? this.now
      : call.deliveredAt + this.options.replayDeliveredMs;
  }
}

/** When the assumption about a waiting client's deadline is seen to be wrong; Infinity when there is none. */
function outlastsFrom({ deadlineAt, basis, tardy }: Call, now: number): number {
  return tardy || basis !== 'assumed' || deadlineAt <= now ? Number.POSITIVE_INFINITY : deadlineAt;
}

const NONE: readonly Verdict[] = [];
