/**
 * What clients that leave on purpose cost an engine at low load, with each rule for how long their work is kept.
 * One seed meets every rule with the same calls. Usage: npm run bench:leaving [-- --json]
 */

import { exponential, lognormal } from '../src/core/chance/distributions.js';
import { Random } from '../src/core/chance/random.js';
import { Control } from '../src/core/control/control.js';
import { Driver } from '../src/core/control/driver.js';
import type { AttemptFacts } from '../src/core/control/event.js';
import { type ControlSettings, controlOptions } from '../src/core/control/options.js';
import type { Verdict } from '../src/core/control/verdict.js';
import { Engine } from '../src/core/engine/engine.js';
import type { Execution } from '../src/core/engine/execution.js';
import { PROFILES } from '../src/core/engine/profiles.js';
import { Prompt, SegmentTokens } from '../src/core/engine/tokens.js';
import { VirtualClock } from '../src/core/time/virtual-clock.js';

const CALLS = 3_000;
/** A third of what the engine could serve. */
const RATE_PER_SECOND = 0.9;
const SEEDS = [1, 2, 3];

/** `before`: leaves early in the wait for the first byte; `half`: half-way through its stream. */
type Habit = 'before' | 'half' | 'stays';

interface Planned {
  readonly atMs: number;
  readonly promptTokens: number;
  readonly answerTokens: number;
  readonly habit: Habit;
}

interface Rule {
  readonly name: string;
  readonly control: ControlSettings;
}

const RULES: readonly Rule[] = [
  { name: 'kept for ever', control: { grace: 'never', graceAfterFirstByteMs: 3_600_000, learnGrace: false } },
  { name: 'kept 60 s', control: { grace: 60_000, graceAfterFirstByteMs: 60_000, learnGrace: false } },
  { name: '60 s, 1 s after the first byte', control: { learnGrace: false } },
  { name: 'the same, learned (default)', control: {} },
  { name: 'cancelled at once', control: { grace: 'now' } },
];

function plan(seed: number): readonly Planned[] {
  const random = new Random(seed, 'leaving');
  let atMs = 0;
  return Array.from({ length: CALLS }, () => {
    atMs += exponential(random, 1_000 / RATE_PER_SECOND);
    const promptTokens = 2_000 + random.integer(0, 4_000);
    const answerTokens = Math.max(8, Math.round(lognormal(random, 300, 0.5)));
    const drawn = random.uniform();
    const habit = drawn < 0.4 ? 'before' : drawn < 0.8 ? 'half' : 'stays';
    return { atMs, promptTokens, answerTokens, habit };
  });
}

interface Result {
  readonly rule: string;
  readonly computedTokens: number;
  /** Computed for executions whose answer reached nobody. */
  readonly wastedTokens: number;
  /** Of these, computed after the client had left: what keeping the work cost. */
  readonly keptTokens: number;
  readonly delivered: number;
  readonly cancelled: number;
}

/** One client, the control and the engine on one virtual clock. */
class Scene {
  readonly clock = new VirtualClock();
  readonly #calls: readonly Planned[];
  readonly #engine: Engine;
  readonly #driver: Driver;
  readonly #control: Control;
  readonly #running = new Map<string, Execution>();
  /** Computed tokens of an execution when its client left it. */
  readonly #whenLeft = new Map<string, number>();
  readonly #executionOf = new Map<string, string>();
  readonly #left = new Set<string>();
  #computed = 0;
  #wasted = 0;
  #kept = 0;

