/** The laws hold while settings change under way, in a simulated day and in any interleaving. */

import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Random } from '../../src/core/chance/random.js';
import type { AttemptFacts } from '../../src/core/control/event.js';
import {
  type ControlSettings,
  controlOptions,
  FIXED_SETTINGS,
  ownOptions,
  type RoomPolicy,
  takeOver,
} from '../../src/core/control/options.js';
import type { Verdict } from '../../src/core/control/verdict.js';
import { forEachSeed, runs } from '../support/seeds.js';
import { control } from '../support/subject.js';
import { wild } from './gauge-readings.js';
import { settings as anySettings, steps, World } from './interleaving.js';
import { Laws } from './laws.js';
import { Witness } from './moment.js';
import { lateRecovery, patient, recovery } from './recovery.js';
import { lawOptions, trueCallOf, Workload, type WorkloadOptions } from './workload.js';

type Settings = ControlSettings & { readonly bounds: NonNullable<ControlSettings['bounds']> };

/** Live settings, drawn anew; what is read once is the same in all of them. */
function drawn(random: Random): Settings {
  const pick = <T>(...all: readonly T[]): T => all[random.integer(0, all.length - 1)] as T;
  return {
    learnGrace: false,
    room: pick<RoomPolicy>(1, 4, 8, 16, 'off', 'engine', 'auto'),
    roomTarget: pick(1, 4),
    grace: pick<'now' | 'never' | number>('now', 'never', 500, 10_000, 60_000),
    graceAfterFirstByteMs: pick(0, 1_000, 5_000),
    lateMergeMs: pick(200, 1_000),
    lateMergeHoldMs: pick(0, 100),
    retainMs: pick(0, 5_000, 120_000),
    retainKeyedMs: pick(5_000, 600_000),
    replayDeliveredMs: pick(0, 5_000),
    defaultDeadlineMs: pick(5_000, 60_000),
    leastDeadlineMs: pick(100, 5_000),
    capacity: pick(undefined, undefined, 4),
    guard: pick(true, false),
    budget: {
      mode: pick('entitlement', 'entitlement', 'strict'),
      ratio: pick(0, 0.1, 0.5),
      floor: pick(0, 1, 5),
    },
    bounds: {
      lineEntries: pick(0, 5, 40, 10_000),
      lineBytes: pick(1_000, 30_000, 1_000_000),
      lineWaitMs: pick(1_000, 10_000, 600_000),
      replayBytes: pick(0, 450, 100_000),
      liveReplayBytes: pick(500, 2_000, 1_000_000),
      retainedBytes: pick(0, 500, 2_000, 1_000_000),
      retainedTenantShare: pick(0.1, 0.5, 1),
      listeners: pick(1, 2, 16),
      calls: pick(60, 50_000),
    },
  };
}

function day(seed: number): WorkloadOptions {
  const random = new Random(seed, 'settings');
  const changes = Array.from({ length: 12 }, (_, at) => ({
    atMs: 4_000 + 8_000 * at,
    settings: drawn(random),
  }));
  return {
    seed,
    settings: drawn(random),
    changes,
    phases: [
      { forMs: 20_000, rate: 2 },
      { forMs: 20_000, rate: 8 },
      { forMs: 60_000, rate: 2 },
    ],
    engine: { places: 8, serviceMs: 2_000, spread: 0.6, failures: 0.05, crashes: [45_000], answerBytes: 400 },
    gauges: wild,
  };
}

test('laws 1, 2, 3, 5, 6 and 7 hold through a pulse while every live setting changes twelve times', () => {
  forEachSeed(4, (seed) => {
    const options = day(seed);
    const laws = new Laws({ options: lawOptions(options), trueCall: trueCallOf });
    const ran = new Workload(
      options,
      control,
      (subject) => new Witness(subject, (moment) => laws.see(moment)),
    ).run();
    laws.finish();
    laws.check();
    ok(ran.calls > 100, `${ran.calls} calls are no load`);
  });
});

/** Every verdict as text, when the two tenants' bodies and keys are equal, or differ in everything. */
function saidTo(seed: number, rival: string): string[] {
  const few = (name: string): string =>
    name.replace(/\d+/, (digits) => String(Number(digits) % 10)).replace('rival', 'acme');
  const worded = (said: AttemptFacts): AttemptFacts => {
    const prefix = said.tenant === 'rival' ? rival : '';
    const key = said.key === undefined ? undefined : prefix + few(said.key);
    return { ...said, fingerprint: prefix + few(said.fingerprint), key };
  };
  const said: string[] = [];
  new Workload({ ...day(seed), worded }, control, (subject) => {
    return new Witness(subject, ({ at, verdicts }) => {
      for (const each of verdicts) said.push(JSON.stringify([at, { ...each, facts: undefined }]));
    });
  }).run();
  return said;
}

test('law 4: through every change, no verdict depends on what another tenant sends', () => {
  forEachSeed(2, (seed) => deepEqual(saidTo(seed, ''), saidTo(seed, 'other ')));
});

test('law 8: a line that was squeezed and given room again is drained in the time its backlog explains', () => {
  forEachSeed(2, (seed) => {
    const changes = [
      { atMs: 20_000, settings: { room: 4, grace: 30_000 } },
      { atMs: 80_000, settings: { room: 8, grace: 60_000, budget: { ratio: 0.05 } } },
      { atMs: 130_000, settings: { room: 8, bounds: { lineWaitMs: 300_000 } } },
    ];
    const took = recovery(seed, patient('key', [250, 3_000]), {}, control, changes);
    ok(took.backlog > 150, `a backlog of ${took.backlog} is no pulse`);
    deepEqual(lateRecovery(took), []);
  });
});

