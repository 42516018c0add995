/**
 * Fits a profile to the real vLLM from its own steps, and compares the twin's Ĉ under it with the server's.
 *
 *   npm run test:vllm -- --profile [--json FILE]
 *
 * The server's Ĉ is measured before and after the fit: the machine's pace may change, and then nothing is compared
 * but another fit made, with the Ĉ after the last one as the Ĉ before it.
 */

import { type Fit, fitCost, type StepSample } from '../../src/core/engine/fit.js';
import type { Profile } from '../../src/core/engine/profiles.js';
import { serverCapacity, twinCapacity } from './capacity.js';
import { ENGINE_OPTIONS, type Engine, MODEL, MODEL_LENGTH } from './engine.js';
import type { Capacity } from './ladder.js';
import { servedWhenFull, spanSteps } from './span.js';
import { averaged, formOverMeasured, recorded, startRecordingEngine } from './steps.js';

/** Fits tried until the server's Ĉ before and after one is the same. */
const MOST_ROUNDS = 4;
/** A ladder begins at this share of what was served last. */
const BEGIN = 0.86;
const STEADY = 0.05;
const NEAR = 0.1;

/** A fit to some of the steps, and the twin's Ĉ with it. */
interface Fitted {
  readonly steps: number;
  readonly fit: Fit;
  readonly twin: Capacity;
}

/** A ladder of the server, and what the steps of its own minutes make of the twin, whatever the pace before and after. */
interface Ladder extends Fitted {
  readonly server: Capacity;
  /** The twin's Ĉ over the server's. */
  readonly ratio: number;
  /** The time that the form fitted to all steps gives to this ladder's steps, over the measured time. */
  readonly formOverMeasured: number;
}

export interface Comparison {
  readonly profile: Profile;
  /** All steps: of the spanning load and of the ladders on both sides of it. */
  readonly all: Fitted;
  readonly spanning: Fitted;
  readonly before: Ladder;
  readonly after: Ladder;
  /** How far the server's Ĉ moved, and whether that is little enough to compare. */
  readonly moved: number;
  readonly counts: boolean;
  /** The twin's Ĉ with the fit to all steps over the mean of the server's two. */
  readonly ratio: number;
  readonly near: boolean;
}

async function fitted(steps: readonly StepSample[], first: number): Promise<Fitted> {
  const fit = fitCost(averaged(steps));
  return { steps: steps.length, fit, twin: await twinCapacity(fit.cost, first) };
}

/** One fit between two measurements of the server's Ĉ; `marks` are where the three phases begin among the steps. */
async function compare(
  [begun, left, back]: readonly [number, number, number],
  before: Capacity,
  after: Capacity,
): Promise<Comparison> {
  const steps = recorded();
  const first = before.perSecond * BEGIN;
  const all = await fitted(steps.slice(begun), first);
  const ladderOf = async (own: readonly StepSample[], server: Capacity): Promise<Ladder> => {
    const its = await fitted(own, server.perSecond * BEGIN);
    const ratio = its.twin.perSecond / server.perSecond;
    return { ...its, server, ratio, formOverMeasured: formOverMeasured(all.fit, own) };
  };
  const moved = Math.abs(after.perSecond / before.perSecond - 1);
  const ratio = all.twin.perSecond / ((before.perSecond + after.perSecond) / 2);
  return {
    profile: {
      name: 'vllm-cpu',
      model: MODEL,
      cost: all.fit.cost,
      numGpuBlocks: (ENGINE_OPTIONS.numGpuBlocks * ENGINE_OPTIONS.blockSize) / 16,
      maxModelLen: MODEL_LENGTH,
    },
    all,
    spanning: await fitted(steps.slice(left, back), first),
    before: await ladderOf(steps.slice(begun, left), before),
    after: await ladderOf(steps.slice(back), after),
    moved,
    counts: moved < STEADY,
    ratio,
    near: Math.abs(ratio - 1) <= NEAR,
  };
}

async function measure(engine: Engine, say: (text: string) => void): Promise<Comparison> {
  say('a full engine, to warm up and to learn where to begin');
  const full = await servedWhenFull(engine.url);
  let begun = recorded().length;
  let before = await serverCapacity(engine.url, full * BEGIN);
  say(`Ĉ: ${words(before)}`);
  for (let round = 1; ; round += 1) {
    const left = recorded().length;
    await spanSteps(engine.url);
    const back = recorded().length;
    const after = await serverCapacity(engine.url, before.perSecond * BEGIN);
    say(`Ĉ: ${words(after)}`);
    const comparison = await compare([begun, left, back], before, after);
    if (comparison.counts || round === MOST_ROUNDS) return comparison;
    say(`moved by ${percent(comparison.moved)}: once more\n${told(comparison)}`);
    [begun, before] = [back, after];
  }
}

/** Starts a recording engine, measures and stops it. */
export async function profileAgainstTwin(say: (text: string) => void): Promise<Comparison> {
  const engine = await startRecordingEngine();
  try {
    return await measure(engine, say);
  } finally {
    await engine.stop();
  }
}

function words({ perSecond, servedPerSecond }: Capacity): string {
  return `${perSecond.toFixed(2)} calls/s, ${servedPerSecond.toFixed(2)} served when never idle`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

function wordsOf({ steps, fit, twin }: Fitted): string {
  return `${words(twin)} (${steps} steps, residuals: mean ${percent(fit.meanResidual)}, largest ${percent(fit.maxResidual)})`;
}

/** The comparison in lines of text. */
export function told(comparison: Comparison): string {
  const { profile, all, spanning, before, after, moved, counts, ratio, near } = comparison;
  const verdict = near ? 'within 10 %' : 'not within 10 %';
  return [
    `profile: ${JSON.stringify(profile)}`,
    `server's Ĉ before: ${words(before.server)}`,
    `server's Ĉ after:  ${words(after.server)}; moved by ${percent(moved)}`,
    `twin's Ĉ, fitted to all steps: ${wordsOf(all)}`,
    `  to the spanning load's alone: ${wordsOf(spanning)}`,
    `  to those of the ladder before alone: ${wordsOf(before)}; over the server's ${before.ratio.toFixed(3)}`,
    `  to those of the ladder after alone: ${wordsOf(after)}; over the server's ${after.ratio.toFixed(3)}`,
    `the form fitted to all steps, over the measured time: ${before.formOverMeasured.toFixed(3)} before, ${after.formOverMeasured.toFixed(3)} after`,
    `twin over server: ${ratio.toFixed(3)}; ${counts ? verdict : 'does not count, the server moved by 5 % or more'}`,
  ].join('\n');
}
