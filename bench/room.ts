/**
 * What a room policy costs the engine: calls served at saturation, in virtual time, over those without a limit.
 *
 * Usage: npm run bench:room
 */

import type { ControlSettings } from '../src/core/control/options.js';
import { type Plan, PUBLISHED_CLIENT, PUBLISHED_PLAN, type Workload } from '../src/core/drill/plan.js';
import { profile } from '../src/core/engine/profiles.js';
import { CAPACITIES } from '../src/core/trial/capacities.js';
import { runTrial } from '../src/core/trial/trial.js';

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

function servedIn(
  { workload, perSecond, seconds }: Traffic,
  control: ControlSettings,
  stream: boolean,
  seed: number,
): number {
  const plan: Plan = {
    ...PUBLISHED_PLAN,
    workload,
    stages: [{ name: 'saturated', seconds, rate: { perSecond } }],
    clients: [{ ...PUBLISHED_CLIENT, stream, deadlineSeconds: 24 * 3_600, retries: 0 }],
  };
  const { cost, numGpuBlocks, maxModelLen } = profile(PROFILE);
  const { calls } = runTrial({
    plan,
    seed,
    capacity: 1,
    control: { ...PASSIVE, ...control },
    engine: { numGpuBlocks, maxModelLen, maxNumBatchedTokens: 8_192 },
    cost,
    gauges: { everyMs: 500, delayMs: 50 },
  });
  const counted = ({ endedMs }: { endedMs: number }): boolean =>
    endedMs >= FROM_MS && endedMs < seconds * 1_000;
  return calls.filter(counted).length;
}

function served(traffic: Traffic, control: ControlSettings, stream = false): number {
  return SEEDS.reduce((sum, seed) => sum + servedIn(traffic, control, stream, seed), 0);
}

function table(name: string, traffic: Traffic, rooms: readonly number[]): void {
  const most = served(traffic, { room: 'off' });
  const perSecond = most / SEEDS.length / (traffic.seconds - FROM_MS / 1_000);
  process.stdout.write(`${name}: ${perSecond.toFixed(2)} calls a second without a limit\n`);
  const say = (room: string, control: ControlSettings, stream = false): void => {
    const kept = ((100 * served(traffic, control, stream)) / most).toFixed(1);
    process.stdout.write(`  ${room.padEnd(36)} ${kept.padStart(6)} %\n`);
  };
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

table('long prompts', LONG, [40, 60, 80, 100]);
table('short prompts', SHORT, [80, 256]);
