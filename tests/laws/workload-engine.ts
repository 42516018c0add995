/** The engine's stand-in: so many places, first come first served, a fixed pace, and failures of every kind. */

import { Random } from '../../src/core/chance/random.js';
import type { EngineLoad } from '../../src/core/control/engine-load.js';
import type { ControlEvent } from '../../src/core/control/event.js';
import type { Failure } from '../../src/core/control/words.js';
import { type Cancel, type Clock, RANK } from '../../src/core/time/clock.js';
import { FAILURES, type Failed } from './failures.js';

export interface EngineOptions {
  /** Executions served at once; may be infinite. */
  readonly places: number;
  readonly serviceMs: number;
  /** Spread of the service time around its mean, [0, 1). */
  readonly spread: number;
  /** Share of executions that fail. */
  readonly failures: number;
  /** How they fail; in every way when absent. */
  readonly failsAs?: readonly Failed[];
  /** Moments at which everything that runs is lost. */
  readonly crashes?: readonly number[];
  readonly answerBytes: number;
  /** When it takes nothing, and what it says then. */
  readonly outages?: readonly Outage[];
  /** Beyond this many executions it says that it is unavailable. */
  readonly cap?: number;
}

export interface Outage {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly says: 'refused' | 'unavailable';
}

/** A refusal is quick. */
const REFUSAL_MS = 2;

const CHUNKS = 4;

interface Run {
  readonly execution: string;
  readonly random: Random;
  firstByte: boolean;
  finished: boolean;
  timer: Cancel | undefined;
  readonly onFirstByte: (() => void)[];
  readonly onFinish: (() => void)[];
}

export class Engine {
  readonly #options: EngineOptions;
  readonly #seed: number;
  readonly #clock: Clock;
  readonly #send: (event: ControlEvent) => void;
  readonly #runs = new Map<string, Run>();
  readonly #waiting: Run[] = [];
  readonly #served = new Set<Run>();
  executions = 0;
  /** Of these, those that it did not take. */
  refused = 0;

  constructor(options: EngineOptions, seed: number, clock: Clock, send: (event: ControlEvent) => void) {
    this.#options = options;
    this.#seed = seed;
    this.#clock = clock;
    this.#send = send;
    for (const at of options.crashes ?? []) clock.after(at, () => this.#crash());
  }

  /** `label` names the draws: the same work takes the same time, whatever else runs. */
  start(execution: string, label: string): void {
    this.executions += 1;
    const run: Run = {
      execution,
      random: new Random(this.#seed, `engine ${label}`),
      firstByte: false,
      finished: false,
      timer: undefined,
      onFirstByte: [],
      onFinish: [],
    };
    const refusal = this.#refusal();
    if (refusal !== undefined) {
      this.refused += 1;
      const status = refusal === 'unavailable' ? 503 : undefined;
      this.#clock.after(
        REFUSAL_MS,
        () => this.#send({ kind: 'fail', execution, failure: refusal, status }),
        RANK.answer,
      );
      return;
    }
    this.#runs.set(execution, run);
    this.#waiting.push(run);
    this.#serve();
  }

  #refusal(): Outage['says'] | undefined {
    const now = this.#clock.now();
    const { outages = [], cap = Number.POSITIVE_INFINITY } = this.#options;
    const outage = outages.find(({ fromMs, untilMs }) => fromMs <= now && now < untilMs);
    return outage?.says ?? (this.#waiting.length + this.#served.size >= cap ? 'unavailable' : undefined);
  }

  get load(): EngineLoad {
    return { running: this.#served.size, waiting: this.#waiting.length };
  }

  cancel(execution: string): void {
    const run = this.#runs.get(execution);
    if (run !== undefined && !run.finished) this.#end(run);
  }

  /** Calls back at the execution's first byte and at its last, at once when they have been. */
  follow(execution: string, onFirstByte: () => void, onFinish: () => void): void {
    const run = this.#runs.get(execution);
    if (run === undefined) return;
    if (run.firstByte) onFirstByte();
    else run.onFirstByte.push(onFirstByte);
    if (run.finished) onFinish();
    else run.onFinish.push(onFinish);
  }

  #serve(): void {
    while (this.#served.size < this.#options.places) {
      const run = this.#waiting.shift();
      if (run === undefined) return;
      this.#served.add(run);
      const { serviceMs, spread, failures, failsAs = FAILURES } = this.#options;
      const takesMs = serviceMs * (1 + spread * run.random.between(-1, 1));
      const fails = run.random.uniform() < failures;
      const at = run.random.between(0, takesMs);
      const [failure, status] = failsAs[run.random.integer(0, failsAs.length - 1)] as Failed;
      if (fails) this.#in(run, at, () => this.#fail(run, failure, status));
      else this.#in(run, takesMs / CHUNKS, () => this.#answer(run, takesMs, 1));
    }
  }

  #in(run: Run, ms: number, then: () => void): void {
    run.timer = this.#clock.after(ms, then, RANK.answer);
  }

  #answer(run: Run, takesMs: number, chunk: number): void {
    const { execution } = run;
    if (!run.firstByte) {
      run.firstByte = true;
      this.#send({ kind: 'first-byte', execution });
      for (const tell of run.onFirstByte) tell();
    }
    this.#send({ kind: 'chunk', execution, bytes: this.#options.answerBytes / CHUNKS });
    if (!this.#served.has(run)) return;
    if (chunk < CHUNKS) return this.#in(run, takesMs / CHUNKS, () => this.#answer(run, takesMs, chunk + 1));
    run.finished = true;
    this.#end(run);
    const usage = { promptTokens: 100, cachedPromptTokens: 0, completionTokens: 10 };
    this.#send({ kind: 'finish', execution, usage });
    for (const tell of run.onFinish) tell();
  }

  #fail(run: Run, failure: Failure, status: number | undefined): void {
    this.#end(run);
    this.#send({ kind: 'fail', execution: run.execution, failure, status });
  }

  #crash(): void {
    for (const run of [...this.#served, ...this.#waiting]) this.#fail(run, 'reset', undefined);
  }

  #end(run: Run): void {
    run.timer?.();
    this.#served.delete(run);
    const at = this.#waiting.indexOf(run);
    if (at >= 0) this.#waiting.splice(at, 1);
    this.#serve();
  }
}
