/** Several engines: the laws hold while they fail and come back, work is shared by room, and nothing is multiplied. */

import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ControlSettings } from '../../src/core/control/options.js';
import type { Verdict } from '../../src/core/control/verdict.js';
import { facts } from '../support/facts.js';
import { forEachSeed } from '../support/seeds.js';
import { control, type Subject } from '../support/subject.js';
import { Laws } from './laws.js';
import { Witness } from './moment.js';
import { lawOptions, type Ran, trueCallOf, Workload, type WorkloadOptions } from './workload.js';
import { KINDS, type Kind } from './workload-client.js';

/** Clients that wait for 58 s, ask four times and do nothing else. */
const PATIENT: Kind = {
  ...(KINDS[0] as Kind),
  deadlineMs: 58_000,
  stops: 0,
  slow: 0,
  hangsUp: 0,
  seenLate: 0,
};

const TWO: ControlSettings = { learnGrace: false, room: 8, engines: [{ name: 'a' }, { name: 'b' }] };

function day(seed: number, settings: ControlSettings, more: Partial<WorkloadOptions> = {}): WorkloadOptions {
  return {
    seed,
    settings,
    phases: [
      { forMs: 10_000, rate: 4 },
      { forMs: 10_000, rate: 10 },
      { forMs: 20_000, rate: 4 },
    ],
    engine: { places: 8, serviceMs: 2_000, spread: 0.6, failures: 0.05, answerBytes: 400 },
    ...more,
  };
}

interface Seen extends Ran {
  readonly verdicts: readonly Verdict[];
}

function play(options: WorkloadOptions): Seen {
  const laws = new Laws({ options: lawOptions(options), trueCall: trueCallOf });
  const verdicts: Verdict[] = [];
  const ran = new Workload(options, control, (subject) => {
    return new Witness(subject, (moment) => {
      laws.see(moment);
      verdicts.push(...moment.verdicts);
    });
  }).run();
  laws.finish();
  laws.check();
  return { ...ran, verdicts };
}

const of = <K extends Verdict['kind']>(
  { verdicts }: Pick<Seen, 'verdicts'>,
  kind: K,
): Extract<Verdict, { kind: K }>[] =>
  verdicts.filter((verdict): verdict is Extract<Verdict, { kind: K }> => verdict.kind === kind);

const endings = (seen: Seen): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { ending } of of(seen, 'call-ended')) counts[ending] = (counts[ending] ?? 0) + 1;
  return counts;
};

const WORLDS: readonly (readonly [string, ControlSettings, Partial<WorkloadOptions>])[] = [
  ['one crashes', TWO, { engines: { a: { crashes: [12_000, 22_000] } } }],
  [
    'one is gone for a while, then the other',
    TWO,
    {
      engines: {
        a: { outages: [{ fromMs: 5_000, untilMs: 15_000, says: 'refused' }], crashes: [5_000] },
        b: { outages: [{ fromMs: 20_000, untilMs: 28_000, says: 'refused' }], crashes: [20_000] },
      },
    },
  ],
  [
    'both say 503 at once',
    TWO,
    {
      engines: {
        a: { outages: [{ fromMs: 11_000, untilMs: 21_000, says: 'unavailable' }] },
        b: { outages: [{ fromMs: 12_000, untilMs: 18_000, says: 'unavailable' }] },
      },
    },
  ],
  [
    'both are gone for longer than anybody waits, with a line that is soon full',
    { ...TWO, bounds: { lineEntries: 20 } },
    {
      engines: {
        a: { outages: [{ fromMs: 11_000, untilMs: 60_000, says: 'unavailable' }] },
        b: { outages: [{ fromMs: 11_000, untilMs: 60_000, says: 'refused' }], crashes: [11_000] },
      },
    },
  ],
  [
    'their own caps are below the room, newest first',
    { ...TWO, order: 'newest-first' },
    { engines: { a: { cap: 5 }, b: { cap: 6 } } },
  ],
  ['no limit but their own caps', { ...TWO, room: 'off' }, { engines: { a: { cap: 10 }, b: { cap: 10 } } }],
  [
    'immediate cancellation, strict budget',
    { ...TWO, grace: 'now', budget: { mode: 'strict' } },
    { engines: { a: { outages: [{ fromMs: 11_000, untilMs: 21_000, says: 'unavailable' }] } } },
  ],
];