  constructor(calls: readonly Planned[], settings: ControlSettings) {
    this.#calls = calls;
    const profile = PROFILES[0];
    if (profile === undefined) throw new RangeError('no engine profile');
    this.#engine = new Engine({ clock: this.clock, cost: profile.cost });
    const random = new Random(0, 'jitter');
    let ids = 0;
    this.#control = new Control({
      options: controlOptions(settings),
      makeId: (of) => `${of}-${(ids += 1)}`,
      uniform: () => random.uniform(),
    });
    this.#driver = new Driver(this.#control, this.clock, (verdict) => this.#carry(verdict));
    calls.forEach((call, index) => this.clock.after(call.atMs, () => this.#arrive(call, String(index))));
  }

  run(rule: string): Result {
    while (this.clock.step());
    return {
      rule,
      computedTokens: this.#computed,
      wastedTokens: this.#wasted,
      keptTokens: this.#kept,
      delivered: this.#control.ledger.attempts.ended.delivered,
      cancelled: this.#engine.counters.truth.executionsAborted,
    };
  }

  #arrive(call: Planned, attempt: string): void {
    this.#driver.send({ kind: 'arrive', attempt, facts: facts(attempt) });
    if (call.habit === 'before') this.clock.after(60, () => this.#leave(attempt));
  }

  #leave(attempt: string): void {
    const id = this.#executionOf.get(attempt) ?? '';
    const execution = this.#running.get(id);
    if (execution !== undefined) this.#whenLeft.set(id, computedBy(execution));
    this.#left.add(attempt);
    this.#driver.send({ kind: 'leave', attempt });
  }

  #carry(verdict: Verdict): void {
    if (verdict.kind === 'start') this.#start(verdict.execution, verdict.attempt);
    else if (verdict.kind === 'cancel') {
      const execution = this.#running.get(verdict.execution);
      if (execution === undefined) return;
      this.#engine.abort(execution);
      this.#settle(execution, true);
    }
  }

  #start(id: string, attempt: string): void {
    const call = this.#calls[Number(attempt)];
    if (call === undefined) return;
    this.#executionOf.set(attempt, id);
    const tokens = new SegmentTokens([[Number(attempt) + 1, call.promptTokens]]);
    const request = { id, prompt: new Prompt(tokens), maxTokens: call.answerTokens };
    const listen = (execution: Execution, ended: string | undefined): void => {
      if (execution.outputTokens === 1) this.#driver.send({ kind: 'first-byte', execution: id });
      this.#driver.send({ kind: 'chunk', execution: id, bytes: 200 });
      const half = Math.ceil(call.answerTokens / 2);
      if (call.habit === 'half' && execution.outputTokens === half) this.#leave(attempt);
      if (ended === undefined) return;
      this.#settle(execution, this.#left.has(attempt));
      this.#driver.send({ kind: 'finish', execution: id });
      this.#driver.send({ kind: 'handed', attempt });
    };
    this.#running.set(id, this.#engine.add(request, listen));
  }

  #settle(execution: Execution, reachedNobody: boolean): void {
    const tokens = computedBy(execution);
    this.#computed += tokens;
    if (reachedNobody) {
      this.#wasted += tokens;
      this.#kept += tokens - (this.#whenLeft.get(execution.id) ?? 0);
    }
    this.#running.delete(execution.id);
  }
}

/** Tokens of all steps issued for it so far, cached ones left out. */
function computedBy(execution: Execution): number {
  return Math.max(0, execution.computed - Math.max(0, execution.meter.firstCached));
}

function facts(attempt: string): AttemptFacts {
  return {
    tenant: 'tenant',
    route: '/v1/chat/completions',
    fingerprint: attempt,
    model: 'model',
    stream: true,
    bodyBytes: 20_000,
    userAgent: 'an editor',
    address: '127.0.0.1',
    shareable: true,
    stateful: false,
    noStore: false,
    cancelOnLeave: false,
  };
}

function add(a: Result, b: Result): Result {
  return {
    rule: a.rule,
    computedTokens: a.computedTokens + b.computedTokens,
    wastedTokens: a.wastedTokens + b.wastedTokens,
    keptTokens: a.keptTokens + b.keptTokens,
    delivered: a.delivered + b.delivered,
    cancelled: a.cancelled + b.cancelled,
  };
}

function main(): void {
  const plans = SEEDS.map(plan);
  const rows = RULES.map(({ name, control }) =>
    plans.map((calls) => new Scene(calls, control).run(name)).reduce(add),
  );
  if (process.argv.includes('--json')) {
    process.stdout.write(
      `${JSON.stringify({ seeds: SEEDS, calls: CALLS * SEEDS.length, rows }, undefined, 2)}\n`,
    );
    return;
  }
  const share = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`;
  process.stdout.write(
    `${CALLS * SEEDS.length} calls, 4 in 5 never wait for their answer; shares of computed tokens\n`,
  );
  for (const { rule, computedTokens, wastedTokens, keptTokens, delivered, cancelled } of rows) {
    const wasted = share(wastedTokens, computedTokens).padStart(7);
    const kept = share(keptTokens, computedTokens).padStart(7);
    const counts = `${delivered} delivered, ${cancelled} cancelled`;
    process.stdout.write(
      `${rule.padEnd(32)} wasted ${wasted}, of it after the client left ${kept}; ${counts}\n`,
    );
  }
}

main();
