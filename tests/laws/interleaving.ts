/** Arbitrary interleavings: few names so that calls collide, small bounds so that they are met. */

import fc from 'fast-check';
import { unreachable } from '../../src/core/assert.js';
import type { EngineLoad } from '../../src/core/control/engine-load.js';
import type { AttemptFacts, ControlEvent } from '../../src/core/control/event.js';
import type { ControlSettings, EngineOptions } from '../../src/core/control/options.js';
import type { Verdict } from '../../src/core/control/verdict.js';
import type { Failure } from '../../src/core/control/words.js';
import { AGENTS, facts } from '../support/facts.js';
import { FAILURES } from './failures.js';

/** What a body says by itself: equal bodies are equal in all of it. */
const BODIES: readonly Partial<AttemptFacts>[] = [
  { fingerprint: 'plain', model: 'm1', stream: false, bodyBytes: 10 },
  { fingerprint: 'stream', model: 'm2', prefix: 'p1', stream: true, bodyBytes: 30 },
  { fingerprint: 'stateful', model: 'm1', prefix: 'p1', stateful: true, stream: false, bodyBytes: 60 },
  { fingerprint: 'private', model: 'm3', shareable: false, stream: true, bodyBytes: 10 },
];

export type Command =
  | { readonly kind: 'arrive'; readonly facts: AttemptFacts }
  /** `pick` chooses among those that the command can be meant for; none: nothing happens. */
  | { readonly kind: 'leave' | 'handed' | 'lag'; readonly pick: number }
  | EngineCommand
  | { readonly kind: 'gauges'; readonly engine: string; readonly load: EngineLoad | undefined }
  | { readonly kind: 'time' | 'drain' | 'stop' };

type EngineCommand =
  | { readonly kind: 'first-byte'; readonly pick: number; readonly stream: boolean | undefined }
  | { readonly kind: 'finish'; readonly pick: number }
  | { readonly kind: 'chunk'; readonly pick: number; readonly bytes: number }
  | {
      readonly kind: 'fail';
      readonly pick: number;
      readonly failure: Failure;
      readonly status: number | undefined;
      readonly retryAfterMs: number | undefined;
      readonly repeatable: boolean | undefined;
    };

export interface Step {
  /** Since the step before. */
  readonly afterMs: number;
  readonly command: Command;
}

const arriving: fc.Arbitrary<AttemptFacts> = fc
  .record({
    tenant: fc.constantFrom('acme', 'acme', 'rival', 'third'),
    body: fc.constantFrom(...BODIES.slice(0, 3), ...BODIES.slice(0, 3), ...BODIES),
    /** One name at most: who brings both a key and a traceparent repeats or changes them together. */
    name: fc.constantFrom({}, {}, {}, { key: 'k1' }, { key: 'k2' }, { traceparent: 't1' }),
    retryCount: fc.constantFrom(undefined, undefined, 0, 0, 1, 1, 2, 3),
    session: fc.constantFrom(undefined, undefined, 's1', 's2'),
    class: fc.constantFrom(undefined, undefined, undefined, 'batch', 'interactive', 'interactive', 'royal'),
    maxClass: fc.constantFrom(undefined, undefined, 'interactive', 'batch'),
    userAgent: fc.constantFrom(AGENTS.python, AGENTS.python, AGENTS.codex, AGENTS.plain),
    address: fc.constantFrom('192.0.2.1', '192.0.2.2'),
    noStore: fc.constantFrom(false, false, false, false, true),
    cancelOnLeave: fc.constantFrom(false, false, false, false, false, true),
    explicitDeadlineMs: fc.constantFrom(undefined, 10_007, 20_011),
  })
  .map(({ body, name, ...brought }) => {
    const weight = brought.tenant === 'acme' ? 3 : undefined;
    return facts({ ...body, ...name, ...brought, weight });
  });

/** Little enough to be true now and then, and too much to be of this gateway alone. */
const LOADS: readonly EngineLoad[] = [
  { running: 0, waiting: 0 },
  { running: 1, waiting: 0 },
  { running: 2, waiting: 0 },
  { running: 1, waiting: 1 },
  { running: 1, waiting: 4 },
  { running: 3, waiting: 2 },
  { running: 40, waiting: 7 },
];

const pick = fc.nat({ max: 7 });

const commands: fc.Arbitrary<Command> = fc.oneof(
  { weight: 30, arbitrary: arriving.map((said) => ({ kind: 'arrive', facts: said }) as const) },
  { weight: 20, arbitrary: fc.record({ kind: fc.constant('leave' as const), pick }) },
  {
    weight: 18,
    arbitrary: fc.record({ kind: fc.constantFrom('handed' as const, 'finish' as const), pick }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('first-byte' as const),
      pick,
      stream: fc.constantFrom(undefined, undefined, true),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('lag' as const), pick }) },
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('chunk' as const),
      pick,
      bytes: fc.constantFrom(1, 30, 60, 90),
    }),
  },
  {
    weight: 6,
    arbitrary: fc
      .record({
        pick,
        failed: fc.constantFrom(...FAILURES),
        retryAfterMs: fc.constantFrom(undefined, undefined, 2_003, 90_007),
        repeatable: fc.constantFrom(undefined, undefined, undefined, false),
      })
      .map(
        ({ pick: at, failed: [failure, status], retryAfterMs, repeatable }) =>
          ({ kind: 'fail', pick: at, failure, status, retryAfterMs, repeatable }) as const,
      ),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('gauges' as const),
      engine: fc.constantFrom('one', 'one', 'a', 'a', 'b', 'nobody'),
      load: fc.constantFrom(undefined, ...LOADS, ...LOADS),
    }),
  },
  { weight: 8, arbitrary: fc.constant({ kind: 'time' } as const) },
  { weight: 1, arbitrary: fc.constantFrom({ kind: 'drain' } as const, { kind: 'stop' } as const) },
);