for (const [name, settings, more] of WORLDS) {
  test(`laws 1, 2, 3, 5, 6 and 7 hold with two engines: ${name}`, () => {
    forEachSeed(3, (seed) => {
      const seen = play(day(seed, settings, more));
      ok(seen.calls > 150, `${seen.calls} calls are no load`);
      ok(of(seen, 'rest').length > 0, 'no engine ever rested');
      const started = new Set(of(seen, 'start').map(({ engine }) => engine));
      deepEqual([...started].toSorted(), ['a', 'b']);
    });
  });
}

test('an engine that says 503 for ten seconds costs a handful of probes, however many wait, and loses no call', () => {
  forEachSeed(3, (seed) => {
    const engine = { places: 100, serviceMs: 2_000, spread: 0.2, failures: 0, answerBytes: 400 };
    const outages = [{ fromMs: 1_000, untilMs: 11_000, says: 'unavailable' as const }];
    const seen = play({
      seed,
      settings: { learnGrace: false },
      phases: [{ forMs: 10_000, rate: 20 }],
      engine: { ...engine, outages },
      kinds: [PATIENT],
    });
    ok(seen.calls > 100, `${seen.calls} calls`);
    deepEqual(endings(seen), { delivered: seen.calls });
    ok(seen.refused >= 2 && seen.refused <= 8, `${seen.refused} executions came to nothing`);
    equal(seen.executions, seen.calls + seen.refused);
  });
});

test('an engine with a cap of its own is kept full by few refusals, without a room being set', () => {
  forEachSeed(3, (seed) => {
    const seen = play({
      seed,
      settings: { learnGrace: false },
      phases: [{ forMs: 12_000, rate: 8 }],
      engine: { places: 8, serviceMs: 2_000, spread: 0.2, failures: 0, answerBytes: 400, cap: 8 },
      kinds: [{ ...PATIENT, announces: true, deadlineMs: 300_000 }],
    });
    deepEqual(endings(seen), { delivered: seen.calls });
    ok(seen.refused < 0.5 * seen.calls, `${seen.refused} refusals for ${seen.calls} calls`);
  });
});

test('an engine that says 503 for ever: every client hears of it before its deadline, with few executions', () => {
  forEachSeed(3, (seed) => {
    const outages = [{ fromMs: 0, untilMs: 1e9, says: 'unavailable' as const }];
    const seen = play({
      seed,
      settings: { learnGrace: false },
      phases: [{ forMs: 20_000, rate: 5 }],
      engine: { places: 8, serviceMs: 2_000, spread: 0.2, failures: 0, answerBytes: 400, outages },
      kinds: [{ ...PATIENT, announces: true, deadlineMs: 30_000, attempts: 1 }],
    });
    const ended = of(seen, 'attempt-ended').map(
      ({ ending, ageMs }) => `${ending} after ${Math.round(ageMs)} ms`,
    );
    deepEqual([...new Set(ended)], ['upstream_unavailable after 29000 ms']);
    ok(seen.executions <= 12, `${seen.executions} executions for ${seen.calls} calls`);
  });
});

/** A control in the hand: calls with their facts, and what it started. */
class Hand {
  readonly said: Verdict[] = [];
  readonly #subject: Subject;
  #calls = 0;

  constructor(settings: ControlSettings) {
    this.#subject = new Witness(control(settings), ({ verdicts }) => this.said.push(...verdicts));
  }

  arrive(at: number, more: Parameters<typeof facts>[0] = {}): string | undefined {
    const attempt = `a${++this.#calls}`;
    const before = this.said.length;
    this.#subject.step(at, { kind: 'arrive', attempt, facts: facts({ fingerprint: attempt, ...more }) });
    return this.said.slice(before).flatMap((one) => (one.kind === 'start' ? [one.engine] : []))[0];
  }

  /** Says that the `count`-th execution failed or finished; returns the engines that got something for it. */
  tell(at: number, event: Parameters<Subject['step']>[1]): string[] {
    return this.#subject.step(at, event).flatMap((one) => (one.kind === 'start' ? [one.engine] : []));
  }

