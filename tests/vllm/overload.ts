/**
 * The published overload at one sixth of its time on the real vLLM: straight, through the gateway without a line of its
 * own, and through the line.
 *
 *   npm run test:vllm -- --overload DIR [--arms straight,coalesce,deadline,gauges] [--rounds N] [--first-seed S] [--room ROOM]
 *
 * Ĉ is measured before each round of runs. A round counts only if the machine's pace, read off the engine's own steps,
 * was the same within 5 % in all arms, whose order changes from round to round; what it was while Ĉ was measured says
 * how high the pulse came out. Every run is written into DIR as `holdfast drill --record` would.
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { amplification, type StageOutcome } from '../../src/core/drill/outcome.js';
import { type Plan, PUBLISHED_CLIENT } from '../../src/core/drill/plan.js';
import type { RunHead, RunRecord } from '../../src/core/drill/run.js';
import { LiveRun } from '../../src/shell/probe/live-run.js';
import { folderName, writeRunFolder } from '../../src/shell/probe/run-folder.js';
import { serverCapacity } from './capacity.js';
import { type Engine, idle, MODEL } from './engine.js';
import { startGateway } from './gateway.js';
import { SHARED_TOKENS } from './ladder.js';
import { servedWhenFull } from './span.js';
import { paces, recorded, startRecordingEngine } from './steps.js';

const STEADY = 0.05;
/** A ladder begins at this share of what was served last. */
const BEGIN = 0.86;
const IDLE_LIMIT_MS = 300_000;

/**
 * `straight`: no gateway; `coalesce`: one without a line of its own; `deadline`: one with it, in its default order;
 * `gauges`: the same, with as many executions in the engine as its own gauges say.
 */
export const OVERLOAD_ARMS = ['straight', 'coalesce', 'deadline', 'gauges'] as const;
export type OverloadArm = (typeof OVERLOAD_ARMS)[number];

const TITLES: Readonly<Record<OverloadArm, string>> = {
  straight: 'straight at vLLM',
  coalesce: 'through Holdfast, no line',
  deadline: 'through Holdfast, deadline order',
  gauges: 'through Holdfast, deadline order, room by gauges',
};
/** What `holdfast serve` is told; undefined: there is none. */
const settingsOf: Readonly<Record<OverloadArm, (room: string) => readonly string[] | undefined>> = {
  straight: () => undefined,
  coalesce: () => ['--room', 'off'],
  deadline: (room) => ['--room', room],
  gauges: () => ['--room', 'engine'],
};
/** A client whose program is known to ask four times, as the published one does. */
const FOUR_ATTEMPTS = 'OpenAI/2.0 (.NET 8.0)';

/** Height of the pulse, in multiples of Ĉ. */
const PULSE = 2.7;

/** Prompts of 400 ± 40 tokens, answers around 40, clients that leave after 20 s, as `docs/real-vllm.md` says. */
export const OVERLOAD_PLAN: Plan = {
  name: 'real vLLM',
  stages: [
    { name: 'base', rate: { capacity: 0.6 }, seconds: 20 },
    { name: 'pulse', rate: { capacity: PULSE }, seconds: 17.8 },
    { name: 'hold', rate: { capacity: 0.7 }, seconds: 120 },
  ],
  arrivals: 'poisson',
  workload: {
    promptTokens: { kind: 'uniform', low: 360, high: 440 },
    sharedPrefixTokens: SHARED_TOKENS,
    responseTokens: { kind: 'lognormal', median: 40, sigma: 0.5, most: 400 },
  },
  clients: [
    {
      ...PUBLISHED_CLIENT,
      name: 'impatient',
      key: false,
      announces: true,
      userAgent: FOUR_ATTEMPTS,
      deadlineSeconds: 20,
      backoff: { kind: 'uniform', lowMs: 40, highMs: 500 },
    },
  ],
  horizonSeconds: 140,
};

export interface OverloadRound {
  readonly seed: number;
  /** Ĉ, calls per second, measured just before. */
  readonly capacity: number;
  /** The machine's pace meanwhile, in the mean of the round. */
  readonly pace: number;
  /** The fastest pace of an arm over the slowest, less one. */
  readonly moved: number;
  readonly counts: boolean;
  readonly arms: readonly Paced[];
}