const fixed = { coalesce: 'adopt', order: 'oldest-first', deliveredAfterMs: 251 } as const;

test('the laws hold through any interleaving of requests, answers and changes of settings', () => {
  const script = fc.array(fc.record({ steps, next: anySettings }), { minLength: 2, maxLength: 4 });
  fc.assert(
    fc.property(anySettings, script, (first, parts) => {
      const laws = new Laws({ options: controlOptions({ ...first, ...fixed }) });
      const subject = new Witness(control({ ...first, ...fixed }), (moment) => laws.see(moment));
      const world = new World();
      let now = 0;
      const hear = (verdicts: readonly Verdict[]): void => verdicts.forEach((verdict) => world.hear(verdict));
      for (const { steps: some, next } of parts) {
        for (const { afterMs, command } of some) {
          now += afterMs;
          for (const event of world.events(command)) hear(subject.step(now, event));
        }
        hear(subject.step(now, { kind: 'time' }));
        hear(subject.step(now, { kind: 'reconfigure', options: controlOptions({ ...next, ...fixed }) }));
      }
      hear(subject.step(now, { kind: 'stop' }));
      hear(subject.step(now + 36_000_000, { kind: 'time' }));
      laws.finish();
      laws.check();
    }),
    { numRuns: runs(400) },
  );
});

const facts = (name: string, more: Partial<AttemptFacts> = {}): AttemptFacts => ({
  tenant: 't',
  route: '/v1/chat/completions',
  fingerprint: name,
  model: 'm',
  stream: false,
  bodyBytes: 10,
  userAgent: 'ai/7',
  address: 'a',
  shareable: true,
  stateful: false,
  noStore: false,
  cancelOnLeave: false,
  ...more,
});

describe('a change of settings', () => {
  const play = (settings: ControlSettings) => {
    const subject = control(settings);
    return {
      subject,
      arrive: (now: number, name: string) =>
        subject.step(now, { kind: 'arrive', attempt: name, facts: facts(name) }),
      change: (now: number, next: ControlSettings) =>
        subject.step(now, { kind: 'reconfigure', options: controlOptions(next) }),
    };
  };
  const kinds = (verdicts: readonly Verdict[]): string[] => verdicts.map(({ kind }) => kind);

  test('starts who waits when there is more room, and nobody new while there is less', () => {
    const { subject, arrive, change } = play({ room: 1 });
    for (const name of ['a', 'b', 'c']) arrive(0, name);
    deepEqual(kinds(change(1, { room: 3 })), ['start', 'start']);
    deepEqual(kinds(change(2, { room: 1 })), []);
    equal(
      arrive(3, 'd').some(({ kind }) => kind === 'start'),
      false,
    );
    for (const execution of ['x1', 'x2']) {
      equal(
        subject.step(4, { kind: 'finish', execution }).some(({ kind }) => kind === 'start'),
        false,
      );
    }
    ok(subject.step(5, { kind: 'finish', execution: 'x3' }).some(({ kind }) => kind === 'start'));
  });

  test('lets go at once of who has waited too long by now, and of bytes above a bound', () => {
    const { subject, arrive, change } = play({ room: 1 });
    arrive(0, 'a');
    arrive(0, 'b');
    const bounds = { lineWaitMs: 1_000 };
    deepEqual(kinds(change(2_000, { room: 1, bounds })), ['drop', 'refuse', 'attempt-ended', 'call-ended']);
    subject.step(2_001, { kind: 'first-byte', execution: 'x1' });
    subject.step(2_001, { kind: 'chunk', execution: 'x1', bytes: 500 });
    deepEqual(change(2_002, { room: 1, bounds: { replayBytes: 100 } }), [{ kind: 'seal', execution: 'x1' }]);
  });

  test('wipes a kept answer that is too large by now', () => {
    const { subject, arrive, change } = play({});
    arrive(0, 'a');
    subject.step(1, { kind: 'leave', attempt: 'a' });
    subject.step(2, { kind: 'chunk', execution: 'x1', bytes: 500 });
    subject.step(3, { kind: 'finish', execution: 'x1' });
    const said = change(4, { bounds: { retainedBytes: 499 } });
    ok(
      said.some(({ kind }) => kind === 'forget'),
      JSON.stringify(said),
    );
  });

  test('leaves what is read once as it was', () => {
    const before = controlOptions({});
    const own = ownOptions(before);
    takeOver(
      own,
      controlOptions({
        coalesce: 'off',
        order: 'newest-first',
        deliveredAfterMs: 1,
        capacity: 3,
        budget: { windowMs: 60, ratio: 0.7 },
        bounds: { tenants: 1, learnedKeys: 1, calls: 9 },
      }),
    );
    for (const name of FIXED_SETTINGS.control) equal(own[name], before[name]);
    for (const name of FIXED_SETTINGS.budget) equal(own.budget[name], before.budget[name]);
    for (const name of FIXED_SETTINGS.bounds) equal(own.bounds[name], before.bounds[name]);
    deepEqual([own.capacity, own.budget.ratio, own.bounds.calls], [3, 0.7, 9]);
    takeOver(own, before);
    deepEqual(own, { ...before, capacity: undefined, maxClass: undefined });
  });
});
