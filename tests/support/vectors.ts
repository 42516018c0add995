/** Replays a recorded scheduler scenario on our engine and tells where the two first part. */

import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { Engine } from '../../src/core/engine/engine.js';
import type { Execution } from '../../src/core/engine/execution.js';
import { linearCost } from '../../src/core/engine/profiles.js';
import type { Step } from '../../src/core/engine/step.js';
import { Prompt } from '../../src/core/engine/tokens.js';
import { RANK } from '../../src/core/time/clock.js';
import { VirtualClock } from '../../src/core/time/virtual-clock.js';

export interface Scenario {
  readonly seed: number;
  readonly config: {
    readonly block_size: number;
    readonly num_gpu_blocks: number;
    readonly max_num_batched_tokens: number;
    readonly max_num_seqs: number;
    readonly policy: 'fcfs' | 'priority';
    readonly enable_prefix_caching: boolean;
    readonly max_model_len: number;
    readonly async_scheduling: boolean;
  };
  readonly step_time: { readonly base_us: number; readonly per_token_us: number };
  readonly requests: readonly {
    readonly id: string;
    readonly at_us: number;
    readonly prompt: readonly (readonly [number, number])[];
    readonly max_tokens: number;
    readonly priority: number;
  }[];
  readonly aborts: readonly { readonly id: string; readonly at_us: number }[];
  readonly ops: readonly Readonly<Record<string, unknown>>[];
  readonly totals: {
    readonly steps: number;
    readonly prefix_cache_queries: number;
    readonly prefix_cache_hits: number;
  };
}

type Op = Record<string, unknown>;

/** The scenarios of a `.jsonl` or `.jsonl.gz` file. */
export function readScenarios(path: string): Scenario[] {
  const bytes = readFileSync(path);
  const text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Scenario);
}

function engineOf(scenario: Scenario, clock: VirtualClock, observer: Recorder): Engine {
  const { config, step_time: stepTime } = scenario;
  return new Engine({
    clock,
    cost: linearCost(stepTime.base_us, stepTime.per_token_us),
    options: {
      blockSize: config.block_size,
      numGpuBlocks: config.num_gpu_blocks,
      maxNumBatchedTokens: config.max_num_batched_tokens,
      maxNumSeqs: config.max_num_seqs,
      schedulingPolicy: config.policy,
      enablePrefixCaching: config.enable_prefix_caching,
      maxModelLen: config.max_model_len,
      asyncScheduling: config.async_scheduling,
    },
    observer,
  });
}

/** Our engine's operations on the same arrivals, aborts and step times; one clock unit is a microsecond. */
export function replay(scenario: Scenario): { ops: Op[]; totals: Scenario['totals'] } {
  const clock = new VirtualClock();
  const ops: Op[] = [];
  const recorder = new Recorder(clock, ops);
  const engine = engineOf(scenario, clock, recorder);
  recorder.engine = engine;
  const executions = new Map<string, Execution>();
  // Ranked with the ends of steps and asked for before them: what is due at a step's end comes first.
  for (const { id, at_us: at, prompt, max_tokens: maxTokens, priority } of scenario.requests) {
    const request = { id, prompt: Prompt.ofSegments(prompt), maxTokens, priority };
    clock.after(at, () => executions.set(id, engine.add(request, recorder.output)), RANK.answer);
  }
  for (const { id, at_us: at } of scenario.aborts) {
    const leave = (): void => {
      const execution = executions.get(id);
      if (execution !== undefined) engine.abort(execution);
    };
    clock.after(at, leave, RANK.answer);
  }
  // Far above the longest scenario given: a loop that never ends is a difference too.
  const most = scenario.ops.length * 4 + scenario.requests.length * 2 + 100;
  for (let count = 0; count < most && clock.step(); count += 1);
  const { prefixCacheQueries, prefixCacheHits } = engine.counters.vllm;
  const steps = engine.counters.truth.steps;
  return {
    ops,
    totals: { steps, prefix_cache_queries: prefixCacheQueries, prefix_cache_hits: prefixCacheHits },
  };
}

class Recorder {
  engine: Engine | undefined;
  readonly #clock: VirtualClock;
  readonly #ops: Op[];
  #tokens: Record<string, number> = {};
  #finished: Record<string, string> = {};

  constructor(clock: VirtualClock, ops: Op[]) {
    this.#clock = clock;
    this.#ops = ops;
  }

  added({ id }: Execution): void {
    this.#ops.push({ op: 'add', at_us: this.#clock.now(), id });
  }

  scheduled(step: Step): void {
    const scheduled = Object.fromEntries(step.executions.map(({ id }, at) => [id, step.tokens[at]]));
    this.#ops.push({
      op: 'schedule',
      step: step.number,
      at_us: this.#clock.now(),
      scheduled,
      admitted: step.admitted.map(({ id, cachedTokens }) => ({ id, cached: cachedTokens })),
      preempted: step.preempted.map(({ id }) => id).toSorted(),
      running: this.engine?.scheduler.running,
      waiting: this.engine?.scheduler.waiting,
      free_blocks: this.engine?.scheduler.kv.pool.free,
      ends_us: step.endsAt,
    });
  }

  aborting(execution: Execution): void {
    this.#ops.push({
      op: 'abort',
      at_us: this.#clock.now(),
      id: execution.id,
      status: execution.status.toUpperCase(),
      computed: execution.computed,
      in_flight: execution.inFlight,
      output: execution.outputTokens,
      preemptions: execution.preemptions,
    });
  }

  readonly output = ({ id }: Execution, ended: string | undefined): void => {
    this.#tokens[id] = (this.#tokens[id] ?? 0) + 1;
    if (ended !== undefined) this.#finished[id] = ended;
  };

  updated(step: Step): void {
    this.#ops.push({
      op: 'update',
      step: step.number,
      at_us: this.#clock.now(),
      tokens: this.#tokens,
      finished: this.#finished,
      free_blocks: this.engine?.scheduler.kv.pool.free,
    });
    this.#tokens = {};
    this.#finished = {};
  }
}

/** The first difference of a replay from its recording in words, or undefined when there is none. */
export function firstDifference(scenario: Scenario): string | undefined {
  const { ops, totals } = replay(scenario);
  for (let at = 0; at < Math.max(ops.length, scenario.ops.length); at += 1) {
    const parted = difference(`op ${at}`, scenario.ops[at], ops[at]);
    if (parted !== undefined) return `scenario ${scenario.seed}, ${parted}`;
  }
  const parted = difference('totals', scenario.totals, totals);
  return parted === undefined ? undefined : `scenario ${scenario.seed}, ${parted}`;
}

function difference(what: string, recorded: unknown, ours: unknown): string | undefined {
  const [expected, actual] = [canonical(recorded), canonical(ours)];
  return expected === actual ? undefined : `${what}\n  recorded ${expected}\n  ours     ${actual}`;
}

/** One text for equal operations; the order inside `scheduled` is the scheduler's and counts. */
function canonical(value: unknown): string {
  if (value === undefined) return 'nothing';
  const fields: [string, unknown][] = Object.entries(value as Record<string, unknown>);
  const unordered = new Set(['tokens', 'finished']);
  return JSON.stringify(
    fields.toSorted(byKey).map(([key, field]) => {
      if (typeof field !== 'object' || field === null || Array.isArray(field)) return [key, field];
      const inner: [string, unknown][] = Object.entries(field as Record<string, unknown>);
      return [key, unordered.has(key) ? inner.toSorted(byKey) : inner];
    }),
  );
}

function byKey([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}
