/**
 * How much processor time a run of the published overload in virtual time takes, and what it comes to: clients that
 * give up after 120 s, retry up to three times and cancel what they leave, straight at one engine. The first run of
 * a fresh process compiles as it goes and is shown apart from later ones; time of all threads counts, compiler and
 * collector included, and the time that went by, which they share, beside it. Other work on the machine makes runs slower and none faster, so the least says most.
 * Usage: npm run bench:overload [-- REPEATS], 9 unless told.
 */

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
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

interface Run {
  readonly engine: Engine;
  readonly calls: Call[];
  readonly cpuMs: number;
  readonly elapsedMs: number;
}

function run(seed: number): Run {
  const began = process.cpuUsage();
  const beganAt = performance.now();
  const random = new Random(seed);
  const clock = new VirtualClock();
  const { cost, numGpuBlocks } = profile('qwen2.5-7b');
  const engine = new Engine({ clock, cost, options: { numGpuBlocks } });
  const calls = plan(random);
  const waits = random.stream('waits');
  for (const call of calls) clock.after(call.plannedAt, () => attempt(call, 0, engine, clock, waits));
  clock.runUntil(SETTLED_MS);
  const { user, system } = process.cpuUsage(began);
  return { engine, calls, cpuMs: (user + system) / 1_000, elapsedMs: performance.now() - beganAt };
}

/** The first runs of as many fresh processes. */
function firstRuns(seed: number, count: number): Pick<Run, 'cpuMs' | 'elapsedMs'>[] {
  const own = fileURLToPath(import.meta.url);
  return Array.from({ length: count }, () => {
    const [cpuMs, elapsedMs] = execFileSync(process.execPath, [own, 'once', String(seed)], {
      encoding: 'utf8',
    })
      .split(' ')
      .map(Number);
    return { cpuMs: cpuMs ?? Number.NaN, elapsedMs: elapsedMs ?? Number.NaN };
  });
}

const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`;

/** The least and the median, of processor time and of time gone by. */
function times(runs: readonly Pick<Run, 'cpuMs' | 'elapsedMs'>[]): string {
  const text = (each: readonly number[]): string => {
    const sorted = each.toSorted((a, b) => a - b);
    return `${sorted[0]?.toFixed(0)} ms at least, ${sorted[sorted.length >> 1]?.toFixed(0)} in the median`;
  };
  const [cpu, elapsed] = [runs.map(({ cpuMs }) => cpuMs), runs.map(({ elapsedMs }) => elapsedMs)];
  return `processor ${text(cpu)}; gone by ${text(elapsed)}; of ${runs.length}`;
}

function show(seed: number, repeats: number): void {
  const first = firstRuns(seed, Math.ceil(repeats / 2));
  const runs = Array.from({ length: repeats }, () => run(seed)).toSorted((a, b) => a.cpuMs - b.cpuMs);
  const { engine, calls, cpuMs } = runs[0] as Run;
  const hold = calls.filter((call) => call.hold);
  const delivered = hold.filter(
    ({ deliveredAt, plannedAt }) => (deliveredAt ?? Infinity) <= plannedAt + 840 * SECOND,
  );
  const { truth } = engine.counters;
  process.stdout.write(
    `seed ${seed}, ${truth.steps} steps, ${truth.executionsReceived} executions\n` +
      `  first run of a process: ${times(first)}\n` +
      `  later runs: ${times(runs)}; ` +
      `${((1_000 * cpuMs) / truth.steps).toFixed(1)} µs a step, ${((SETTLED_MS / cpuMs) | 0).toLocaleString('en')} times as fast as time\n` +
      `  hold delivered ${percent(delivered.length, hold.length)}; ` +
      `of the computed prompt tokens ${percent(truth.abortedPromptTokens, truth.computedPromptTokens)} aborted later ` +
      `(${percent(truth.inFlightPromptTokensAtAbort, truth.abortedPromptTokens)} of them in flight), ` +
      `${percent(truth.hiddenPromptTokens, truth.computedPromptTokens)} never counted\n`,
  );
}

const [mode, seed] = process.argv.slice(2);
if (mode === 'once') {
  const { cpuMs, elapsedMs } = run(Number(seed));
  process.stdout.write(`${cpuMs} ${elapsedMs}`);
} else {
  const repeats = Number(mode ?? 9);
  if (!Number.isInteger(repeats) || repeats < 1)
    throw new RangeError(`REPEATS must be a whole number from 1, not ${mode}`);
  for (const each of [1, 2, 3]) show(each, repeats);
}
