/** The laws over many seeds of a simulated day, with every fault a client or an engine has. */

import { deepEqual, equal, ok } from 'node:assert/strict';
import { after, test } from 'node:test';
import type { AttemptFacts } from '../../src/core/control/event.js';
import type { ControlSettings } from '../../src/core/control/options.js';
import { forEachSeed } from '../support/seeds.js';
import { control } from '../support/subject.js';
import { REQUESTS_OWN } from './failures.js';
import { honest, wild } from './gauge-readings.js';
import { Names } from './interleaving.js';
import { Laws } from './laws.js';
import { type Moment, Witness } from './moment.js';
import {
  type GaugeReading,
  lawOptions,
  type Ran,
  trueCallOf,
  Workload,
  type WorkloadOptions,
} from './workload.js';

const total = { runs: 0, calls: 0, attempts: 0, executions: 0, events: 0 };
after(() => process.stderr.write(`law tests ran ${JSON.stringify(total)}\n`));

/** A base, a pulse of twice what the engine can do, and a while to recover. */
function day(
  seed: number,
  settings: ControlSettings,
  changes: Partial<WorkloadOptions> = {},
): WorkloadOptions {
  return {
    seed,
    settings,
    phases: [
      { forMs: 20_000, rate: 2 },
      { forMs: 20_000, rate: 8 },
      { forMs: 60_000, rate: 2 },
    ],
    engine: { places: 8, serviceMs: 2_000, spread: 0.6, failures: 0.05, crashes: [45_000], answerBytes: 400 },
    ...changes,
  };
}

function play(options: WorkloadOptions, seen: (moment: Moment) => void): Ran {
  const ran = new Workload(options, control, (subject) => new Witness(subject, seen)).run();
  total.runs += 1;
  total.calls += ran.calls;
  total.attempts += ran.attempts;
  total.executions += ran.executions;
  return ran;
}

const SETTINGS: readonly (readonly [string, ControlSettings, GaugeReading?])[] = [
  ['as it comes', { learnGrace: false }],
  [
    'a short line in front of the engine',
    { learnGrace: false, room: 8, bounds: { lineEntries: 40, lineBytes: 30_000 } },
  ],
  ['newest first', { learnGrace: false, room: 8, order: 'newest-first', bounds: { lineEntries: 20 } }],
  ['as long as few wait for their first byte', { learnGrace: false, room: 'first-token', roomWhole: 8 }],
  ['what the engine itself says leaves room', { learnGrace: false, room: 'engine' }, honest],
  ['what the engine says is true at times', { learnGrace: false, room: 'engine', roomTarget: 2 }, wild],
  ['gauges that may never have been read', { learnGrace: false, roomTarget: 1 }, wild],
  ['shared among tenants', { learnGrace: false, room: 8, shares: 'tenant' }],
  ['oldest first', { learnGrace: false, room: 8, order: 'oldest-first' }],
  ['grace of 10 s', { learnGrace: false, room: 8, grace: 10_000 }],
  ['immediate cancellation', { learnGrace: false, room: 8, grace: 'now' }],
  ['no cancellation', { learnGrace: false, room: 8, grace: 'never' }],
  ['a strict budget', { learnGrace: false, room: 8, budget: { mode: 'strict' } }],
  ['no coalescing', { learnGrace: false, room: 8, coalesce: 'off' }],
  ['shared executions', { learnGrace: false, room: 8, coalesce: 'identical' }],
  [
    'little memory',
    {
      learnGrace: false,
      room: 8,
      bounds: { replayBytes: 450, liveReplayBytes: 2_000, retainedBytes: 2_000, calls: 60 },
    },
  ],
  ['learned grace', { learnGrace: true, room: 8 }],
];

for (const [name, settings, gauges] of SETTINGS) {
  test(`laws 1, 2, 3, 5, 6 and 7 hold through a pulse: ${name}`, () => {
    forEachSeed(4, (seed) => {
      const options = day(seed, settings, gauges === undefined ? {} : { gauges });
      const laws = new Laws({ options: lawOptions(options), trueCall: trueCallOf });
      const ran = play(options, (moment) => {
        total.events += 1;
        laws.see(moment);
      });
      laws.finish();
      laws.check();
      ok(ran.calls > 100, `${ran.calls} calls are no load`);
    });
  });
}

/** Calls of every class, and sessions that hold one; a tenant may have the highest. */
function classed(said: AttemptFacts): AttemptFacts {
  const digits = Number(/\d+/.exec(said.fingerprint)?.[0] ?? 0);
  const session = digits % 5 === 0 ? `session-${digits % 3}` : said.session;
  return {
    ...said,
    session,
    class: (['interactive', 'batch', 'royal', undefined] as const)[digits % 4],
    maxClass: said.tenant === 'acme' ? 'interactive' : undefined,
  };
}

