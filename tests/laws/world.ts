/**
 * A small world in virtual time for the laws to watch: clients of several kinds that give up and come back, and an
 * engine that serves so many a second, stumbles, and is read by some too slowly. The world knows every user's call.
 */

import { exponential } from '../../src/core/chance/distributions.js';
import type { Random } from '../../src/core/chance/random.js';
import { Driver } from '../../src/core/control/driver.js';
import type { AttemptFacts } from '../../src/core/control/event.js';
import { mannersOf } from '../../src/core/control/family.js';
import type { Verdict } from '../../src/core/control/verdict.js';
import type { Failure } from '../../src/core/control/words.js';
import { RANK } from '../../src/core/time/clock.js';
import { VirtualClock } from '../../src/core/time/virtual-clock.js';
import type { Subject } from '../support/subject.js';

/** One kind of client: what it says of itself, how long it waits, how often it asks. */
export interface Kind {
  readonly userAgent: string;
  readonly says: 'nothing' | 'count' | 'key';
  readonly deadlineMs: number;
  readonly retries: number;
  /** Leaves for good after its first wait. */
  readonly leavesForGood?: boolean;
  readonly stream?: boolean;
}

export const KINDS: readonly Kind[] = [
  { userAgent: 'OpenAI/Python 2', says: 'count', deadlineMs: 4_000, retries: 3 },
  { userAgent: 'ai/7', says: 'nothing', deadlineMs: 6_000, retries: 2, stream: true },
  { userAgent: 'own code', says: 'key', deadlineMs: 5_000, retries: 4, stream: true },
  { userAgent: 'langchainjs-openai/1', says: 'nothing', deadlineMs: 3_000, retries: 6 },
  {
    userAgent: 'an editor',
    says: 'nothing',
    deadlineMs: 1_500,
    retries: 0,
    leavesForGood: true,
    stream: true,
  },
];

export interface Traffic {
  readonly kinds: readonly Kind[];
  readonly tenants: readonly string[];
  /** Calls a second, stage by stage. */
  readonly stages: readonly { readonly seconds: number; readonly rate: number }[];
  /** Share of calls whose body equals another call's. */
  readonly equals: number;
  /** Share of executions that fail, of readers that are too slow, of answers larger than the replay bound. */
  readonly failing: number;
  /** How they fail; in every way when absent. */
  readonly failures?: readonly Failure[];
  readonly slow: number;
  readonly large: number;
  /** The engine: executions at once, and milliseconds each. */
  readonly places: number;
  readonly serviceMs: number;
}

interface Caller {
  readonly name: string;
  readonly kind: Kind;
  readonly tenant: string;
  readonly fingerprint: string;
  attempts: number;
}

interface Sent {
  readonly caller: Caller;
  /** Stops its timer. */
  settle: () => void;
  call: string | undefined;
  /** Its client has seen the beginning of a stream, and no SDK asks again for one without a key. */
  shown: boolean;
}

interface Work {
  readonly call: string;
  cancelled: boolean;
  begun: boolean;
}

const FAILURES: readonly Failure[] = [
  'refused',
  'unavailable',
  'reset',
  'truncated',
  'status_5xx',
  'error_event',
];
const CHUNK_BYTES = 40;
const LARGE_CHUNK_BYTES = 400;
const READ_MS = 20;
const GAP_MS = [200, 2_500] as const;

export interface Tally {
  calls: number;
  attempts: number;
  delivered: number;
  events: number;
  /** When a call arrived, and how long until its first execution started. */
  readonly waits: { readonly at: number; readonly ms: number }[];
}

export class World {
  readonly clock = new VirtualClock();
  readonly tally: Tally = { calls: 0, attempts: 0, delivered: 0, events: 0, waits: [] };
  readonly #traffic: Traffic;
  readonly #random: Random;
  readonly #driver: Driver;
  readonly #sent = new Map<string, Sent>();
  readonly #listeners = new Map<string, Set<string>>();
  readonly #work = new Map<string, Work>();
  readonly #answered = new Set<string>();
  readonly #queue: (() => void)[] = [];
  readonly #arrivedAt = new Map<string, number>();
  #busy = 0;

