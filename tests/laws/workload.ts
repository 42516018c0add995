/** A day in the life of the control, in virtual time: clients of several families, an engine, and what goes wrong. */

import { exponential } from '../../src/core/chance/distributions.js';
import { Random } from '../../src/core/chance/random.js';
import { Driver } from '../../src/core/control/driver.js';
import type { EngineLoad } from '../../src/core/control/engine-load.js';
import type { AttemptFacts, ControlEvent } from '../../src/core/control/event.js';
import { type ControlSettings, controlOptions } from '../../src/core/control/options.js';
import type { Verdict } from '../../src/core/control/verdict.js';
import { VirtualClock } from '../../src/core/time/virtual-clock.js';
import type { MakeSubject, Subject } from '../support/subject.js';
import { Client, KINDS, type Kind } from './workload-client.js';
import { Engine, type EngineOptions } from './workload-engine.js';

export interface Phase {
  readonly forMs: number;
  /** Calls a second. */
  readonly rate: number;
}

/** How the engines' gauges are read: about so often, so late, and what of them is shown; undefined: they cannot be. */
export interface GaugeReading {
  readonly everyMs: number;
  readonly lateMs: number;
  readonly shown: (truth: EngineLoad, atMs: number, random: Random) => EngineLoad | undefined;
}

export interface WorkloadOptions {
  readonly seed: number;
  readonly settings: ControlSettings;
  readonly phases: readonly Phase[];
  readonly engine: EngineOptions;
  /** How engines of a name differ from that. */
  readonly engines?: Readonly<Record<string, Partial<EngineOptions>>>;
  /** Absent: nobody reads them. */
  readonly gauges?: GaugeReading;
  /** Share of calls whose body is one of few, and how many those are. */
  readonly sharedBodies?: { readonly share: number; readonly bodies: number };
  readonly kinds?: readonly Kind[];
  readonly tenants?: readonly string[];
  /** Tenants whose calls are planned like all others, and never made. */
  readonly silent?: readonly string[];
  /** Other settings, each from a moment on. */
  readonly changes?: readonly { readonly atMs: number; readonly settings: ControlSettings }[];
  /** How the request of a tenant is worded; by default as the call says. */
  readonly worded?: (facts: AttemptFacts) => AttemptFacts;
}

/** What a run left behind. */
export interface Ran {
  readonly calls: number;
  readonly attempts: number;
  readonly executions: number;
  /** Of these, those that their engine did not take. */
  readonly refused: number;
  readonly endedAt: number;
}

/** The gauges are read on when no more calls are planned, milliseconds. */
const LOOKED_AT_AFTER_MS = 300_000;

/** The user's call behind an attempt. */
export const trueCallOf = (attempt: string): string => attempt.slice(0, attempt.lastIndexOf('.'));

export class Workload {
  readonly clock = new VirtualClock();
  readonly #options: WorkloadOptions;
  readonly #driver: Driver;
  readonly #engines = new Map<string, Engine>();
  readonly #ran = new Map<string, Engine>();
  readonly #clients = new Map<string, Client>();
  readonly #listening = new Map<string, string>();
  readonly #random: Random;
  #calls = 0;
  #attempts = 0;

  /** `wrap` stands between the workload and the control it makes, to watch or to tamper. */
  constructor(
    options: WorkloadOptions,
    make: MakeSubject,
    wrap: (subject: Subject) => Subject = (subject) => subject,
  ) {
    this.#options = options;
    this.#random = new Random(options.seed, 'workload');
    const subject = wrap(make(options.settings));
    this.#driver = new Driver(subject, this.clock, (verdict) => this.#carry(verdict));
    for (const { name } of controlOptions(options.settings).engines) {
      const own = { ...options.engine, ...options.engines?.[name] };
      this.#engines.set(name, new Engine(own, options.seed, this.clock, (event) => this.#send(event)));
    }
  }