  ending(attempt: string): string | undefined {
    const ended = this.said.find((one) => one.kind === 'attempt-ended' && one.attempt === attempt);
    return ended?.kind === 'attempt-ended' ? ended.ending : undefined;
  }

  wakeAt(): number {
    return this.#subject.wakeAt();
  }
}

const times = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

function shares(engines: readonly (string | undefined)[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const engine of engines) counts[engine ?? 'line'] = (counts[engine ?? 'line'] ?? 0) + 1;
  return counts;
}

describe('which engine gets the next execution', () => {
  test('the one that is least full by its measured room', () => {
    const hand = new Hand({
      engines: [
        { name: 'small', room: 4 },
        { name: 'large', room: 12 },
      ],
    });
    deepEqual(shares(times(8).map((at) => hand.arrive(at))), { small: 2, large: 6 });
    deepEqual(shares(times(9).map((at) => hand.arrive(10 + at))), { small: 2, large: 6, line: 1 });
  });

  test('with room first-token, one that has few streams without a first byte, whatever else it runs', () => {
    const hand = new Hand({ engines: [{ name: 'a' }], room: 'first-token', roomWaiting: 2 });
    const stream = true;
    deepEqual(
      times(3).map((at) => hand.arrive(at, { stream })),
      ['a', 'a', undefined],
    );
    deepEqual(hand.tell(10, { kind: 'first-byte', execution: 'x1' }), ['a'], 'a first byte makes room');
    equal(hand.arrive(11, { stream }), undefined);
    deepEqual(hand.tell(12, { kind: 'finish', execution: 'x1' }), [], 'the end of what had begun makes none');
    const failure = 'status_4xx';
    deepEqual(hand.tell(13, { kind: 'fail', execution: 'x2', failure }), ['a'], 'that of what had not does');
  });

  test('with room first-token, answers that come whole have a number of their own, until their end', () => {
    const hand = new Hand({ engines: [{ name: 'a' }], room: 'first-token', roomWaiting: 1, roomWhole: 2 });
    deepEqual(
      times(3).map((at) => hand.arrive(at)),
      ['a', 'a', undefined],
    );
    deepEqual(hand.tell(10, { kind: 'first-byte', execution: 'x1' }), [], 'it is hardly told from the end');
    deepEqual(hand.tell(11, { kind: 'finish', execution: 'x1' }), ['a']);
  });

  test('equals by turns', () => {
    const hand = new Hand({ engines: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] });
    deepEqual(
      times(6).map((at) => hand.arrive(at)),
      ['a', 'b', 'c', 'a', 'b', 'c'],
    );
  });

  test('the one that had the session, while it has room', () => {
    const engines = [
      { name: 'a', room: 3 },
      { name: 'b', room: 3 },
    ];
    const hand = new Hand({ engines, affinity: 'session' });
    const session = 's';
    const asked = [{ session }, {}, { session }, { session }, { session }];
    deepEqual(
      asked.map((one, at) => hand.arrive(at, one)),
      ['a', 'b', 'a', 'a', 'b'],
    );
  });

  test('the one that had the long prefix, within the tenant, unless there is a session', () => {
    const hand = new Hand({ engines: [{ name: 'a' }, { name: 'b' }], affinity: 'prefix' });
    const prefix = 'p';
    const asked = [
      { prefix },
      {},
      { prefix },
      { prefix },
      { prefix, tenant: 'rival' },
      { prefix, session: 's' },
    ];
    deepEqual(
      asked.map((one, at) => hand.arrive(at, one)),
      ['a', 'b', 'a', 'a', 'b', 'b'],
    );
  });

  test('without affinity a session is no reason', () => {
    const hand = new Hand({ engines: [{ name: 'a' }, { name: 'b' }] });
    deepEqual(
      times(4).map((at) => hand.arrive(at, { session: 's' })),
      ['a', 'b', 'a', 'b'],
    );
  });

  test('one that serves the model, and those of other models are not held up', () => {
    const engines = [
      { name: 'a', models: ['m1'], room: 1 },
      { name: 'b', models: ['m2'], room: 1 },
    ];
    const hand = new Hand({ engines });
    equal(hand.arrive(0, { model: 'm1' }), 'a');
    equal(hand.arrive(1, { model: 'm1' }), undefined, 'waits');
    equal(hand.arrive(2, { model: 'm2' }), 'b');
    equal(hand.arrive(3, { model: 'm2' }), undefined, 'waits');
    deepEqual(hand.tell(4, { kind: 'finish', execution: 'x2' }), ['b']);
    equal(hand.arrive(5, { model: 'm3' }), undefined);
    equal(hand.ending('a5'), 'refused_model');
  });
});