interface Played {
  readonly arm: OverloadArm;
  readonly head: RunHead;
  /** Of the engine while all arms have it full: see `FULL`. */
  readonly tokensPerSecond: number;
}

interface Paced extends Played {
  readonly pace: number;
}

/** From the pulse's first seconds to long before the backlog can be gone, seconds of the run. */
const FULL = { from: 25, to: 60 } as const;

/** Output tokens a second by the engine's own counter, over that window; NaN where it was not read. */
function tokensPerSecond({ samples }: RunRecord): number {
  const inside = samples.filter(
    ({ atMs, generationTokens }) =>
      generationTokens !== undefined && atMs >= FULL.from * 1000 && atMs <= FULL.to * 1000,
  );
  const [first, last] = [inside[0], inside.at(-1)];
  if (first?.generationTokens === undefined || last?.generationTokens === undefined) return Number.NaN;
  return ((last.generationTokens - first.generationTokens) * 1000) / (last.atMs - first.atMs);
}

interface Play {
  readonly seed: number;
  readonly capacity: number;
  readonly directory: string;
  readonly room: string;
}

async function play(
  engine: Engine,
  arm: OverloadArm,
  { seed, capacity, directory, room }: Play,
): Promise<Played> {
  const settings = settingsOf[arm](room);
  const gateway = settings === undefined ? undefined : await startGateway(engine.url, settings);
  try {
    const live = new LiveRun({
      name: TITLES[arm],
      url: new URL(gateway?.url ?? engine.url),
      engines: gateway === undefined ? [] : [new URL(engine.url)],
      plan: OVERLOAD_PLAN,
      seed,
      capacity,
      model: MODEL,
      api: 'completions',
      prompts: 'tokens',
      vocabulary: 256,
      // The engine still holds the prompts of the run before.
      salt: `${arm}-${seed}`,
      // The model declares no end: answers are as long as they may be. `min_tokens` ends this engine's worker, for it
      // masks an end token that the model's vocabulary does not have.
      plain: true,
      credential: (tenant) => `key-of-${tenant}`,
      timeScale: 1,
    });
    const { run, planned } = await live.run();
    writeRunFolder(join(directory, folderName(arm, seed)), run, planned);
    return { arm, head: run.head, tokensPerSecond: tokensPerSecond(run) };
  } finally {
    await gateway?.stop();
    await idle(engine.url, IDLE_LIMIT_MS);
  }
}

export interface OverloadSettings {
  readonly directory: string;
  readonly rounds: number;
  readonly firstSeed: number;
  readonly arms: readonly OverloadArm[];
  /** What the gateway with the line is told: a number, or another of its words. */
  readonly room: string;
  readonly say: (text: string) => void;
}

/** Plays the rounds one after the other, a seed each. */
export async function overload(settings: OverloadSettings): Promise<readonly OverloadRound[]> {
  const { directory, rounds, firstSeed, say } = settings;
  const engine = await startRecordingEngine();
  try {
    say('a full engine, to warm up and to learn where to begin');
    let near = await servedWhenFull(engine.url);
    const results: OverloadRound[] = [];
    for (let seed = firstSeed; seed < firstSeed + rounds; seed += 1) {
      const round = await playRound(engine, seed, near, settings);
      results.push(round);
      near = round.capacity;
      writeFileSync(join(directory, 'rounds.json'), `${JSON.stringify(results, undefined, 1)}\n`);
      const ofArms = round.arms.map(({ arm, pace }) => `${arm} ${pace.toFixed(3)}`).join(', ');
      say(
        `pace: Ĉ ${round.pace.toFixed(3)}, ${ofArms}; ${round.counts ? 'counts' : `moved by ${percent(round.moved)}, does not count`}`,
      );
    }
    return results;
  } finally {
    await engine.stop();
  }
}