  /** Plays every phase, lets every client settle, stops the control, and lets it forget. */
  run(): Ran {
    let at = 0;
    for (const phase of this.#options.phases) {
      this.#plan(at, phase);
      at += phase.forMs;
    }
    const { gauges } = this.#options;
    if (gauges !== undefined) {
      for (const name of this.#engines.keys()) this.#look(name, gauges, at + LOOKED_AT_AFTER_MS);
    }
    for (const { atMs, settings } of this.#options.changes ?? []) {
      this.clock.after(atMs, () => this.#reconfigure(settings));
    }
    this.clock.runUntil(at + 3_600_000);
    this.#send({ kind: 'stop' });
    const endedAt = this.clock.now();
    this.clock.runUntil(endedAt + 2 * 3_600_000);
    this.#send({ kind: 'time' });
    const sum = (of: (engine: Engine) => number): number =>
      [...this.#engines.values()].reduce((all, engine) => all + of(engine), 0);
    return {
      calls: this.#calls,
      attempts: this.#attempts,
      executions: sum(({ executions }) => executions),
      refused: sum(({ refused }) => refused),
      endedAt,
    };
  }

  #plan(from: number, { forMs, rate }: Phase): void {
    const kinds = this.#options.kinds ?? KINDS;
    const tenants = this.#options.tenants ?? ['acme', 'rival'];
    for (let at = from + exponential(this.#random, 1_000 / rate); at < from + forMs; ) {
      const kind = kinds[this.#random.integer(0, kinds.length - 1)] as Kind;
      const tenant = tenants[this.#random.integer(0, tenants.length - 1)] as string;
      const body = this.#body();
      for (let sample = 0; sample < kind.samples; sample += 1) this.#appear(at, kind, tenant, body);
      at += exponential(this.#random, 1_000 / rate) * kind.samples;
    }
  }

  #look(name: string, gauges: GaugeReading, untilMs: number): void {
    const random = new Random(this.#options.seed, `gauges of ${name}`);
    const again = (): void => {
      if (this.clock.now() >= untilMs) return;
      const truth = (this.#engines.get(name) as Engine).load;
      const load = gauges.shown(truth, this.clock.now(), random);
      this.clock.after(random.between(0, gauges.lateMs), () =>
        this.#send({ kind: 'gauges', engine: name, load }),
      );
      this.clock.after(gauges.everyMs * random.between(0.1, 2), again);
    };
    again();
  }

  /** Time first, so that what was due under the old settings is not taken for the doing of the new ones. */
  #reconfigure(settings: ControlSettings): void {
    this.#send({ kind: 'time' });
    this.#send({ kind: 'reconfigure', options: controlOptions(settings) });
  }

  #body(): string {
    const shared = this.#options.sharedBodies ?? { share: 0.3, bodies: 3 };
    const common = this.#random.uniform() < shared.share;
    const body = this.#random.integer(1, shared.bodies);
    return common ? `common-${body}` : `own-${this.#calls}`;
  }

  #appear(at: number, kind: Kind, tenant: string, body: string): void {
    const name = `${tenant}-${this.#calls++}`;
    const client = new Client({
      name,
      kind,
      tenant,
      body,
      clock: this.clock,
      random: new Random(this.#options.seed, name),
      send: (event) => this.#send(event),
      worded: this.#options.worded ?? ((facts) => facts),
    });
    this.#clients.set(name, client);
    if (this.#options.silent?.includes(tenant) !== true) this.clock.after(at, () => client.begin());
  }

  #send(event: ControlEvent): void {
    if (event.kind === 'arrive') this.#attempts += 1;
    this.#driver.send(event);
  }

  #carry(verdict: Verdict): void {
    if (verdict.kind === 'start') return this.#start(verdict);
    if (verdict.kind === 'cancel') return this.#ran.get(verdict.execution)?.cancel(verdict.execution);
    if (verdict.kind === 'attach') {
      this.#listening.set(verdict.attempt, verdict.call);
      const engine = this.#ran.get(verdict.execution ?? '') ?? this.#anyEngine();
      this.#client(verdict.attempt)?.listen(verdict.attempt, verdict.execution, engine);
    } else if (verdict.kind === 'attempt-ended') this.#listening.delete(verdict.attempt);
    else if (verdict.kind === 'refuse') this.#client(verdict.attempt)?.refused(verdict);
    else if (verdict.kind === 'end') this.#client(verdict.attempt)?.ended(verdict);
  }

  #anyEngine(): Engine {
    return [...this.#engines.values()][0] as Engine;
  }

  #start({ call, execution, engine: name, attempt, earlier }: Extract<Verdict, { kind: 'start' }>): void {
    const engine = this.#engines.get(name) as Engine;
    this.#ran.set(execution, engine);
    engine.start(execution, `${attempt} ${earlier}`);
    for (const [listener, listened] of this.#listening) {
      if (listened === call) this.#client(listener)?.listen(listener, execution, engine);
    }
  }

  #client(attempt: string): Client | undefined {
    return this.#clients.get(trueCallOf(attempt));
  }
}

/** The options of a run, checked, for the laws that watch it. */
export const lawOptions = (options: WorkloadOptions): ReturnType<typeof controlOptions> =>
  controlOptions(options.settings);
