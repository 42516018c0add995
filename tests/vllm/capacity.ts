/** Ĉ of a running server and of the twin's engine, by the same ladder. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { StepCost } from '../../src/core/engine/cost.js';
import { Engine } from '../../src/core/engine/engine.js';
import { Prompt } from '../../src/core/engine/tokens.js';
import { VirtualClock } from '../../src/core/time/virtual-clock.js';
import { complete } from './calls.js';
import { ENGINE_OPTIONS, idle, readMeter } from './engine.js';
import { type Call, type Capacity, decided, judged, ladder, type Reading, SHARED_TOKENS } from './ladder.js';

const READ_EVERY_MS = 500;
const TRIES = 4;
const LOWER = 0.85;

type Play = (first: number) => Promise<readonly Reading[]> | readonly Reading[];

/** Plays ladders from `first` calls a second, lower ones while their first stage is too fast already. */
async function found(first: number, play: Play): Promise<Capacity> {
  for (let tries = 0, from = first; tries < TRIES; tries += 1) {
    const verdict = judged(from, await play(from));
    if (typeof verdict === 'object') return verdict;
    from *= verdict === 'too fast' ? LOWER : 1 / LOWER;
  }
  throw new Error(`no rate near ${first.toFixed(1)} calls/s made the waiting gauge grow and another not`);
}

export async function serverCapacity(engine: string, first: number): Promise<Capacity> {
  return await found(first, async (from) => await playOnServer(engine, from));
}

async function playOnServer(engine: string, first: number): Promise<readonly Reading[]> {
  await idle(engine);
  const over = new AbortController();
  const readings: Reading[] = [];
  const calls: Promise<void>[] = [];
  const plan = ladder(first);
  const startedAt = performance.now();
  const elapsed = (): number => performance.now() - startedAt;
  let finished = 0;
  let sent = 0;
  const call = async ({ promptTokens, answerTokens }: Call): Promise<void> => {
    if (await complete(engine, promptTokens, answerTokens, over.signal)) finished += 1;
  };
  const send = async (): Promise<void> => {
    while (!over.signal.aborted && sent < plan.length) {
      for (let next = plan[sent]; next !== undefined && next.atMs <= elapsed(); next = plan[sent]) {
        sent += 1;
        calls.push(call(next));
      }
      await sleep(5);
    }
  };
  const sending = send();
  while (!decided(first, readings, elapsed())) {
    await sleep(READ_EVERY_MS);
    const { waiting } = await readMeter(engine);
    readings.push({ atMs: elapsed(), waiting, finished });
  }
  over.abort();
  await sending;
  await Promise.all(calls);
  await idle(engine);
  return readings;
}

export async function twinCapacity(cost: StepCost, first: number): Promise<Capacity> {
  return await found(first, (from) => playOnTwin(cost, from));
}

function playOnTwin(cost: StepCost, first: number): readonly Reading[] {
  const clock = new VirtualClock();
  const engine = new Engine({ clock, cost, options: ENGINE_OPTIONS });
  const readings: Reading[] = [];
  let finished = 0;
  ladder(first).forEach(({ atMs, promptTokens, answerTokens }, at) => {
    const prompt = Prompt.ofSegments([
      [1, SHARED_TOKENS],
      [at + 2, promptTokens - SHARED_TOKENS],
    ]);
    clock.after(atMs, () => {
      engine.add({ id: `c${at}`, prompt, maxTokens: answerTokens }, (_, ended) => {
        if (ended !== undefined) finished += 1;
      });
    });
  });
  while (!decided(first, readings, clock.now())) {
    clock.runUntil(clock.now() + READ_EVERY_MS);
    readings.push({ atMs: clock.now(), waiting: engine.counters.gauges.waiting, finished });
  }
  return readings;
}
