/** What the recording scheduler writes of the real engine's steps, and the machine's pace read off them. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stepMs } from '../../src/core/engine/cost.js';
import { type Fit, fitCost, type StepSample } from '../../src/core/engine/fit.js';
import { ROOT } from '../support/root.js';
import { CACHE, type Engine, startEngine } from './engine.js';

const STEPS = join(CACHE, 'steps.csv');
const STEPS_A_SAMPLE = 10;

/** An engine whose scheduler writes down every step, one at a time. */
export function startRecordingEngine(): Promise<Engine> {
  return startEngine(['--scheduler-cls', 'step_recorder.StepRecorder', '--no-async-scheduling'], {
    PYTHONPATH: join(ROOT, 'tests', 'vllm'),
    HOLDFAST_STEPS: STEPS,
  });
}

/** All steps since the recording engine's start. */
export function recorded(): readonly StepSample[] {
  const [, ...lines] = readFileSync(STEPS, 'utf8').trimEnd().split('\n');
  return lines.map((line) => {
    const [tokens = 0, prefillPairs = 0, decodeContext = 0, ms = 0] = line.split(',').map(Number);
    return { tokens, prefillPairs, decodeContext, ms };
  });
}

/**
 * Steps of like load become samples of their mean, one for every ten of them, since the mean of more is surer. Least
 * squares of relative errors would follow the fast ones among them, and what a server serves follows the mean.
 */
export function averaged(steps: readonly StepSample[]): readonly StepSample[] {
  const cells = new Map<string, StepSample[]>();
  const place = (value: number, perDoubling: number): number =>
    Math.round(Math.log2(1 + value) * perDoubling);
  for (const step of steps) {
    const key = [place(step.tokens, 4), place(step.prefillPairs, 2), place(step.decodeContext, 2)].join();
    const cell = cells.get(key);
    if (cell === undefined) cells.set(key, [step]);
    else cell.push(step);
  }
  return [...cells.values()]
    .filter((cell) => cell.length > 2)
    .flatMap((cell) => {
      const mean = (of: (step: StepSample) => number): number =>
        cell.reduce((sum, step) => sum + of(step), 0) / cell.length;
      const sample = {
        tokens: mean((step) => step.tokens),
        prefillPairs: mean((step) => step.prefillPairs),
        decodeContext: mean((step) => step.decodeContext),
        ms: mean((step) => step.ms),
      };
      return Array.from({ length: Math.ceil(cell.length / STEPS_A_SAMPLE) }, () => sample);
    });
}

export function formOverMeasured({ cost }: Pick<Fit, 'cost'>, steps: readonly StepSample[]): number {
  const form = steps.reduce((sum, step) => sum + stepMs(cost, step), 0);
  return form / steps.reduce((sum, { ms }) => sum + ms, 0);
}

/** Turns of fitting the form and the paces by each other. */
const TURNS = 40;

/**
 * How fast the machine was during each span of steps, their mean being 1: the time that a form gives to the span's
 * steps over the time that they took. What the steps held, and so what a gateway let in, is in the form. Form and paces
 * are fitted together, since a slow span of large steps would else be a form in which large steps are dear.
 */
export function paces(spans: readonly (readonly StepSample[])[]): readonly number[] {
  let found = spans.map(() => 1);
  for (let turn = 0; turn < TURNS; turn += 1) {
    const atOnePace = spans.map((steps, at) =>
      steps.map(({ tokens, prefillPairs, decodeContext, ms }) => ({
        tokens,
        prefillPairs,
        decodeContext,
        ms: ms * (found[at] as number),
      })),
    );
    const fit = fitCost(averaged(atOnePace.flat()));
    const next = atOnePace.map((steps, at) => (found[at] as number) * formOverMeasured(fit, steps));
    const mean = next.reduce((sum, pace) => sum + pace, 0) / next.length;
    found = next.map((pace) => pace / mean);
  }
  return found;
}
