/** What holds of the engine whatever arrives, leaves and is set: laws over many seeds. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forEachSeed } from '../../../tests/support/seeds.js';
import { Random } from '../chance/random.js';
import { VirtualClock } from '../time/virtual-clock.js';
import { Engine } from './engine.js';
import type { Execution } from './execution.js';
import type { EngineOptions } from './options.js';
import { linearCost } from './profiles.js';
import type { Step } from './step.js';
import type { Stretch } from './stretch.js';
import { Prompt } from './tokens.js';
import { type TraceEvent, traceLine } from './trace.js';

interface Run {
  readonly engine: Engine;
  readonly options: EngineOptions;
  readonly trace: readonly TraceEvent[];
  /** Ends as clients heard them. */
  readonly heard: ReadonlyMap<Execution, readonly string[]>;
  readonly executions: readonly Execution[];
  readonly left: ReadonlySet<Execution>;
  readonly issued: readonly number[];
  readonly processed: readonly number[];
}

function drawOptions(random: Random): Partial<EngineOptions> {
  const blockSize = [8, 16, 32][random.integer(0, 2)] as number;
  return {
    blockSize,
    numGpuBlocks: Math.ceil(random.integer(700, 4_000) / blockSize) + 1,
    maxNumBatchedTokens: random.integer(16, 512),
    maxNumSeqs: random.integer(1, 24),
    maxModelLen: 1_024,
    schedulingPolicy: random.uniform() < 0.5 ? 'fcfs' : 'priority',
    enablePrefixCaching: random.uniform() < 0.8,
    asyncScheduling: random.uniform() < 0.7,
  };
}

/** Checks what must hold after every schedule and update. */
class Watch {
  engine: Engine | undefined;
  readonly issued: number[] = [];
  readonly processed: number[] = [];
  readonly #live = new Set<Execution>();

  added(execution: Execution): void {
    this.#live.add(execution);
  }

  scheduled(step: Step): void {
    const { options, scheduler } = this.#engine();
    assert.ok(step.total <= options.maxNumBatchedTokens, `a step of ${step.total} tokens`);
    assert.equal(
      step.total,
      step.tokens.reduce((sum, tokens) => sum + tokens, 0),
    );
    assert.ok(scheduler.running <= options.maxNumSeqs, `${scheduler.running} run`);
    assert.ok(step.preempted.length === 0 || step.admitted.length === 0, 'admitted in a step that preempted');
    this.issued.push(step.number);
    this.#blocksBalance();
  }

  updated(step: Step): void {
    this.processed.push(step.number);
    this.#blocksBalance();
    this.#tokensBalance();
  }

  #blocksBalance(): void {
    const { pool } = this.#engine().scheduler.kv;
    const users = new Map<Stretch, number>();
    let held = 0;
    for (const { blocks } of this.#live) {
      held += blocks.length - blocks.remembered;
      for (const stretch of blocks.parts()) {
        if (!users.has(stretch)) held += stretch.length;
        users.set(stretch, (users.get(stretch) ?? 0) + 1);
      }
    }
    assert.equal(pool.free + held, pool.usable, 'blocks are lost or held twice');
    for (const [stretch, count] of users) assert.equal(stretch.users, count, 'a stretch miscounts its users');
  }

  #tokensBalance(): void {
    const { truth, vllm } = this.#engine().counters;
    assert.equal(
      truth.computedPromptTokens,
      vllm.promptTokensComputed +
        truth.hiddenPromptTokens +
        truth.recomputedPromptTokens +
        truth.pendingPromptTokens,
      'computed is not counted + hidden + recomputed + pending',
    );
  }

  #engine(): Engine {
    assert.ok(this.engine !== undefined);
    return this.engine;
  }
}

const runs = new Map<number, Run>();

/** The run of a seed, made once for all laws. */
function runOf(seed: number): Run {
  const made = runs.get(seed) ?? run(seed);
  runs.set(seed, made);
  return made;
}

