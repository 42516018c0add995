/**
 * The published overload at one sixth of its time on the real vLLM, straight and through the gateway.
 *
 *   npm run test:vllm -- --overload DIR [--pairs N]
 *
 * Ĉ is measured before and after each pair of runs, which counts only if it moved by less than 5 %; the order of the two
 * changes from pair to pair. Every run is written into DIR as `holdfast drill --record` would.
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { amplification, type StageOutcome } from '../../src/core/drill/outcome.js';
import { type Plan, PUBLISHED_CLIENT } from '../../src/core/drill/plan.js';
import type { RunHead } from '../../src/core/drill/run.js';
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

const ARMS = ['straight', 'gateway'] as const;
type Arm = (typeof ARMS)[number];

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
      deadlineSeconds: 20,
      backoff: { kind: 'uniform', lowMs: 40, highMs: 500 },
    },
  ],
  horizonSeconds: 140,
};

export interface OverloadPair {
  readonly seed: number;
  /** Ĉ, calls per second. */
  readonly before: number;
  readonly after: number;
  readonly moved: number;
  readonly counts: boolean;
  readonly heads: Readonly<Record<Arm, RunHead>>;
}

async function play(engine: Engine, arm: Arm, { seed, capacity, directory }: Play): Promise<RunHead> {
  const gateway = arm === 'gateway' ? await startGateway(engine.url, []) : undefined;
  try {
    const live = new LiveRun({
      name: arm === 'gateway' ? 'through Holdfast' : 'straight at vLLM',
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
    return run.head;
  } finally {
    await gateway?.stop();
    await idle(engine.url, IDLE_LIMIT_MS);
  }
}

interface Play {
  readonly seed: number;
  readonly capacity: number;
  readonly directory: string;
}

export interface OverloadSettings {
  readonly directory: string;
  readonly pairs: number;
  readonly say: (text: string) => void;
}

/** Plays the pairs one after the other; seeds from 1. */
export async function overload({
  directory,
  pairs,
  say,
}: OverloadSettings): Promise<readonly OverloadPair[]> {
  const engine = await startEngine();
  try {
    say('a full engine, to warm up and to learn where to begin');
    const full = await servedWhenFull(engine.url);
    const results: OverloadPair[] = [];
    let before = (await serverCapacity(engine.url, full * BEGIN)).perSecond;
    for (let seed = 1; seed <= pairs; seed += 1) {
      say(`Ĉ: ${before.toFixed(2)} calls/s`);
      const heads: Partial<Record<Arm, RunHead>> = {};
      for (const arm of seed % 2 === 1 ? ARMS : ARMS.toReversed()) {
        heads[arm] = await play(engine, arm, { seed, capacity: before, directory });
        say(headText(arm, heads[arm]));
      }
      const after = (await serverCapacity(engine.url, before * BEGIN)).perSecond;
      const moved = Math.abs(after / before - 1);
      const pair = {
        seed,
        before,
        after,
        moved,
        counts: moved < STEADY,
        heads: heads as OverloadPair['heads'],
      };
      results.push(pair);
      writeFileSync(join(directory, 'pairs.json'), `${JSON.stringify(results, undefined, 1)}\n`);
      say(`moved by ${percent(moved)}: ${pair.counts ? 'counts' : 'does not count'}`);
      before = after;
    }
    return results;
  } finally {
    await engine.stop();
  }
}

function percent(part: number): string {
  return `${(part * 100).toFixed(1)} %`;
}

function headText(arm: Arm, { stages, total, invalid }: RunHead): string {
  const shares = stages.map(
    (stage) =>
      `${stage.stage} ${percent(share(stage, 'deliveredByHorizon'))} delivered, ${percent(share(stage, 'deliveredByDeadline'))} on time, ${(stage.attempts / stage.calls).toFixed(2)} attempts a call`,
  );
  const executions = arm === 'gateway' ? `; ${amplification(total).toFixed(3)} executions a call` : '';
  return `${arm}: ${shares.join('; ')}${executions}${invalid.map((why) => `; INVALID: ${why}`).join('')}`;
}

function share(stage: StageOutcome, figure: 'deliveredByHorizon' | 'deliveredByDeadline'): number {
  return stage[figure] / stage.calls;
}

/** Executions a call that the gateway may make. */
const MOST_EXECUTIONS = 1.05;

/** Whether a pulse or hold call did not come back by the horizon, or work was done twice. */
export function lostThroughGateway({ heads }: OverloadPair): boolean {
  const { stages, total } = heads.gateway;
  const whole = stages.slice(1).every((stage) => stage.deliveredByHorizon === stage.calls);
  return !whole || amplification(total) > MOST_EXECUTIONS;
}

/** The pairs as rows of a table in Markdown. */
export function overloadTable(pairs: readonly OverloadPair[]): string {
  const head =
    '| seed | Ĉ before, after | counts | | pulse delivered | hold delivered | hold within its deadline | attempts a hold call | executions a call |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n';
  const rows = pairs.flatMap(({ seed, before, after, counts, heads }) =>
    ARMS.map((arm) => {
      const { stages, total } = heads[arm];
      const [, pulse, hold] = stages;
      if (pulse === undefined || hold === undefined) return '';
      const cells = [
        String(seed),
        `${before.toFixed(2)}, ${after.toFixed(2)}`,
        counts ? 'yes' : 'no',
        arm,
        percent(share(pulse, 'deliveredByHorizon')),
        percent(share(hold, 'deliveredByHorizon')),
        percent(share(hold, 'deliveredByDeadline')),
        (hold.attempts / hold.calls).toFixed(2),
        // Straight, every attempt that reaches the engine is an execution.
        amplification(arm === 'gateway' ? total : { ...total, executions: undefined }).toFixed(3),
      ];
      return `| ${cells.join(' | ')} |\n`;
    }),
  );
  return head + rows.join('');
}