async function playRound(
  engine: Engine,
  seed: number,
  near: number,
  { directory, arms, room, say }: OverloadSettings,
): Promise<OverloadRound> {
  const marks = [recorded().length];
  const capacity = (await serverCapacity(engine.url, near * BEGIN)).perSecond;
  marks.push(recorded().length);
  say(`Ĉ: ${capacity.toFixed(2)} calls/s`);
  const played: Played[] = [];
  for (const arm of rotated(arms, seed)) {
    const one = await play(engine, arm, { seed, capacity, directory, room });
    marks.push(recorded().length);
    played.push(one);
    say(headText(one));
  }
  const steps = recorded();
  const [pace = Number.NaN, ...ofArms] = paces(
    marks.slice(1).map((to, at) => steps.slice(marks[at] as number, to)),
  );
  const moved = Math.max(...ofArms) / Math.min(...ofArms) - 1;
  const paced = played.map(({ arm, head, tokensPerSecond: tokens }, at) => ({
    arm,
    head,
    tokensPerSecond: tokens,
    pace: ofArms[at] ?? Number.NaN,
  }));
  return { seed, capacity, pace, moved, counts: moved < STEADY, arms: paced };
}

/** Another one first in each round. */
function rotated(arms: readonly OverloadArm[], seed: number): readonly OverloadArm[] {
  const by = seed % arms.length;
  return [...arms.slice(by), ...arms.slice(0, by)];
}

function percent(part: number): string {
  return `${(part * 100).toFixed(1)} %`;
}

function headText({ arm, head: { stages, total, invalid }, tokensPerSecond: tokens }: Played): string {
  const shares = [...stages, total].map(
    (stage) =>
      `${stage.stage} ${percent(share(stage, 'deliveredByHorizon'))} delivered, ${percent(share(stage, 'deliveredByDeadline'))} on time, ${(stage.attempts / stage.calls).toFixed(2)} attempts a call`,
  );
  return `${arm}: ${shares.join('; ')}; ${executionsACall(arm, total).toFixed(3)} executions a call; ${tokens.toFixed(0)} tokens/s when full${invalid.map((why) => `; INVALID: ${why}`).join('')}`;
}

/** Straight, every attempt that reaches the engine is an execution. */
function executionsACall(arm: OverloadArm, total: StageOutcome): number {
  return amplification(arm === 'straight' ? { ...total, executions: undefined } : total);
}

function share(stage: StageOutcome, figure: 'deliveredByHorizon' | 'deliveredByDeadline'): number {
  return stage[figure] / stage.calls;
}

/** Executions a call that the gateway may make. */
const MOST_EXECUTIONS = 1.05;

/** Whether a pulse or hold call did not come back by the horizon through a gateway, or work was done twice. */
export function lostThroughGateway({ arms }: OverloadRound): boolean {
  return arms.some(({ arm, head: { stages, total } }) => {
    if (arm === 'straight') return false;
    const whole = stages.slice(1).every((stage) => stage.deliveredByHorizon === stage.calls);
    return !whole || executionsACall(arm, total) > MOST_EXECUTIONS;
  });
}

const COLUMNS = [
  'seed',
  'Ĉ, calls/s',
  'counts',
  'arm',
  'pace',
  'pulse, Ĉ',
  'pulse delivered',
  'hold delivered',
  'pulse on time',
  'hold on time',
  'all on time',
  'attempts a hold call',
  'executions a call',
  'tokens/s when full, at the mean pace',
];

/** The rounds as rows of a table in Markdown; on time: within the first deadline. */
export function overloadTable(rounds: readonly OverloadRound[]): string {
  const rows = rounds.flatMap((round) => round.arms.map((played) => cells(round, played)));
  const lines = [COLUMNS, COLUMNS.map(() => '---'), ...rows];
  return lines.map((line) => `| ${line.join(' | ')} |\n`).join('');
}

function cells(round: OverloadRound, { arm, head, pace, tokensPerSecond: tokens }: Paced): readonly string[] {
  const { stages, total } = head;
  const [, pulse, hold] = stages;
  if (pulse === undefined || hold === undefined) return [];
  return [
    String(round.seed),
    round.capacity.toFixed(2),
    round.counts ? 'yes' : 'no',
    arm,
    pace.toFixed(3),
    ((PULSE * round.pace) / pace).toFixed(2),
    percent(share(pulse, 'deliveredByHorizon')),
    percent(share(hold, 'deliveredByHorizon')),
    percent(share(pulse, 'deliveredByDeadline')),
    percent(share(hold, 'deliveredByDeadline')),
    percent(share(total, 'deliveredByDeadline')),
    (hold.attempts / hold.calls).toFixed(2),
    executionsACall(arm, total).toFixed(3),
    (tokens / pace).toFixed(0),
  ];
}