test('laws 1, 2, 3, 5, 6 and 7 hold through a pulse of calls of several classes, whatever the order', () => {
  forEachSeed(2, (seed) => {
    for (const settings of [
      { learnGrace: false, room: 8 },
      { learnGrace: false, room: 8, order: 'newest-first', bounds: { lineEntries: 20, learnedKeys: 2 } },
      { learnGrace: false, room: 8, shares: 'tenant' },
    ] as const) {
      const options = day(seed, settings, { worded: classed });
      const laws = new Laws({ options: lawOptions(options), trueCall: trueCallOf });
      const ran = play(options, (moment) => laws.see(moment));
      laws.finish();
      laws.check();
      ok(ran.calls > 100, `${ran.calls} calls are no load`);
    }
  });
});

/** Every verdict as a line of text, without the request that it carries. */
function lines(options: WorkloadOptions, of: (moment: Moment) => readonly string[]): string[] {
  const said: string[] = [];
  play(options, (moment) => {
    total.events += 1;
    said.push(...of(moment));
  });
  return said;
}

const whole = ({ at, verdicts }: Moment): string[] =>
  verdicts.map((verdict) => JSON.stringify([at, { ...verdict, facts: undefined }]));

test('one seed gives one stream of verdicts, byte for byte', () => {
  forEachSeed(2, (seed) => {
    const options = day(seed, { room: 8 });
    equal(lines(options, whole).join('\n'), lines(options, whole).join('\n'));
  });
});

test('where nobody asks for a class, no verdict is another for there being some', () => {
  const unclassed = ({ at, verdicts }: Moment): string[] =>
    verdicts.map((verdict) => {
      const standing = 'standing' in verdict ? { ...verdict.standing, class: undefined } : undefined;
      return JSON.stringify([at, { ...verdict, standing, facts: undefined }]);
    });
  forEachSeed(2, (seed) => {
    for (const order of ['deadline', 'oldest-first', 'newest-first'] as const) {
      for (const shares of ['off', 'tenant'] as const) {
        const settings = { room: 8, order, shares };
        const named = lines(day(seed, settings), unclassed);
        deepEqual(named, lines(day(seed, { ...settings, classes: [] }), unclassed));
        ok(named.length > 1_000, `${named.length} verdicts are no test`);
      }
    }
  });
});

/** Few bodies and keys, the same for every tenant. */
function alike(said: AttemptFacts): AttemptFacts {
  const few = (name: string): string =>
    name.replace(/\d+/, (digits) => String(Number(digits) % 10)).replace(/rival/, 'acme');
  return {
    ...said,
    fingerprint: few(said.fingerprint),
    key: said.key === undefined ? undefined : few(said.key),
  };
}

function apart(said: AttemptFacts): AttemptFacts {
  const { tenant, fingerprint, key } = alike(said);
  if (tenant !== 'rival') return alike(said);
  return {
    ...said,
    fingerprint: `other ${fingerprint}`,
    key: key === undefined ? undefined : `other ${key}`,
  };
}

test('law 4: no verdict depends on whether another tenant sent the same body or key', () => {
  forEachSeed(3, (seed) => {
    for (const settings of [
      { room: 8, bounds: { lineEntries: 30 } },
      { room: 8, coalesce: 'identical' },
    ] as const) {
      const same = lines(day(seed, settings, { worded: alike }), whole);
      const other = lines(day(seed, settings, { worded: apart }), whole);
      deepEqual(same, other);
    }
  });
});

/** What is said of one tenant, with names that do not depend on what others made. */
function saidOf(tenant: string): (moment: Moment) => readonly string[] {
  const names = new Names();
  return ({ at, verdicts }) =>
    verdicts.flatMap((verdict) => {
      names.hear(verdict);
      const said: Record<string, unknown> = { at, ...verdict, facts: undefined };
      if ('call' in verdict && verdict.call !== undefined) said['call'] = names.call(verdict.call);
      if ('execution' in verdict && verdict.execution !== undefined) {
        said['execution'] = names.execution(verdict.execution);
      }
      const line = JSON.stringify(said);
      return line.includes(`${tenant}-`) ? [line] : [];
    });
}

test('law 4: where load is not shared, a tenant meets the same verdicts alone as beside another with its bodies', () => {
  forEachSeed(3, (seed) => {
    const settings: ControlSettings = { room: 'off', budget: { mode: 'off' } };
    // Neither is the engine's health: nothing that it does is said against it.
    const { crashes: _, ...usual } = day(seed, settings).engine;
    const engine = { ...usual, places: Number.POSITIVE_INFINITY, failsAs: REQUESTS_OWN };
    const beside = lines(day(seed, settings, { engine, worded: alike }), saidOf('acme'));
    const alone = lines(day(seed, settings, { engine, worded: alike, silent: ['rival'] }), saidOf('acme'));
    ok(alone.length > 300, `${alone.length} verdicts are no test`);
    deepEqual(beside, alone);
  });
});