function run(seed: number): Run {
  const random = new Random(seed, 'engine laws');
  const clock = new VirtualClock();
  const trace: TraceEvent[] = [];
  const watch = new Watch();
  const engine = new Engine({
    clock,
    cost: linearCost(random.between(1, 10), random.between(0, 0.1)),
    options: drawOptions(random),
    trace: (event) => trace.push(event),
    observer: watch,
  });
  watch.engine = engine;
  const heard = new Map<Execution, string[]>();
  const executions: Execution[] = [];
  const left = new Set<Execution>();
  const spread = random.between(100, 2_000);
  for (let number = 0; number < 60; number += 1) {
    const shared = random.uniform() < 0.5 ? random.integer(1, 300) : 0;
    const own = random.integer(1, 300);
    const maxTokens = random.integer(1, 80);
    const request = {
      id: `e${number}`,
      prompt: Prompt.ofSegments(
        shared > 0
          ? [
              [1, shared],
              [number + 2, own],
            ]
          : [[number + 2, own]],
      ),
      maxTokens,
      priority: random.integer(0, 3),
      ...(random.uniform() < 0.3 ? { stopAfter: random.integer(1, 80) } : {}),
    };
    const patience = random.uniform() < 0.4 ? random.between(0, spread) : undefined;
    clock.after(random.between(0, spread), () => {
      const execution = engine.add(request, (each, ended) => {
        assert.ok(!left.has(each), `${each.id} is heard after its client left`);
        heard.set(each, [...(heard.get(each) ?? []), ended ?? 'token']);
      });
      executions.push(execution);
      if (patience === undefined) return;
      clock.after(patience, () => {
        if (execution.finishReason !== undefined) return;
        left.add(execution);
        engine.abort(execution);
      });
    });
  }
  for (let events = 0; clock.step(); events += 1)
    assert.ok(events < 200_000, 'the engine never comes to rest');
  return {
    engine,
    options: engine.options,
    trace,
    heard,
    executions,
    left,
    issued: watch.issued,
    processed: watch.processed,
  };
}

test('blocks, budgets and tokens balance after every step, and no step is lost', () => {
  forEachSeed(200, (seed) => {
    const { engine, issued, processed } = runOf(seed);
    assert.deepEqual(processed, issued);
    assert.deepEqual([engine.live, engine.scheduler.running, engine.scheduler.waiting], [0, 0, 0]);
    assert.equal(engine.counters.truth.pendingPromptTokens, 0);
    assert.equal(engine.scheduler.kv.pool.free, engine.scheduler.kv.pool.usable);
  });
});

test('every execution ends once: finished with the tokens it was due, or aborted', () => {
  forEachSeed(200, (seed) => {
    const { trace, heard, executions, left } = runOf(seed);
    for (const execution of executions) {
      const ends = trace.filter(
        ({ event, id }) => id === execution.id && (event === 'finished' || event === 'aborted'),
      );
      assert.deepEqual(
        ends.map(({ event }) => event),
        [left.has(execution) ? 'aborted' : 'finished'],
      );
      if (left.has(execution)) continue;
      const due = Math.min(execution.maxTokens, execution.request.stopAfter ?? execution.maxTokens);
      const tokens = heard.get(execution) ?? [];
      assert.equal(tokens.length, due);
      assert.deepEqual(new Set(tokens.slice(0, -1)), new Set(due > 1 ? ['token'] : []));
    }
  });
});

test('counted from the trace alone, each execution’s computed tokens are counted or hidden', () => {
  forEachSeed(200, (seed) => {
    const { engine, trace, executions } = runOf(seed);
    let [computed, hidden, inFlight] = [0, 0, 0];
    for (const { id, promptTokens } of executions) {
      const events = trace.filter((event) => event.id === id);
      let mine = 0;
      for (const event of events) {
        if (event.event === 'scheduled') {
          mine += Math.min(promptTokens, event.base + event.tokens) - Math.min(promptTokens, event.base);
        }
        if (event.event === 'aborted') {
          const { computedTokens, inFlightTokens } = event;
          inFlight +=
            Math.min(promptTokens, computedTokens) - Math.min(promptTokens, computedTokens - inFlightTokens);
        }
      }
      computed += mine;
      const last = events.at(-1);
      assert.ok(last?.event === 'finished' || last?.event === 'aborted');
      assert.equal(last.promptComputedTokens, mine);
      if (!events.some(({ event }) => event === 'first_token')) hidden += mine;
    }
    const { truth } = engine.counters;
    assert.deepEqual(
      [truth.computedPromptTokens, truth.hiddenPromptTokens, truth.inFlightPromptTokensAtAbort],
      [computed, hidden, inFlight],
    );
  });
});

test('under fcfs, executions are first scheduled in the order they were queued', () => {
  forEachSeed(200, (seed) => {
    const { options, trace } = runOf(seed);
    if (options.schedulingPolicy !== 'fcfs') return;
    const first = new Set(trace.filter(({ event }) => event === 'scheduled').map(({ id }) => id));
    const queued = trace.filter(({ event, id }) => event === 'queued' && first.has(id)).map(({ id }) => id);
    assert.deepEqual([...first], queued);
  });
});

test('one seed gives one trace, byte for byte', () => {
  forEachSeed(10, (seed) => {
    const texts = [run(seed), run(seed)].map(({ trace }) => trace.map(traceLine).join('\n'));
    assert.equal(texts[0], texts[1]);
    assert.match(texts[0] ?? '', /^\{"event":"queued","at_ms":\d/);
  });
});
