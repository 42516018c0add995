/** Ĉ by staged rates, the same for a server and for the twin: what is sent when, and what the waiting gauge says. */

import { lognormal } from '../../src/core/chance/distributions.js';
import { Random } from '../../src/core/chance/random.js';

export interface Call {
  readonly atMs: number;
  readonly promptTokens: number;
  readonly answerTokens: number;
}

/** The first tokens of every prompt, equal in all. */
export const SHARED_TOKENS = 64;
export const STAGE_MS = 15_000;
/** How much faster each stage is than the one before: the grain of Ĉ. */
const RATIO = 1.03;
const STAGES = 16;
/** Calls that must wait more at a stage's end than at its beginning; fewer come and go with the prompts' sizes. */
const GROWTH = 3;

/** The workload's sizes: prompts of 400 ± 40 tokens, answers lognormal around 40. */
export function sizes(random: Random): { promptTokens: number; answerTokens: number } {
  const promptTokens = random.integer(360, 440);
  return { promptTokens, answerTokens: Math.max(1, Math.round(lognormal(random, 40, 0.5))) };
}

export function ratePerSecond(first: number, stage: number): number {
  return first * RATIO ** stage;
}

/** Evenly spaced calls, stage after stage, from `first` calls a second: a chance cluster would look like growth. */
export function ladder(first: number): readonly Call[] {
  const random = new Random(1, 'ladder');
  const calls: Call[] = [];
  for (let stage = 0; stage < STAGES; stage += 1) {
    const count = Math.round((ratePerSecond(first, stage) * STAGE_MS) / 1000);
    for (let at = 0; at < count; at += 1) {
      calls.push({ atMs: (stage + at / count) * STAGE_MS, ...sizes(random) });
    }
  }
  return calls;
}

/** The gauge and the count of finished calls at a moment of the ladder. */
export interface Reading {
  readonly atMs: number;
  readonly waiting: number;
  readonly finished: number;
}

export interface Capacity {
  /** Rate of the last stage before the waiting gauge grew in two stages running, in calls a second. */
  readonly perSecond: number;
  /** Calls a second that came out of the second stage that grew, in which some always waited. */
  readonly servedPerSecond: number;
}

/** `too fast`: the first stage grew; `unknown`: no two stages running grew yet. */
export function judged(first: number, readings: readonly Reading[]): Capacity | 'too fast' | 'unknown' {
  const stages = Math.floor((readings.at(-1)?.atMs ?? 0) / STAGE_MS);
  for (let stage = 0; stage + 1 < stages; stage += 1) {
    if (!grew(readings, stage) || !grew(readings, stage + 1)) continue;
    if (stage === 0) return 'too fast';
    const within = readings.filter(
      ({ atMs }) => atMs >= (stage + 1) * STAGE_MS && atMs <= (stage + 2) * STAGE_MS,
    );
    const [from, to] = [within[0], within.at(-1)];
    if (from === undefined || to === undefined) return 'unknown';
    return {
      perSecond: ratePerSecond(first, stage - 1),
      servedPerSecond: ((to.finished - from.finished) * 1000) / (to.atMs - from.atMs),
    };
  }
  return 'unknown';
}

/** The ladder is over, or a lower one is needed. */
export function decided(first: number, readings: readonly Reading[], atMs: number): boolean {
  return atMs >= STAGES * STAGE_MS || judged(first, readings) !== 'unknown';
}

function grew(readings: readonly Reading[], stage: number): boolean {
  const quarter = (from: number): number => {
    const [low, high] = [(stage + from) * STAGE_MS, (stage + from + 0.25) * STAGE_MS];
    const within = readings.filter(({ atMs }) => atMs >= low && atMs < high);
    return within.reduce((sum, { waiting }) => sum + waiting, 0) / within.length;
  };
  return quarter(0.75) - quarter(0) > GROWTH;
}
