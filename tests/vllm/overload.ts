/**
 * The published overload at one sixth of its time on the real vLLM: straight, through the gateway without a line of its
 * own, and through the line.
 *
 *   npm run test:vllm -- --overload DIR [--arms straight,coalesce,deadline] [--rounds N] [--first-seed S] [--room ROOM]
 *
 * Ĉ is measured before and after each round of runs, which counts only if it moved by less than 5 %; the order of the
 * arms changes from round to round. Every run is written into DIR as `holdfast drill --record` would.
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { amplification, type StageOutcome } from '../../src/core/drill/outcome.js';
import { type Plan, PUBLISHED_CLIENT } from '../../src/core/drill/plan.js';
import type { RunHead, RunRecord } from '../../src/core/drill/run.js';
import { LiveRun } from '../../src/shell/probe/live-run.js';
import { folderName, writeRunFolder } from '../../src/shell/probe/run-folder.js';
import { serverCapacity } from './capacity.js';
import { type Engine, idle, MODEL, startEngine } from './engine.js';
import { startGateway } from './gateway.js';
import { SHARED_TOKENS } from './ladder.js';
import { servedWhenFull } from './span.js';

const STEADY = 0.05;
/** A ladder begins at this share of what was served last. */
const BEGIN = 0.86;
const IDLE_LIMIT_MS = 300_000;

/** `straight`: no gateway; `coalesce`: one without a line of its own; `deadline`: one with it, in its default order. */
export const OVERLOAD_ARMS = ['straight', 'coalesce', 'deadline'] as const;
export type OverloadArm = (typeof OVERLOAD_ARMS)[number];

const TITLES: Readonly<Record<OverloadArm, string>> = {
  straight: 'straight at vLLM',
  coalesce: 'through Holdfast, no line',
  deadline: 'through Holdfast, deadline order',
};
/** What `holdfast serve` is told; undefined: there is none. */
const settingsOf: Readonly<Record<OverloadArm, (room: string) => readonly string[] | undefined>> = {
  straight: () => undefined,
  coalesce: () => ['--room', 'off'],
  deadline: (room) => ['--room', room],
};
/** A client whose program is known to ask four times, as the published one does. */
const FOUR_ATTEMPTS = 'OpenAI/2.0 (.NET 8.0)';

/** Prompts of 400 ± 40 tokens, answers around 40, clients that leave after 20 s, as `docs/real-vllm.md` says. */
export const OVERLOAD_PLAN: Plan = {
  name: 'real vLLM',
  stages: [
    { name: 'base', rate: { capacity: 0.6 }, seconds: 20 },
    { name: 'pulse', rate: { capacity: 2.7 }, seconds: 17.8 },
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
  /** Ĉ, calls per second. */
  readonly before: number;
  readonly after: number;
  readonly moved: number;
  readonly counts: boolean;
  readonly arms: readonly Played[];
}

interface Played {
  readonly arm: OverloadArm;
  readonly head: RunHead;
  /** Of the engine while all arms have it full: see `FULL`. */
  readonly tokensPerSecond: number;
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
  const { directory, rounds, firstSeed, arms, room, say } = settings;
  const engine = await startEngine();
  try {
    say('a full engine, to warm up and to learn where to begin');
    const full = await servedWhenFull(engine.url);
    const results: OverloadRound[] = [];
    let before = (await serverCapacity(engine.url, full * BEGIN)).perSecond;
    for (let seed = firstSeed; seed < firstSeed + rounds; seed += 1) {
      say(`Ĉ: ${before.toFixed(2)} calls/s`);
      const played: Played[] = [];
      for (const arm of rotated(arms, seed)) {
        const one = await play(engine, arm, { seed, capacity: before, directory, room });
        played.push(one);
        say(headText(one));
      }
      const after = (await serverCapacity(engine.url, before * BEGIN)).perSecond;
      const moved = Math.abs(after / before - 1);
      const round = { seed, before, after, moved, counts: moved < STEADY, arms: played };
      results.push(round);
      writeFileSync(join(directory, 'rounds.json'), `${JSON.stringify(results, undefined, 1)}\n`);
      say(`moved by ${percent(moved)}: ${round.counts ? 'counts' : 'does not count'}`);
      before = after;
    }
    return results;
  } finally {
    await engine.stop();
  }
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
  'Ĉ before, after',
  'counts',
  'arm',
  'pulse delivered',
  'hold delivered',
  'pulse on time',
  'hold on time',
  'all on time',
  'attempts a hold call',
  'executions a call',
  'tokens/s when full',
];

/** The rounds as rows of a table in Markdown; on time: within the first deadline. */
export function overloadTable(rounds: readonly OverloadRound[]): string {
  const rows = rounds.flatMap((round) => round.arms.map((played) => cells(round, played)));
  const lines = [COLUMNS, COLUMNS.map(() => '---'), ...rows];
  return lines.map((line) => `| ${line.join(' | ')} |\n`).join('');
}

function cells(round: OverloadRound, { arm, head, tokensPerSecond: tokens }: Played): readonly string[] {
  const { stages, total } = head;
  const [, pulse, hold] = stages;
  if (pulse === undefined || hold === undefined) return [];
  return [
    String(round.seed),
    `${round.before.toFixed(2)}, ${round.after.toFixed(2)}`,
    round.counts ? 'yes' : 'no',
    arm,
    percent(share(pulse, 'deliveredByHorizon')),
    percent(share(hold, 'deliveredByHorizon')),
    percent(share(pulse, 'deliveredByDeadline')),
    percent(share(hold, 'deliveredByDeadline')),
    percent(share(total, 'deliveredByDeadline')),
    (hold.attempts / hold.calls).toFixed(2),
    executionsACall(arm, total).toFixed(3),
    tokens.toFixed(0),
  ];
}