/** Every step has a moment of its own, so that what is due never ties with another call's by construction. */
const afterMs = fc.constantFrom(
  1,
  1,
  1,
  2,
  11,
  53,
  97,
  241,
  499,
  877,
  1_511,
  3_001,
  7_919,
  20_021,
  31_013,
  70_001,
);

export const steps: fc.Arbitrary<readonly Step[]> = fc.array(fc.record({ afterMs, command: commands }), {
  maxLength: 60,
  size: 'max',
});

const ONE: readonly EngineOptions[] = [{ name: 'one' }];
const SEVERAL: readonly (readonly EngineOptions[])[] = [
  [{ name: 'a' }, { name: 'b' }],
  [{ name: 'a', room: 1 }, { name: 'b', room: 3 }, { name: 'c' }],
  [
    { name: 'a', room: 'first-token' },
    { name: 'b', room: 2 },
  ],
  [
    { name: 'a', room: 'engine' },
    { name: 'b', room: 'auto' },
  ],
  [
    { name: 'a', models: ['m1'], room: 1 },
    { name: 'b', models: ['m1', 'm2'] },
  ],
  [{ name: 'a', models: ['m1', 'm2'] }, { name: 'b' }],
];

/** Durations are primes apart, so that two of them hardly ever end on one moment. */
export const settings: fc.Arbitrary<ControlSettings> = fc.record({
  coalesce: fc.constantFrom(
    'adopt' as const,
    'adopt' as const,
    'adopt' as const,
    'identical' as const,
    'off' as const,
  ),
  order: fc.constantFrom('oldest-first' as const, 'newest-first' as const),
  classes: fc.constantFrom(['interactive', 'standard', 'batch'], []),
  maxClass: fc.constantFrom(undefined, 'interactive', 'interactive', 'batch'),
  shares: fc.constantFrom('off' as const, 'tenant' as const),
  room: fc.constantFrom(
    'off' as const,
    'first-token' as const,
    'engine' as const,
    'engine' as const,
    'auto' as const,
    1,
    1,
    2,
    3,
  ),
  roomTarget: fc.constantFrom(1, 2),
  roomWaiting: fc.constantFrom(1, 2),
  roomWhole: fc.constantFrom(1, 3),
  engines: fc.constantFrom(ONE, ONE, ...SEVERAL),
  affinity: fc.constantFrom('off' as const, 'session' as const, 'prefix' as const),
  unavailable: fc.constantFrom('wait' as const, 'wait' as const, 'wait' as const, 'pass' as const),
  health: fc.constant({ restMs: 509, longestRestMs: 8_017, slowStartMs: 30_011, answerMarginMs: 1_003 }),
  grace: fc.constantFrom(61_007, 61_007, 90_001, 'now' as const, 'never' as const),
  learnGrace: fc.constant(false),
  learnDeadlines: fc.constant(false),
  graceAfterFirstByteMs: fc.constant(1_013),
  lateMergeMs: fc.constant(1_009),
  lateMergeHoldMs: fc.constantFrom(101, 101, 0),
  deliveredAfterMs: fc.constantFrom(251, 251, 5),
  retainMs: fc.constant(40_009),
  retainKeyedMs: fc.constant(150_001),
  replayDeliveredMs: fc.constant(5_003),
  /** With the window, 180 executions and 3.6: the budget's floor, and what the guard is met with. */
  capacity: fc.constantFrom(undefined, undefined, 0.05, 0.001),
  guard: fc.constantFrom(true, true, false),
  budget: fc.record({
    mode: fc.constantFrom('entitlement' as const, 'entitlement' as const, 'strict' as const, 'off' as const),
    ratio: fc.constantFrom(0, 0.1, 0.5),
    /** Longer than any interleaving: how the window slides has a test of its own. */
    windowMs: fc.constant(3_600_000),
    floor: fc.constantFrom(0, 1),
  }),
  bounds: fc.record({
    lineEntries: fc.constantFrom(1, 3, 3, 10),
    lineBytes: fc.constantFrom(60, 100, 1_000),
    lineWaitMs: fc.constantFrom(50_021, 600_011),
    replayBytes: fc.constant(100),
    liveReplayBytes: fc.constantFrom(150, 250),
    retainedBytes: fc.constant(250),
    retainedTenantShare: fc.constantFrom(0.5, 1),
    calls: fc.constantFrom(4, 50, 50),
    listeners: fc.constant(2),
  }),
});

