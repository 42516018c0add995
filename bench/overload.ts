/**
 * How much of a core a run of the published overload in virtual time takes, and what it comes to: clients that
 * give up after 120 s, retry up to three times and cancel what they leave, straight at one engine. The first run
 * warms up and is not shown. Usage: npm run bench:overload
 */

import { exponential, lognormal } from '../src/core/chance/distributions.js';
import { Random } from '../src/core/chance/random.js';
import { Engine } from '../src/core/engine/engine.js';
import type { Execution } from '../src/core/engine/execution.js';
import { profile } from '../src/core/engine/profiles.js';
import { Prompt } from '../src/core/engine/tokens.js';
import { RANK } from '../src/core/time/clock.js';
import { VirtualClock } from '../src/core/time/virtual-clock.js';

const SECOND = 1_000;
const CAPACITY = 2.78;
const STAGES = [
  { seconds: 120, rate: 0.6 },
  { seconds: 107, rate: 2.7 },
  { seconds: 720, rate: 0.6 },
] as const;
const DEADLINE_MS = 120 * SECOND;
const RETRIES = 3;
const SETTLED_MS = 1_790 * SECOND;

interface Call {
  readonly prompt: Prompt;
  readonly maxTokens: number;
  readonly plannedAt: number;
  readonly hold: boolean;
  deliveredAt: number | undefined;
}

function plan(random: Random): Call[] {
  const calls: Call[] = [];
  const [arrivals, sizes] = [random.stream('arrivals'), random.stream('sizes')];
  let from = 0;
  for (const [stage, { seconds, rate }] of STAGES.entries()) {
    const end = from + seconds * SECOND;
    const gap = (): number => exponential(arrivals, SECOND / (rate * CAPACITY));
    for (let at = from + gap(); at < end; at += gap()) {
      const own = sizes.integer(10_800, 13_200) - 2_000;
      const prompt = Prompt.ofSegments([
        [1, 2_000],
        [calls.length + 2, own],
      ]);
      const maxTokens = Math.max(1, Math.round(lognormal(sizes, 300, 0.5)));
      calls.push({ prompt, maxTokens, plannedAt: at, hold: stage === 2, deliveredAt: undefined });
    }
    from = end;
  }
  return calls;
}

function attempt(call: Call, number: number, engine: Engine, clock: VirtualClock, waits: Random): void {
  const execution: Execution = engine.add(
    { id: `${call.plannedAt}/${number}`, prompt: call.prompt, maxTokens: call.maxTokens },
    (_, ended) => {
      if (ended === undefined) return;
      cancel();
      call.deliveredAt = clock.now();
    },
  );
  const giveUp = (): void => {
    engine.abort(execution);
    if (number === RETRIES) return;
    clock.after(waits.between(250, 3_000), () => attempt(call, number + 1, engine, clock, waits), RANK.retry);
  };
  const cancel = clock.after(DEADLINE_MS, giveUp, RANK.deadline);
}

function run(seed: number): { engine: Engine; calls: Call[]; cpuMs: number } {
  const began = process.cpuUsage();
  const random = new Random(seed);
  const clock = new VirtualClock();
  const { cost, numGpuBlocks } = profile('qwen2.5-7b');
  const engine = new Engine({ clock, cost, options: { numGpuBlocks } });
  const calls = plan(random);
  const waits = random.stream('waits');
  for (const call of calls) clock.after(call.plannedAt, () => attempt(call, 0, engine, clock, waits));
  clock.runUntil(SETTLED_MS);
  return { engine, calls, cpuMs: process.cpuUsage(began).user / 1_000 };
}

const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`;

run(1);
for (const seed of [1, 2, 3]) {
  const { engine, calls, cpuMs } = run(seed);
  const hold = calls.filter((call) => call.hold);
  const delivered = hold.filter(
    ({ deliveredAt, plannedAt }) => (deliveredAt ?? Infinity) <= plannedAt + 840 * SECOND,
  );
  const { truth } = engine.counters;
  process.stdout.write(
    `seed ${seed}: ${cpuMs.toFixed(0)} ms of one core for ${truth.steps} steps; hold delivered ${percent(delivered.length, hold.length)}; ` +
      `of the computed prompt tokens ${percent(truth.abortedPromptTokens, truth.computedPromptTokens)} aborted later ` +
      `(${percent(truth.inFlightPromptTokensAtAbort, truth.abortedPromptTokens)} of them in flight), ` +
      `${percent(truth.hiddenPromptTokens, truth.computedPromptTokens)} never counted\n`,
  );
}
