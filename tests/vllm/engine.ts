/**
 * Starts and stops the real vLLM that `install.py` brought in, and reads its meter.
 *
 *   node dist/tests/vllm/engine.js      (starts it, prints its address, stops it on Ctrl-C)
 */

import { spawn } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../support/root.js';

export const CACHE = process.env['HOLDFAST_VLLM_CACHE'] ?? join(ROOT, '.cache', 'vllm');
export const MODEL = 'tiny';
/** Longest prompt plus answer, in tokens. */
export const MODEL_LENGTH = 4096;
/** What the engine is told, in the twin's words; its CPU backend runs one step at a time. */
export const ENGINE_OPTIONS = {
  blockSize: 32,
  numGpuBlocks: 1000,
  maxNumBatchedTokens: 256,
  maxNumSeqs: 256,
  maxModelLen: MODEL_LENGTH,
  asyncScheduling: false,
} as const;

const START_LIMIT_MS = 300_000;
const STOP_LIMIT_MS = 10_000;
// float32 because bfloat16 is several times slower on a CPU; few KV blocks so that an execution does not find
// the prefix of every earlier one in the cache; one step at a time is what the CPU backend does anyway.
const FLAGS =
  `--served-model-name ${MODEL} --load-format dummy --dtype float32 --enforce-eager ` +
  `--block-size ${ENGINE_OPTIONS.blockSize} --num-gpu-blocks-override ${ENGINE_OPTIONS.numGpuBlocks} ` +
  `--max-num-batched-tokens ${ENGINE_OPTIONS.maxNumBatchedTokens} ` +
  `--max-num-seqs ${ENGINE_OPTIONS.maxNumSeqs} --max-model-len ${MODEL_LENGTH} --gpu-memory-utilization 0.3 --host 127.0.0.1`;
const ENVIRONMENT = { VLLM_CPU_KVCACHE_SPACE: '2', HF_HUB_OFFLINE: '1', VLLM_NO_USAGE_STATS: '1' };

export interface Engine {
  readonly url: string;
  stop(): Promise<void>;
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Waits until `url` answers 2xx; throws when `alive` says false or after `limitMs`. */
export async function answers(url: string, alive: () => boolean, limitMs: number): Promise<void> {
  const until = performance.now() + limitMs;
  while (performance.now() < until && alive()) {
    const response = await fetch(url, { signal: AbortSignal.timeout(2000) }).catch(() => undefined);
    if (response?.ok === true) return;
    await sleep(250);
  }
  throw new Error(`${url} did not answer`);
}

/** Starts the engine on a free port and resolves when it serves; its talk goes to `engine.log` in the cache. */
export async function startEngine(
  more: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<Engine> {
  const port = await freePort();
  const log = join(CACHE, 'engine.log');
  const output = openSync(log, 'w');
  const flags = [...FLAGS.split(' '), ...more, '--port', String(port)];
  const child = spawn(join(CACHE, 'engine', 'bin', 'vllm'), ['serve', join(CACHE, 'model'), ...flags], {
    detached: true,
    stdio: ['ignore', output, output],
    env: { ...process.env, ...ENVIRONMENT, ...environment },
  });
  const spawned = new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (cause) =>
      reject(new Error('no engine: run tests/vllm/install.py first', { cause })),
    );
  });
  await spawned;
  const group = child.pid as number;
  const release = killedWithUs(group);
  const stop = async (): Promise<void> => {
    await stopGroup(group);
    release();
  };
  const url = `http://127.0.0.1:${port}`;
  try {
    await answers(`${url}/health`, () => child.exitCode === null, START_LIMIT_MS);
  } catch (cause) {
    await stop();
    throw new Error(`vLLM did not start:\n${readFileSync(log, 'utf8').slice(-3000)}`, { cause });
  }
  return { url, stop };
}

/** Kills a process group when this process ends, however it ends; answers what calls that off. */
export function killedWithUs(group: number): () => void {
  const guard = spawn('sh', ['-c', `read -r _; kill -KILL -${group}`], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.unref();
  (guard.stdin as unknown as { unref(): void }).unref();
  return () => {
    guard.kill('SIGKILL');
  };
}

async function stopGroup(group: number): Promise<void> {
  const until = performance.now() + STOP_LIMIT_MS;
  signal(group, 'SIGTERM');
  while (signal(group, 0) && performance.now() < until) await sleep(100);
  signal(group, 'SIGKILL');
}

function signal(group: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, name);
  } catch {
    return false;
  }
}

/** What the engine's own meter says. */
export interface MeterReading {
  /** Prompt tokens at first scheduling. */
  readonly admittedTokens: number;
  readonly waiting: number;
  /** Waiting and running. */
  readonly inHand: number;
  /** Output tokens since the server's start. */
  readonly outputTokens: number;
}

/** The server drops a connection that was idle for 5 s, perhaps just as it is used again: a reading is asked twice. */
async function metricsText(engine: string): Promise<string> {
  const read = async (): Promise<string> => (await fetch(`${engine}/metrics`)).text();
  return read().catch(read);
}

export async function readMeter(engine: string): Promise<MeterReading> {
  const text = await metricsText(engine);
  const sum = (name: string): number =>
    [...text.matchAll(new RegExp(`^${name}\\{[^}]*\\} (\\S+)$`, 'gm'))]
      .map((match) => Number(match[1]))
      .reduce((a, b) => a + b, 0);
  const waiting = sum('vllm:num_requests_waiting');
  return {
    admittedTokens: sum('vllm:prefix_cache_queries_total'),
    waiting,
    inHand: sum('vllm:num_requests_running') + waiting,
    outputTokens: sum('vllm:generation_tokens_total'),
  };
}

/** Waits until the engine has nothing in hand, twice in a row. */
export async function idle(engine: string, limitMs = 120_000): Promise<void> {
  const until = performance.now() + limitMs;
  for (let quiet = 0; quiet < 2; ) {
    if (performance.now() > until) throw new Error('the engine did not become idle');
    quiet = (await readMeter(engine)).inHand === 0 ? quiet + 1 : 0;
    await sleep(300);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const engine = await startEngine();
  process.stdout.write(`${engine.url}\n`);
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.once(name, () => void engine.stop().then(() => process.exit(0)));
  setInterval(() => undefined, 60_000);
}
