/** One drill against a real server, from its first attempt to its record. */

import { randomBytes } from 'node:crypto';
import { Drill } from '../../core/drill/drill.js';
import { runHead } from '../../core/drill/head.js';
import type { Backoff, ClientKind, Plan, PlannedCall } from '../../core/drill/plan.js';
import { planCalls } from '../../core/drill/planning.js';
import type { GeneratorLag, RunRecord } from '../../core/drill/run.js';
import { SystemClock } from '../shared/system-clock.js';
import { executionCount } from './execution-count.js';
import { HttpTarget } from './http-target.js';
import { invalidBy, LagMeter } from './lag.js';
import { type RequestSettings, Requests } from './request.js';
import { Scraper } from './scrape.js';

type Asked = 'model' | 'api' | 'prompts' | 'vocabulary' | 'salt' | 'plain' | 'credential' | 'timeScale';

export interface LiveSettings extends Pick<RequestSettings, Asked> {
  /** What a comparison calls the run. */
  readonly name: string;
  /** Gateway or engine; `/v1/…` is added to its path. */
  readonly url: URL;
  /** Servers whose meters are read beside the target's own. */
  readonly engines: readonly URL[];
  readonly plan: Plan;
  readonly seed: number;
  /** Ĉ, calls per second. */
  readonly capacity: number | undefined;
  /** Seconds of the plan by which the generator may fall behind; see {@link invalidBy} for what holds without. */
  readonly mostLagSeconds?: number | undefined;
}

/** How far a run is. */
export interface LiveProgress {
  /** Seconds of the plan. */
  readonly atSeconds: number;
  readonly sent: number;
  readonly delivered: number;
  /** Calls that wait for an answer or for their next attempt. */
  readonly waiting: number;
  readonly retries: number;
  /** Executions so far, where they are counted while the run goes. */
  readonly executions: number | undefined;
}

export interface LiveEnd {
  readonly run: RunRecord;
  readonly planned: readonly PlannedCall[];
}

/** Beyond the longest life of a client, milliseconds of the plan: what has not ended then never may. */
const SLACK_MS = 10_000;
/** Bodies that are built before the run, so that the first calls do not wait for it. */
const WARM_UP_CALLS = 50;
/** Node's longest timer. */
const AWAKE_MS = 2 ** 31 - 1;

export class LiveRun {
  readonly planned: readonly PlannedCall[];
  readonly #settings: LiveSettings;
  readonly #scraper: Scraper;
  #clock: SystemClock | undefined;
  #drill: Drill | undefined;
  #delivered = 0;
  #retries = 0;
  #stopped = false;
  #end: () => void = () => {};

  /** Throws a `RangeError` where the plan needs a capacity and none is known, or asks too much. */
  constructor(settings: LiveSettings) {
    this.#settings = settings;
    this.planned = planCalls(settings.plan, settings.seed, settings.capacity);
    this.#scraper = new Scraper([settings.url, ...settings.engines]);
  }