  /** `subject` is the control, or a witness of it. */
  constructor(traffic: Traffic, random: Random, subject: Subject) {
    this.#traffic = traffic;
    this.#random = random;
    const counted: Subject = {
      step: (now, event) => {
        this.tally.events += 1;
        return subject.step(now, event);
      },
      wakeAt: () => subject.wakeAt(),
    };
    this.#driver = new Driver(counted, this.clock, (verdict) => this.#carry(verdict));
  }

  /** The user's call behind an attempt. */
  static trueCall(attempt: string): string {
    return attempt.slice(0, attempt.lastIndexOf('.'));
  }

  /** Plays everything to its end, then stops the control. */
  run(): void {
    this.#plan();
    while (this.clock.step());
    this.#driver.send({ kind: 'stop' });
  }

  #plan(): void {
    const { stages, kinds, tenants, equals } = this.#traffic;
    const random = this.#random.stream('plan');
    let startMs = 0;
    for (const { seconds, rate } of stages) {
      const endMs = startMs + seconds * 1_000;
      for (let at = startMs + exponential(random, 1_000 / rate); at < endMs; ) {
        const number = this.tally.calls++;
        const kind = kinds[random.integer(0, kinds.length - 1)] as Kind;
        const tenant = tenants[random.integer(0, tenants.length - 1)] as string;
        const fingerprint = random.uniform() < equals ? 'equal' : `body-${number}`;
        const caller: Caller = { name: `call-${number}`, kind, tenant, fingerprint, attempts: 0 };
        this.clock.after(Math.round(at), () => this.#ask(caller));
        at += exponential(random, 1_000 / rate);
      }
      startMs = endMs;
    }
  }

  #ask(caller: Caller): void {
    const { kind, name } = caller;
    const attempt = `${name}.${caller.attempts}`;
    if (caller.attempts === 0) this.#arrivedAt.set(name, this.clock.now());
    caller.attempts += 1;
    this.tally.attempts += 1;
    const cancel = this.clock.after(kind.deadlineMs, () => this.#giveUpOn(attempt), RANK.deadline);
    this.#sent.set(attempt, { caller, settle: cancel, call: undefined, shown: false });
    this.#driver.send({ kind: 'arrive', attempt, facts: this.#facts(caller) });
  }

