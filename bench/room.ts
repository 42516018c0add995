/**
 * What a room policy costs the engine: calls served at saturation, in virtual time, over those without a limit; and
 * whom the default lets wait while the engine is not full.
 *
 * Usage: npm run bench:room [-- --waits]
 *
 * `--waits`: the second alone.
 */

import type { ControlSettings } from '../src/core/control/options.js';
import {
  type Arrivals,
  type Plan,
  PUBLISHED_CLIENT,
  PUBLISHED_PLAN,
  type Workload,
} from '../src/core/drill/plan.js';
import { profile } from '../src/core/engine/profiles.js';
import { CAPACITIES } from '../src/core/trial/capacities.js';
import { runTrial, type TrialRecord } from '../src/core/trial/trial.js';

/** Counted from here on: the batch is full, and the line is not empty before the end. */
const FROM_MS = 30_000;
const SEEDS = [1, 2];

const PROFILE = 'qwen2.5-7b';
const PASSIVE: ControlSettings = {
  order: 'oldest-first',
  bounds: { lineWaitMs: 24 * 3_600_000, lineEntries: 1_000_000 },
};

/** What is asked, and how often: more than the engine serves. */
interface Traffic {
  readonly workload: Workload;
  readonly perSecond: number;
  readonly seconds: number;
  readonly arrivals?: Arrivals;
}
const LONG: Traffic = {
  workload: PUBLISHED_PLAN.workload,
  perSecond: 2 * (CAPACITIES[PROFILE] ?? 1),
  seconds: 300,
};
/** Prompts of which many fit in a step. */
const SHORT: Traffic = {
  workload: {
    promptTokens: { kind: 'uniform', low: 360, high: 440 },
    sharedPrefixTokens: 64,
    responseTokens: { kind: 'lognormal', median: 100, sigma: 0.5, most: 1_000 },
  },
  perSecond: 150,
  seconds: 60,
};

function play(
  { workload, perSecond, seconds, arrivals = 'poisson' }: Traffic,
  control: ControlSettings,
  stream: boolean,
  seed: number,
): TrialRecord {
  const plan: Plan = {
    ...PUBLISHED_PLAN,
    workload,
    arrivals,
    stages: [{ name: 'saturated', seconds, rate: { perSecond } }],
    clients: [{ ...PUBLISHED_CLIENT, stream, deadlineSeconds: 24 * 3_600, retries: 0 }],
  };
  const { cost, numGpuBlocks, maxModelLen } = profile(PROFILE);
  return runTrial({
    plan,
    seed,
    capacity: 1,
    control: { ...PASSIVE, ...control },
    engine: { numGpuBlocks, maxModelLen, maxNumBatchedTokens: 8_192 },
    cost,
    gauges: { everyMs: 500, delayMs: 50 },
  });
}

function served(traffic: Traffic, control: ControlSettings, stream = false): number {
  const counted = ({ endedMs }: { endedMs: number }): boolean =>
    endedMs >= FROM_MS && endedMs < traffic.seconds * 1_000;
  return SEEDS.reduce(
    (sum, seed) => sum + play(traffic, control, stream, seed).calls.filter(counted).length,
    0,
  );
}

/** Calls a second without a limit. */
const rate = (most: number, { seconds }: Traffic): number =>
  most / SEEDS.length / (seconds - FROM_MS / 1_000);

interface Waits {
  /** In line, for each call, milliseconds. */
  readonly inLine: readonly number[];
  /** From the planned moment to the whole answer, the mean, milliseconds. */
  readonly answerMs: number;
}

function waits(traffic: Traffic, control: ControlSettings): Waits {
  const runs = SEEDS.map((seed) => play(traffic, control, false, seed));
  const answers = runs.flatMap(({ calls }) => calls.map(({ plannedMs, endedMs }) => endedMs - plannedMs));
  return {
    inLine: runs.flatMap(({ executions, planned }) =>
      executions.map(({ call, createdMs }) => createdMs - (planned[call]?.atMs ?? 0)),
    ),
    answerMs: answers.reduce((sum, ms) => sum + ms, 0) / answers.length,
  };
}

function table(name: string, traffic: Traffic, rooms: readonly number[]): void {
  const most = served(traffic, { room: 'off' });
  process.stdout.write(`${name}: ${rate(most, traffic).toFixed(2)} calls a second without a limit\n`);
  const say = (room: string, control: ControlSettings, stream = false): void => {
    const kept = ((100 * served(traffic, control, stream)) / most).toFixed(1);
    process.stdout.write(`  ${room.padEnd(36)} ${kept.padStart(6)} %\n`);
  };
  say('the default', {});
  for (const room of rooms) say(`${room}`, { room });
  for (const roomWaiting of [1, 2, 4, 8, 16]) {
    say(`first-token, ${roomWaiting} waiting, streams`, { room: 'first-token', roomWaiting }, true);
  }
  say('first-token, answers that come whole', { room: 'first-token' });
  for (const roomTarget of [2, 4, 8]) {
    say(`engine, ${roomTarget} waiting, streams`, { room: 'engine', roomTarget }, true);
    say(`engine, ${roomTarget} waiting, whole`, { room: 'engine', roomTarget });
  }
}

/** Of what the engine serves at most, Poisson arrivals but for the last, which come in bursts. */
const LOADS: readonly (readonly [name: string, load: number, arrivals: Arrivals])[] = [
  ['0.3 of that', 0.3, 'poisson'],
  ['0.6 of that', 0.6, 'poisson'],
  ['0.8 of that', 0.8, 'poisson'],
  ['0.3 of that, in bursts', 0.3, { burstiness: 0.03 }],
];

function waitTable(name: string, traffic: Traffic): void {
  const most = rate(served(traffic, { room: 'off' }), traffic);
  process.stdout.write(
    `${name}: who waits in line with the default room, of ${most.toFixed(2)} calls a second; answers after, and without a limit\n`,
  );
  for (const [words, load, arrivals] of LOADS) {
    const part = { ...traffic, perSecond: load * most, seconds: 300, arrivals };
    const { inLine, answerMs } = waits(part, {});
    const waited = inLine.filter((ms) => ms > 0);
    const share = ((100 * waited.length) / inLine.length).toFixed(2);
    const longest = (Math.max(0, ...waited) / 1_000).toFixed(2);
    const [here, without] = [answerMs, waits(part, { room: 'off' }).answerMs].map((ms) =>
      (ms / 1_000).toFixed(3),
    );
    process.stdout.write(
      `  ${words.padEnd(24)} ${share.padStart(6)} % of ${inLine.length}, ${longest} s at most; ${here} s, ${without} s\n`,
    );
  }
}

if (process.argv[2] !== '--waits') {
  table('long prompts', LONG, [40, 60, 80, 100]);
  table('short prompts', SHORT, [80, 256]);
}
waitTable('long prompts', LONG);
waitTable('short prompts', SHORT);