  get progress(): LiveProgress {
    return {
      atSeconds: (this.#clock?.now() ?? 0) / 1_000,
      sent: this.#drill?.sent ?? 0,
      delivered: this.#delivered,
      waiting: this.#drill?.waiting ?? 0,
      retries: this.#retries,
      executions: this.#scraper.rise('engineExecutions') ?? this.#scraper.rise('gatewayExecutions'),
    };
  }

  /** Sends nothing more, closes every connection and lets {@link run} end. */
  stop(): void {
    this.#stopped = true;
    this.#end();
  }

  /** Resolves with the record once every call has ended, or the run was stopped. To be called once. */
  async run(): Promise<LiveEnd> {
    await this.#scraper.first();
    const startedAt = new Date();
    const requests = this.#requests(startedAt);
    // From here on only: how long the process took to get ready is nobody's lag.
    const lag = new LagMeter();
    const { url, timeScale } = this.#settings;
    const clock = new SystemClock(timeScale);
    this.#clock = clock;
    this.#scraper.begin(clock, timeScale);
    const sentLate = (ms: number): void => lag.sentLate(ms);
    const target = new HttpTarget({ clock, url, requests, timeScale, sentLate });
    const drill = this.#newDrill(clock, target);
    this.#drill = drill;
    await this.#untilOver(clock, drill);
    drill.stop();
    target.close();
    const generator = lag.stop();
    await this.#scraper.stop(() => clock.now());
    return { run: this.#record(drill, generator, startedAt), planned: this.planned };
  }

  /** Everything that takes time to prepare, before the run's clock begins. */
  #requests(startedAt: Date): Requests {
    const { plan } = this.#settings;
    const requests = new Requests({
      ...this.#settings,
      run: `drill-${startedAt.getTime().toString(36)}-${randomBytes(4).toString('hex')}`,
      priorities: plan.clients.some(({ priority }) => priority !== 0),
    });
    for (const call of this.planned.slice(0, WARM_UP_CALLS)) requests.body(call);
    return requests;
  }

  #newDrill(clock: SystemClock, target: HttpTarget): Drill {
    return new Drill(this.planned, {
      clock,
      target,
      seed: this.#settings.seed,
      attemptEnded: ({ attempt }) => {
        if (attempt > 0) this.#retries += 1;
      },
      callEnded: ({ delivered }) => {
        if (delivered) this.#delivered += 1;
        if (this.#drill?.settled === true) this.#end();
      },
    });
  }

  async #untilOver(clock: SystemClock, drill: Drill): Promise<void> {
    if (this.#stopped) return;
    // The drill's own timers do not keep the process alive, and between two calls there may be no socket.
    const awake = setInterval(() => {}, AWAKE_MS);
    await new Promise<void>((resolve) => {
      this.#end = resolve;
      clock.after(longestMs(this.#settings.plan), () => this.stop());
      drill.start();
      if (drill.settled) resolve();
    });
    clearInterval(awake);
  }

  #record({ attempts, calls, settled }: Drill, generator: GeneratorLag, startedAt: Date): RunRecord {
    const { name, url, seed, capacity, timeScale, plan, prompts, mostLagSeconds } = this.#settings;
    const { samples } = this.#scraper;
    const counted = executionCount({
      rise: (counter) => this.#scraper.rise(counter),
      planned: this.planned,
      attempts,
      exactPrompts: prompts === 'tokens',
    });
    const waits = samples.filter(({ waiting, line }) => waiting !== undefined || line !== undefined);
    const backlog = waits.map(({ atMs, waiting = 0, line = 0 }) => ({ atMs, waiting: waiting + line }));
    const head = runHead({
      facts: {
        name,
        kind: 'drill',
        target: `${url.origin}${url.pathname.replace(/\/$/, '')}`,
        startedAt: startedAt.toISOString(),
        seed,
        capacity: capacity ?? null,
        timeScale,
        invalid: invalidBy(generator, timeScale, mostLagSeconds),
        stopped: !settled,
        generator,
        executionsCountedBy: counted.countedBy,
      },
      plan,
      planned: this.planned,
      calls,
      attempts,
      backlog: backlog.length === 0 ? undefined : backlog,
      executionCount: counted.executions,
    });
    return { head, calls, attempts, executions: [], samples };
  }
}

/** When the last client must have ended, milliseconds from the start: none of them may hold up the run for ever. */
function longestMs({ stages, clients, horizonSeconds }: Plan): number {
  const planMs = stages.reduce((sum, { seconds }) => sum + seconds * 1_000, 0);
  return planMs + Math.max(horizonSeconds * 1_000, ...clients.map(lifeMs)) + SLACK_MS;
}

function lifeMs({ deadlineSeconds, retries, backoff, obeysRetryAfterSeconds }: ClientKind): number {
  const waitMs = Math.max(longestBackoffMs(backoff), obeysRetryAfterSeconds * 1_000);
  return (retries + 1) * deadlineSeconds * 1_000 + retries * waitMs;
}

function longestBackoffMs(backoff: Backoff): number {
  switch (backoff.kind) {
    case 'uniform':
      return backoff.highMs;
    case 'exponential':
      return backoff.mostMs * backoff.jitter[1];
    case 'list':
      return Math.max(...backoff.ms);
    default:
      return backoff satisfies never;
  }
}