  #facts({ kind, tenant, fingerprint, name, attempts }: Caller): AttemptFacts {
    return {
      tenant,
      route: '/v1/chat/completions',
      fingerprint,
      model: 'm',
      stream: kind.stream ?? false,
      bodyBytes: 10,
      key: kind.says === 'key' ? `key-${name}` : undefined,
      retryCount: kind.says === 'count' ? attempts - 1 : undefined,
      userAgent: kind.userAgent,
      address: kind.userAgent,
      shareable: true,
      stateful: false,
      noStore: false,
      cancelOnLeave: false,
    };
  }

  #giveUpOn(attempt: string): void {
    const sent = this.#sent.get(attempt);
    if (sent === undefined) return;
    this.#driver.send({ kind: 'leave', attempt });
    if (!sent.shown) this.#again(sent.caller);
  }

  #again(caller: Caller): void {
    const { kind } = caller;
    if (kind.leavesForGood === true || caller.attempts > kind.retries) return;
    // Whoever is back sooner than its family ever is, is another client.
    const leastMs = Math.max(GAP_MS[0], mannersOf(kind.userAgent).shortestGapMs);
    this.clock.after(
      Math.round(this.#random.between(leastMs, GAP_MS[1])),
      () => this.#ask(caller),
      RANK.retry,
    );
  }

  #carry(verdict: Verdict): void {
    if (verdict.kind === 'start') this.#start(verdict);
    else if (verdict.kind === 'attach') this.#attach(verdict.attempt, verdict.call, verdict.execution);
    else if (verdict.kind === 'cancel') this.#cancel(verdict.execution);
    else if (verdict.kind === 'refuse' && verdict.mayRetry) this.#told(verdict.attempt);
    else if (verdict.kind === 'end') this.#told(verdict.attempt);
    else if (verdict.kind === 'forget') this.#answered.delete(verdict.execution);
    else if (verdict.kind === 'attempt-ended') this.#ended(verdict.attempt, verdict.ending === 'delivered');
  }

  /** The client hears of a refusal or a broken answer, and asks again. */
  #told(attempt: string): void {
    const sent = this.#sent.get(attempt);
    if (sent !== undefined && !sent.shown) this.clock.after(0, () => this.#again(sent.caller), RANK.retry);
  }

  #ended(attempt: string, delivered: boolean): void {
    const sent = this.#sent.get(attempt);
    sent?.settle();
    this.#sent.delete(attempt);
    if (sent?.call !== undefined) this.#listeners.get(sent.call)?.delete(attempt);
    if (delivered) this.tally.delivered += 1;
  }

  #attach(attempt: string, call: string, execution: string | undefined): void {
    const sent = this.#sent.get(attempt);
    if (sent === undefined) return;
    if (sent.call !== undefined) this.#listeners.get(sent.call)?.delete(attempt);
    sent.call = call;
    const listeners = this.#listeners.get(call) ?? new Set();
    this.#listeners.set(call, listeners.add(attempt));
    if (execution === undefined) return;
    if (this.#work.get(execution)?.begun === true) this.#show(attempt);
    if (this.#answered.has(execution)) this.#read(attempt);
  }

  #start({ execution, call, attempt }: Extract<Verdict, { kind: 'start' }>): void {
    const name = World.trueCall(attempt);
    const arrived = this.#arrivedAt.get(name);
    if (arrived !== undefined) this.tally.waits.push({ at: arrived, ms: this.clock.now() - arrived });
    this.#arrivedAt.delete(name);
    const work: Work = { call, cancelled: false, begun: false };
    this.#work.set(execution, work);
    this.#queue.push(() => this.#serve(execution, work));
    this.#next();
  }

  #next(): void {
    while (this.#busy < this.#traffic.places) {
      const serve = this.#queue.shift();
      if (serve === undefined) return;
      serve();
    }
  }

  #serve(execution: string, work: Work): void {
    if (work.cancelled) return;
    this.#busy += 1;
    const { serviceMs, failing, large } = this.#traffic;
    const fails = this.#random.uniform() < failing;
    const bytes = this.#random.uniform() < large ? LARGE_CHUNK_BYTES : CHUNK_BYTES;
    const { failures = FAILURES } = this.#traffic;
    const failure = failures[this.#random.integer(0, failures.length - 1)] as Failure;
    const begins = !fails || failure === 'truncated' || failure === 'error_event';
    this.clock.after(serviceMs / 2, () => {
      if (work.cancelled || !begins) return;
      work.begun = true;
      for (const attempt of this.#listeners.get(work.call) ?? []) this.#show(attempt);
      this.#driver.send({ kind: 'first-byte', execution });
      this.#driver.send({ kind: 'chunk', execution, bytes });
    });
    this.clock.after(serviceMs, () => this.#done(execution, work, fails ? failure : undefined), RANK.answer);
  }

  #done(execution: string, work: Work, failure: Failure | undefined): void {
    this.#busy -= 1;
    if (!work.cancelled) {
      this.#work.delete(execution);
      if (failure !== undefined) this.#driver.send({ kind: 'fail', execution, failure, status: 500 });
      else {
        this.#answered.add(execution);
        this.#driver.send({ kind: 'finish', execution });
        for (const attempt of this.#listeners.get(work.call) ?? []) this.#read(attempt);
      }
    }
    this.#next();
  }

  #cancel(execution: string): void {
    const work = this.#work.get(execution);
    if (work !== undefined) work.cancelled = true;
    this.#work.delete(execution);
  }

  #show(attempt: string): void {
    const sent = this.#sent.get(attempt);
    if (sent !== undefined) sent.shown = sent.caller.kind.stream === true && sent.caller.kind.says !== 'key';
  }

  /** The client takes the whole answer, or turns out to be too slow for it. */
  #read(attempt: string): void {
    const tooSlow = this.#random.uniform() < this.#traffic.slow;
    this.#show(attempt);
    this.clock.after(READ_MS, () => {
      const sent = this.#sent.get(attempt);
      if (sent === undefined) return;
      if (tooSlow) return this.#driver.send({ kind: 'lag', attempt });
      sent.settle();
      this.#driver.send({ kind: 'handed', attempt });
    });
  }
}
