/** A load whose steps span what a step can be: chunks of all sizes, batches of decodes, both; for the fit. */

import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../../src/core/chance/random.js';
import { complete } from './calls.js';
import { sizes } from './ladder.js';

const PROMPTS = [8, 16, 32, 48, 80, 128, 192, 256, 400, 800, 1600];
const BATCHES = [1, 2, 4, 8, 16, 24, 32, 48, 64];
/** Contexts of decoding sequences; 64 of the longest fit the engine's blocks. */
const CONTEXTS = [16, 150, 400];
const MIXED = [4, 12, 24, 40];
const MIXED_MS = 6_000;

async function prefills(engine: string): Promise<void> {
  for (const tokens of PROMPTS) for (let count = 0; count < 4; count += 1) await complete(engine, tokens, 1);
}

async function decodes(engine: string): Promise<void> {
  for (const context of CONTEXTS) {
    for (const batch of BATCHES) {
      await Promise.all(Array.from({ length: batch }, () => complete(engine, context, 16)));
    }
  }
}

/** Keeps `held` calls of the workload at the engine for `ms`; answers how many were finished. */
export async function keepFull(engine: string, held: number, ms: number): Promise<number> {
  const random = new Random(held, 'mixed');
  const over = new AbortController();
  let finished = 0;
  const client = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const { promptTokens, answerTokens } = sizes(random);
      if (await complete(engine, promptTokens, answerTokens, over.signal)) finished += 1;
    }
  };
  const clients = Array.from({ length: held }, client);
  await sleep(ms);
  const count = finished;
  over.abort();
  await Promise.all(clients);
  return count;
}

/** More than the engine's blocks hold, so that some wait. */
const FULL = 80;
const FULL_MS = 12_000;

/** Fills the engine twice, since its first calls are slow; answers what it served the second time, calls a second. */
export async function servedWhenFull(engine: string): Promise<number> {
  await keepFull(engine, FULL, FULL_MS);
  return ((await keepFull(engine, FULL, FULL_MS)) * 1000) / FULL_MS;
}

/** Plays it all twice, so that a slow minute of the machine strikes no one kind alone. */
export async function spanSteps(engine: string): Promise<void> {
  for (let round = 0; round < 2; round += 1) {
    await prefills(engine);
    await decodes(engine);
    for (const held of MIXED) await keepFull(engine, held, MIXED_MS);
  }
}
