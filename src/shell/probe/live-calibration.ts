/** The search for Ĉ against a real server: each stage is a drill of patient clients, played from rest. */

import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CalibrationOptions,
  type CalibrationResult,
  CapacitySearch,
  type JudgedStage,
} from '../../core/drill/calibrate.js';
import type { LoadStage, StageCall, StageEvidence } from '../../core/drill/growth.js';
import { type Plan, PUBLISHED_CLIENT, type Workload } from '../../core/drill/plan.js';
import type { RunRecord } from '../../core/drill/run.js';
import { LiveRun, type LiveSettings } from './live-run.js';
import { Scraper } from './scrape.js';

export interface LiveCalibrationParts {
  readonly server: Omit<LiveSettings, 'plan' | 'seed' | 'capacity' | 'name'>;
  readonly workload: Workload;
  readonly options: CalibrationOptions;
  readonly judged: (stage: JudgedStage) => void;
}

/** Clients wait for so many lengths of their stage; what has no answer then has left, and says nothing. */
const PATIENCE_STAGES = 2;
const REST_WITHIN_MS = 120_000;
const LOOK_EVERY_MS = 500;

export class LiveCalibration {
  readonly #parts: LiveCalibrationParts;
  #run: LiveRun | undefined;
  #stopped = false;

  constructor(parts: LiveCalibrationParts) {
    this.#parts = parts;
  }

  /** Ends the search: its result tells that it was stopped. */
  stop(): void {
    this.#stopped = true;
    this.#run?.stop();
  }

  /** To be called once. Throws a `RangeError` for a stage of more calls than a plan may have. */
  async run(): Promise<CalibrationResult> {
    const { options, judged } = this.#parts;
    const search = new CapacitySearch(options);
    for (;;) {
      const next = search.next();
      if ('verdict' in next) return next;
      judged(search.hear(next, await this.#play(next)));
    }
  }

  async #play(stage: LoadStage): Promise<StageEvidence> {
    const { server } = this.#parts;
    const rested = await this.#rest();
    if (!rested || this.#stopped) {
      const trouble = this.#stopped ? 'stopped' : 'did_not_drain';
      return { readings: [], calls: [], seconds: 0, trouble };
    }
    const run = new LiveRun({
      ...server,
      // Each stage asks prompts of its own, or the prefix cache would know them.
      salt: `${server.salt}/${stage.seed}`,
      name: 'calibrate',
      plan: planOf(stage, this.#parts.workload),
      seed: stage.seed,
      capacity: undefined,
    });
    this.#run = run;
    const { run: record } = await run.run();
    this.#run = undefined;
    return evidenceOf(stage, record, this.#stopped);
  }

  /** Whether the server came to rest; one that tells of no gauge is taken at its word. */
  async #rest(): Promise<boolean> {
    const { url, engines } = this.#parts.server;
    const until = performance.now() + REST_WITHIN_MS;
    while (!this.#stopped) {
      const scraper = new Scraper([url, ...engines]);
      await scraper.first();
      await scraper.stop(() => 0);
      const { waiting = 0, running = 0, line = 0 } = scraper.samples.at(-1) ?? {};
      if (waiting + running + line === 0) return true;
      if (performance.now() > until) return false;
      await sleep(LOOK_EVERY_MS);
    }
    return true;
  }
}

function planOf({ perSecond, seconds }: LoadStage, workload: Workload): Plan {
  const patience = PATIENCE_STAGES * seconds;
  return {
    name: 'calibrate',
    stages: [{ name: 'load', rate: { perSecond }, seconds }],
    arrivals: 'even',
    workload,
    clients: [
      {
        ...PUBLISHED_CLIENT,
        name: 'patient',
        userAgent: 'holdfast-calibrate',
        deadlineSeconds: patience,
        retries: 0,
        key: false,
        stream: true,
      },
    ],
    horizonSeconds: patience,
  };
}

function evidenceOf(
  { seconds }: LoadStage,
  { head, attempts, samples }: RunRecord,
  stopped: boolean,
): StageEvidence {
  const readings = samples
    .filter(({ atMs }) => atMs < 1_000 * seconds)
    .map(({ atMs, waiting, line }) => ({
      atMs,
      waiting: waiting === undefined && line === undefined ? undefined : (waiting ?? 0) + (line ?? 0),
    }));
  const calls = attempts
    .filter(({ ending }) => ending !== 'timed_out' && ending !== 'stopped')
    .map(
      ({ plannedMs, firstByteMs, leftMs, ending }): StageCall => ({
        sentMs: plannedMs,
        firstByteMs,
        finishedMs: ending === 'delivered' ? leftMs : undefined,
      }),
    );
  const trouble = stopped ? 'stopped' : head.invalid.length > 0 ? 'generator_behind' : undefined;
  return trouble === undefined ? { readings, calls, seconds } : { readings, calls, seconds, trouble };
}