/** Follows the verdicts of one side and names its calls and executions by the attempts that made them. */
export class Names {
  readonly #calls = new Map<string, string>();
  readonly #executions = new Map<string, string>();
  readonly #ids = new Map<string, string>();

  hear(verdict: Verdict): void {
    if (verdict.kind === 'decided' && !this.#calls.has(verdict.call)) {
      this.#calls.set(verdict.call, `call of ${verdict.attempt}`);
    }
    if (verdict.kind === 'start') {
      const name = `${this.#calls.get(verdict.call)}, execution ${verdict.earlier}`;
      this.#executions.set(verdict.execution, name);
      this.#ids.set(name, verdict.execution);
    }
  }

  call(id: string): string {
    return this.#calls.get(id) ?? `unknown ${id}`;
  }

  execution(id: string): string {
    return this.#executions.get(id) ?? `unknown ${id}`;
  }

  /** This side's id of the execution with that name. */
  id(name: string): string {
    return this.#ids.get(name) ?? name;
  }
}

/** Turns commands into events, following what the control said: who listens, what runs, what has finished. */
export class World {
  readonly names = new Names();
  readonly #listening = new Map<string, { call: string; handed: boolean }>();
  readonly #live = new Map<string, { firstByte: boolean; bytes: number; call: string }>();
  readonly #finished = new Set<string>();
  #arrivals = 0;

  hear(verdict: Verdict): void {
    this.names.hear(verdict);
    if (verdict.kind === 'attach')
      this.#listening.set(verdict.attempt, { call: verdict.call, handed: false });
    else if (verdict.kind === 'attempt-ended') this.#listening.delete(verdict.attempt);
    else if (verdict.kind === 'queue') this.#finished.delete(verdict.call);
    else if (verdict.kind === 'start') {
      this.#finished.delete(verdict.call);
      this.#live.set(verdict.execution, { firstByte: false, bytes: 0, call: verdict.call });
    } else if (verdict.kind === 'execution-ended') {
      const call = this.#live.get(verdict.execution)?.call;
      this.#live.delete(verdict.execution);
      if (verdict.ending === 'finished' && call !== undefined) this.#finished.add(call);
    }
  }

  /** The events that the command means here and now, executions by their ids in the control. */
  events(command: Command): ControlEvent[] {
    switch (command.kind) {
      case 'arrive':
        return [{ kind: 'arrive', attempt: `a${++this.#arrivals}`, facts: command.facts }];
      case 'leave':
        return this.#attempt(command.pick, () => true).map((attempt) => ({ kind: 'leave', attempt }));
      case 'handed': {
        const ready = (call: string, handed: boolean): boolean => !handed && this.#finished.has(call);
        return this.#attempt(command.pick, ready).map((attempt) => {
          this.#listening.set(attempt, { call: this.#listening.get(attempt)?.call ?? '', handed: true });
          return { kind: 'handed', attempt };
        });
      }
      case 'lag': {
        const seen = new Set([...this.#live.values()].filter((one) => one.firstByte).map((one) => one.call));
        return this.#attempt(command.pick, (call) => seen.has(call)).map((attempt) => ({
          kind: 'lag',
          attempt,
        }));
      }
      case 'first-byte':
      case 'chunk':
      case 'finish':
      case 'fail':
        return this.#engine(command);
      case 'gauges':
        return [command];
      case 'time':
      case 'drain':
      case 'stop':
        return [{ kind: command.kind }];
      default:
        return unreachable(command);
    }
  }

  #attempt(at: number, fits: (call: string, handed: boolean) => boolean): string[] {
    const fitting = [...this.#listening].filter(([, one]) => fits(one.call, one.handed));
    const chosen = fitting[at % Math.max(1, fitting.length)];
    return chosen === undefined ? [] : [chosen[0]];
  }

  #engine(command: EngineCommand): ControlEvent[] {
    const all = [...this.#live];
    const chosen = all[command.pick % Math.max(1, all.length)];
    if (chosen === undefined) return [];
    const [execution, live] = chosen;
    const first: ControlEvent[] = live.firstByte ? [] : [{ kind: 'first-byte', execution }];
    if (command.kind !== 'fail') live.firstByte = true;
    switch (command.kind) {
      case 'first-byte':
        return live.bytes > 0 || first.length === 0
          ? []
          : [{ kind: 'first-byte', execution, stream: command.stream }];
      case 'chunk':
        live.bytes += command.bytes;
        return [...first, { kind: 'chunk', execution, bytes: command.bytes }];
      case 'finish': {
        const last: ControlEvent[] = live.bytes > 0 ? [] : [{ kind: 'chunk', execution, bytes: 1 }];
        return [...first, ...last, { kind: 'finish', execution }];
      }
      case 'fail': {
        const { failure, status, retryAfterMs, repeatable } = command;
        return [{ kind: 'fail', execution, failure, status, retryAfterMs, repeatable }];
      }
      default:
        return unreachable(command);
    }
  }
}