describe('an engine that fails', () => {
  const engines = [{ name: 'a' }, { name: 'b' }];

  test('a call that one engine could not be reached for goes to each other one once, then fails', () => {
    const hand = new Hand({ engines });
    equal(hand.arrive(0), 'a');
    deepEqual(hand.tell(1, { kind: 'fail', execution: 'x1', failure: 'refused' }), ['b']);
    deepEqual(hand.tell(2, { kind: 'fail', execution: 'x2', failure: 'refused' }), []);
    equal(hand.ending('a1'), 'upstream_refused');
  });

  test('a request that is not there any more is not sent again', () => {
    const hand = new Hand({ engines });
    hand.arrive(0);
    deepEqual(
      hand.tell(1, { kind: 'fail', execution: 'x1', failure: 'unavailable', status: 503, repeatable: false }),
      [],
    );
    equal(hand.ending('a1'), 'upstream_unavailable');
  });

  test('what was broken off is never sent again, and three in a row make the engine rest', () => {
    const hand = new Hand({ engines: [{ name: 'a' }] });
    for (const at of times(3)) hand.arrive(at);
    for (const at of times(3))
      hand.tell(10 + at, { kind: 'fail', execution: `x${at + 1}`, failure: 'reset' });
    deepEqual(
      times(3).map((at) => hand.ending(`a${at + 1}`)),
      times(3).map(() => 'upstream_reset'),
    );
    equal(hand.arrive(20), undefined, 'rests');
    equal(hand.wakeAt(), 512);
    deepEqual(hand.tell(512, { kind: 'time' }), ['a']);
  });

  test('rests longer every time, up to its bound, or for as long as it asked, up to the same bound', () => {
    const hand = new Hand({ engines: [{ name: 'a' }], defaultDeadlineMs: 3_600_000 });
    hand.arrive(0, { explicitDeadlineMs: 600_000 });
    const rests: number[] = [];
    let at = 0;
    for (const count of times(8)) {
      at += 1;
      hand.tell(at, { kind: 'fail', execution: `x${count + 1}`, failure: 'unavailable', status: 503 });
      const rest = hand.said.findLast((one) => one.kind === 'rest');
      rests.push(rest?.kind === 'rest' ? rest.restMs : 0);
      at = hand.wakeAt();
      deepEqual(hand.tell(at, { kind: 'time' }), ['a']);
    }
    deepEqual(rests, [500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 10_000]);
    for (const [asked, given] of [
      [3_000, 3_000],
      [60_000, 10_000],
      [1, 500],
    ] as const) {
      const count = hand.said.filter((one) => one.kind === 'start').length;
      hand.tell(at + 1, {
        kind: 'fail',
        execution: `x${count}`,
        failure: 'unavailable',
        retryAfterMs: asked,
      });
      const rest = hand.said.findLast((one) => one.kind === 'rest');
      equal(rest?.kind === 'rest' ? rest.restMs : 0, given);
      at = hand.wakeAt();
      hand.tell(at, { kind: 'time' });
    }
  });

  test('is given one execution to try it, then more, and its share grows', () => {
    const hand = new Hand({ engines, room: 100 });
    equal(hand.arrive(0), 'a');
    deepEqual(hand.tell(100, { kind: 'fail', execution: 'x1', failure: 'refused' }), ['b']);
    const asking = (from: number, count: number): Record<string, number> =>
      shares(times(count).map((at) => hand.arrive(from + at)));
    deepEqual(asking(4_000, 10), { a: 1, b: 9 }, 'one tries it');
    hand.tell(5_500, { kind: 'time' });
    equal(hand.said.findLast((one) => one.kind === 'back')?.kind, 'back', 'and says nothing for a second');
    deepEqual(asking(6_000, 20), { a: 1, b: 19 }, 'its share is a tenth');
    deepEqual(
      asking(40_000, 10),
      { a: 3, b: 7 },
      'its share is whole, and it is given one more for each that it took',
    );
  });
});
