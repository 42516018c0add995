/**
 * That the engine model holds no more after four hours than after half an hour: 140 clients that give up after
 * 120 s and come anew, in virtual time, and the heap at growing moments. Usage: npm run bench:memory
 */

import { Random } from '../src/core/chance/random.js';
import { Engine } from '../src/core/engine/engine.js';
import { profile } from '../src/core/engine/profiles.js';
import { Prompt } from '../src/core/engine/tokens.js';
import { VirtualClock } from '../src/core/time/virtual-clock.js';

const CLIENTS = 140;
const DEADLINE_MS = 120_000;
const MOMENTS_S = [1_790, 3_580, 7_160, 14_320];

const clock = new VirtualClock();
const random = new Random(1, 'memory');
const { cost, numGpuBlocks } = profile('qwen2.5-7b');
const engine = new Engine({ clock, cost, options: { numGpuBlocks } });
let executions = 0;

function add(): void {
  executions += 1;
  const prompt = Prompt.ofSegments([
    [1, 2_000],
    [executions + 1, random.integer(8_800, 11_200)],
  ]);
  const request = { id: `e${executions}`, prompt, maxTokens: random.integer(100, 500) };
  const execution = engine.add(request, (_, ended) => {
    if (ended === undefined) return;
    cancel();
    add();
  });
  const cancel = clock.after(DEADLINE_MS, () => {
    engine.abort(execution);
    add();
  });
}

for (let client = 0; client < CLIENTS; client += 1) add();
for (const seconds of MOMENTS_S) {
  clock.runUntil(seconds * 1_000);
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  const [heap, buffers] = [heapUsed, arrayBuffers].map((bytes) => `${(bytes / 1e6).toFixed(1)} MB`);
  process.stdout.write(
    `${seconds} s: ${executions} executions, ${engine.counters.truth.steps} steps; heap ${heap}, buffers ${buffers}\n`,
  );
}
