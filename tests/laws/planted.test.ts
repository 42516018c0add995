/** Each law is seen to fail: one fault planted in a run that is without, and exactly that law reports it. */

import { deepEqual, notDeepEqual, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { type ControlSettings, controlOptions } from '../../src/core/control/options.js';
import type { Verdict } from '../../src/core/control/verdict.js';
import { control, type MakeSubject } from '../support/subject.js';
import { EnginesLaw } from './law-engines.js';
import { Laws } from './laws.js';
import { type Moment, Witness } from './moment.js';
import { lateRecovery, patient, recovery } from './recovery.js';
import { trueCallOf, Workload, type WorkloadOptions } from './workload.js';

const SETTINGS: ControlSettings = {
  learnGrace: false,
  room: 8,
  order: 'oldest-first',
  grace: 10_000,
  bounds: { lineEntries: 60 },
};

function day(settings: ControlSettings): WorkloadOptions {
  return {
    seed: 1,
    settings,
    phases: [
      { forMs: 10_000, rate: 2 },
      { forMs: 15_000, rate: 8 },
      { forMs: 30_000, rate: 2 },
    ],
    engine: { places: 8, serviceMs: 2_000, spread: 0.6, failures: 0.05, answerBytes: 400 },
    sharedBodies: { share: 0, bodies: 1 },
  };
}

/** A run as it was seen, without what the control says of itself: that would give every fault away to law 1. */
function recorded(settings: ControlSettings, make: MakeSubject = control): Moment[] {
  const moments: Moment[] = [];
  const seen = (moment: Moment): unknown => moments.push({ ...moment, gauges: () => undefined });
  new Workload(day(settings), make, (subject) => new Witness(subject, seen)).run();
  return moments;
}

/** The numbers of the laws that the moments break, under the settings that the laws are told. */
function broken(moments: readonly Moment[], told: ControlSettings = SETTINGS): number[] {
  const laws = new Laws({ options: controlOptions(told), trueCall: trueCallOf });
  for (const moment of moments) laws.see(moment);
  laws.finish();
  return [...new Set(laws.breaches.map((breach) => breach.law))].toSorted((a, b) => a - b);
}

const sound = recorded(SETTINGS);

type Said<K extends Verdict['kind']> = Extract<Verdict, { kind: K }>;

/** Replaces the first verdict of the kind that fits by others, and leaves the rest of the run alone. */
function planted<K extends Verdict['kind']>(
  kind: K,
  fits: (verdict: Said<K>) => boolean,
  instead: (verdict: Said<K>) => readonly Verdict[],
): Moment[] {
  let done = false;
  const moments = sound.map((moment) => ({
    ...moment,
    verdicts: moment.verdicts.flatMap((verdict) => {
      if (done || verdict.kind !== kind || !fits(verdict as Said<K>)) return [verdict];
      done = true;
      return instead(verdict as Said<K>);
    }),
  }));
  ok(done, 'the run has no place for the fault');
  return moments;
}

/** Changes every verdict of the kind that fits. */
function throughout<K extends Verdict['kind']>(
  moments: readonly Moment[],
  kind: K,
  instead: (verdict: Said<K>) => readonly Verdict[],
): Moment[] {
  return moments.map((moment) => ({
    ...moment,
    verdicts: moment.verdicts.flatMap((verdict) =>
      verdict.kind === kind ? instead(verdict as Said<K>) : [verdict],
    ),
  }));
}

test('a run without a fault breaks no law', () => {
  deepEqual(broken(sound), []);
});

test('law 1 sees an attempt that never ends, ends twice, or ends under another name than it was told', () => {
  const delivered = (verdict: Said<'attempt-ended'>): boolean => verdict.ending === 'delivered';
  deepEqual(broken(planted('attempt-ended', delivered, () => [])), [1]);
  deepEqual(
    broken(
      planted(
        'attempt-ended',
        (one) => one.ending.startsWith('left'),
        (one) => [one, one],
      ),
    ),
    [1],
  );
  const refused = (verdict: Said<'refuse'>): boolean => verdict.reason === 'refused_line_full';
  deepEqual(broken(planted('refuse', refused, (one) => [{ ...one, reason: 'refused_budget' }])), [1]);
});

test('law 1 sees an execution, an entry or a call that never ends, and a call that counts wrongly', () => {
  const failed = (verdict: Said<'execution-ended'>): boolean => verdict.ending === 'failed_reset';
  deepEqual(
    broken(
      planted(
        'execution-ended',
        (one) => one.ending === 'finished',
        (one) => [one, one],
      ),
    ),
    [1],
  );
  ok(broken(planted('execution-ended', failed, () => [])).includes(1));
  deepEqual(
    broken(
      planted(
        'drop',
        (one) => one.ending === 'expired',
        (one) => [one, one],
      ),
    ),
    [1],
  );
  deepEqual(
    broken(
      planted(
        'call-ended',
        () => true,
        () => [],
      ),
    ).includes(1),
    true,
  );
  deepEqual(
    broken(
      planted(
        'call-ended',
        () => true,
        (one) => [{ ...one, attempts: one.attempts + 1 }],
      ),
    ),
    [1],
  );
});

test('law 1 sees a control that counts wrongly what stands', () => {
  const moments: Moment[] = [];
  const seen = (moment: Moment): unknown => {
    const stands = moment.gauges();
    return moments.push({ ...moment, gauges: () => stands });
  };
  new Workload(day(SETTINGS), control, (subject) => new Witness(subject, seen)).run();
  deepEqual(broken(moments), []);
  const late = moments.findLastIndex((moment) => (moment.gauges()?.orphans ?? 0) > 0);
  for (const name of ['lineEntries', 'runningExecutions', 'listeners', 'orphans'] as const) {
    const moment = moments[late];
    const stands = moment?.gauges();
    ok(moment !== undefined && stands !== undefined, 'nobody ever leaves work behind');
    const wrong = Object.assign({}, stands, { [name]: stands[name] - 1 });
    const miscounted = moments.with(late, Object.assign({}, moment, { gauges: () => wrong }));
    deepEqual(broken(miscounted), [1], name);
  }
});

test('law 2 sees work that is started twice', () => {
  let twice = '';
  const moments = planted(
    'start',
    () => true,
    (one) => {
      twice = one.call;
      const again = { ...one, execution: 'planted', earlier: one.earlier + 1 };
      const { call, execution } = again;
      const over = {
        kind: 'execution-ended',
        tenant: 'acme',
        ending: 'failed_reset',
        ageMs: 0,
        bytes: 0,
      } as const;
      return [one, again, { ...over, call, execution }];
    },
  );
  const later = throughout(moments, 'start', (one) =>
    one.call === twice && one.earlier > 0 && one.execution !== 'planted'
      ? [{ ...one, earlier: one.earlier + 1 }]
      : [one],
  );
  const booked = throughout(later, 'call-ended', (one) =>
    one.call === twice ? [{ ...one, executions: one.executions + 1 }] : [one],
  );
  deepEqual(broken(booked), [2]);
});

test('law 2 sees executions that nobody granted', () => {
  const now: ControlSettings = { ...SETTINGS, grace: 'now' };
  const moments = recorded(now);
  ok((moments.at(-1)?.granted ?? 0) > 0, 'nothing was granted');
  deepEqual(broken(moments, now), []);
  deepEqual(
    broken(
      moments.map((moment) => Object.assign({}, moment, { granted: 0 })),
      now,
    ),
    [2],
  );
});

test('law 2 sees a budget that is not kept', () => {
  const now: ControlSettings = { ...SETTINGS, grace: 'now', budget: { ratio: 0.05 } };
  const lavish = recorded({ ...now, budget: { ratio: 10 } });
  deepEqual(broken(lavish, now), [2]);
});

test('law 3 sees an answer that is delivered to a second call', () => {
  const first = sound
    .flatMap((moment) => moment.verdicts)
    .find(
      (verdict) => verdict.kind === 'attempt-ended' && verdict.ending === 'delivered',
    ) as Said<'attempt-ended'>;
  const another = (verdict: Said<'attempt-ended'>): boolean =>
    verdict.ending === 'delivered' && verdict.execution !== first.execution;
  deepEqual(
    broken(planted('attempt-ended', another, (one) => [{ ...one, execution: first.execution }])),
    [3],
  );
});

test('law 3 sees executions that are shared though nobody turned it on', () => {
  ok(broken(recorded({ ...SETTINGS, coalesce: 'identical' })).includes(3));
});

test('law 4 sees tenants that are taken for one', () => {
  /** A control that knows one tenant only. */
  const confused: MakeSubject = (settings) => {
    const inner = control(settings);
    return {
      step: (at, event) =>
        inner.step(
          at,
          event.kind === 'arrive' ? { ...event, facts: { ...event.facts, tenant: 'all' } } : event,
        ),
      wakeAt: () => inner.wakeAt(),
    };
  };
  const said = (make: MakeSubject, prefix: string): string[] => {
    const lines: string[] = [];
    const options: WorkloadOptions = {
      ...day({ room: 8 }),
      worded: (facts) => ({
        ...facts,
        fingerprint: `${facts.tenant === 'rival' ? prefix : ''}${facts.stream}`,
        key: undefined,
      }),
    };
    const seen = ({ at, verdicts }: Moment): unknown =>
      lines.push(...verdicts.map((verdict) => JSON.stringify([at, { ...verdict, facts: undefined }])));
    new Workload(options, make, (subject) => new Witness(subject, seen)).run();
    return lines;
  };
  deepEqual(said(control, ''), said(control, 'other '));
  notDeepEqual(said(confused, ''), said(confused, 'other '));
});

test('law 5 sees a cancellation while somebody listens', () => {
  const hasty: ControlSettings = { ...SETTINGS, grace: 500 };
  const moments = recorded(hasty);
  deepEqual(broken(moments, hasty), []);
  const all = moments.flatMap((moment) => moment.verdicts);
  const gone = (one: Verdict): one is Said<'attempt-ended'> =>
    one.kind === 'attempt-ended' && one.ending.startsWith('left');
  const cancels = all.filter((one): one is Said<'cancel'> => one.kind === 'cancel');
  const cancelled = cancels.find((cancel) =>
    all.some((one) => gone(one) && one.execution === cancel.execution),
  );
  const last = all.filter(gone).findLast((one) => one.execution === cancelled?.execution);
  ok(cancelled !== undefined && last !== undefined);
  const stayed = throughout(moments, 'attempt-ended', (one) => (one.attempt === last.attempt ? [] : [one]));
  const late = throughout(stayed, 'cancel', (one) =>
    one.execution === cancelled.execution ? [one, last] : [one],
  );
  deepEqual(broken(late, hasty), [5]);
});

test('law 5 sees an orphan that is cancelled inside its grace', () => {
  deepEqual(broken(recorded({ ...SETTINGS, grace: 'now' })), [5]);
  deepEqual(broken(recorded({ ...SETTINGS, grace: 5_000 })), [5]);
});

test('law 6 sees a line, a memory and a table of calls that grow past their bounds', () => {
  const told = (bounds: ControlSettings['bounds']): ControlSettings => ({
    ...SETTINGS,
    bounds: { ...SETTINGS.bounds, ...bounds },
  });
  deepEqual(broken(sound, told({ lineEntries: 20 })), [6]);
  deepEqual(broken(sound, told({ lineBytes: 20_000 })), [6]);
  deepEqual(broken(sound, told({ lineWaitMs: 5_000 })), [6]);
  deepEqual(broken(sound, told({ replayBytes: 399 })), [6]);
  deepEqual(broken(sound, told({ liveReplayBytes: 1_000 })), [6]);
  deepEqual(broken(sound, told({ retainedBytes: 1_000 })), [6]);
  deepEqual(broken(sound, told({ calls: 30 })), [6]);
  deepEqual(broken(sound, { ...SETTINGS, room: 7 }), [6]);
  const silent: ControlSettings = { ...SETTINGS, room: 'first-token', roomWaiting: 3, roomWhole: 4 };
  const moments = recorded(silent);
  deepEqual(broken(moments, silent), []);
  deepEqual(broken(moments, { ...silent, roomWaiting: 2 }), [6]);
  deepEqual(broken(moments, { ...silent, roomWhole: 3 }), [6]);
  const keeps = throughout(sound, 'forget', () => []);
  deepEqual(broken(keeps, told({ retainedBytes: 20_000 })), [6]);
});

/** Two engines, of which one is gone for a while. */
function several(settings: ControlSettings): Moment[] {
  const moments: Moment[] = [];
  const outages = [{ fromMs: 12_000, untilMs: 20_000, says: 'refused' as const }];
  const options = { ...day(settings), engines: { a: { outages, crashes: [12_000] } } };
  const seen = (moment: Moment): unknown => moments.push({ ...moment, gauges: () => undefined });
  new Workload(options, control, (subject) => new Witness(subject, seen)).run();
  return moments;
}

test('law 6 sees an engine that is asked while it rests, by several at once, in vain again, or for a model it lacks', () => {
  const two: ControlSettings = { ...SETTINGS, engines: [{ name: 'a' }, { name: 'b' }] };
  const moments = several(two);
  deepEqual(broken(moments, two), []);
  const restless = throughout(moments, 'rest', (one) => [{ ...one, restMs: one.restMs * 4 }]);
  deepEqual(broken(restless, two), [6]);
  const away = moments.flatMap((moment) => moment.verdicts).find((one) => one.kind === 'rest');
  ok(away?.kind === 'rest');
  const same = throughout(moments, 'start', (one) =>
    one.earlier > 0 ? [{ ...one, engine: away.engine }] : [one],
  );
  ok(broken(same, two).includes(6), 'the same engine again');
  deepEqual(broken(moments, { ...two, engines: [{ name: 'a', models: ['other'] }, { name: 'b' }] }), [6]);
  deepEqual(broken(moments, { ...two, engines: [{ name: 'a', room: 3 }, { name: 'b' }] }), [6]);
});

test('law 6 sees that two executions try an engine at once', () => {
  const law = new EnginesLaw({ options: controlOptions({ engines: [{ name: 'a' }] }) });
  const see = (at: number, verdict: Verdict): void =>
    law.see({
      at,
      event: { kind: 'time' },
      verdicts: [verdict],
      gauges: () => undefined,
      granted: undefined,
    });
  const start = { kind: 'start', engine: 'a', attempt: 'a1', waitedMs: 0, earlier: 0 } as const;
  see(0, { kind: 'rest', engine: 'a', failure: 'refused', restMs: 500 });
  see(500, { ...start, call: 'c1', execution: 'x1' });
  deepEqual(law.breaches, []);
  see(501, { ...start, call: 'c2', execution: 'x2' });
  deepEqual(
    law.breaches.map(({ what }) => what),
    ['x2 is one probe more of a'],
  );
});

test('law 7 sees a replay of what was sealed, forgotten or never whole', () => {
  const replay = (verdict: Said<'attach'>): boolean => verdict.outcome === 'replayed';
  const execution = (one: Said<'attach'>): string => one.execution ?? '';
  deepEqual(
    broken(planted('attach', replay, (one) => [{ kind: 'seal', execution: execution(one) }, one])),
    [7],
  );
  deepEqual(
    broken(planted('attach', replay, (one) => [{ kind: 'forget', execution: execution(one) }, one])),
    [7],
  );
  const live = (verdict: Said<'attach'>): boolean =>
    verdict.outcome === 'attached' && verdict.execution !== undefined;
  deepEqual(broken(planted('attach', live, (one) => [{ ...one, outcome: 'replayed' }])), [7]);
});

test('law 8 sees a gateway that lets every attempt make work of its own', () => {
  const settings: ControlSettings = { coalesce: 'off', budget: { mode: 'off' }, grace: 'never' };
  const breaches = lateRecovery(recovery(1, patient('key', [250, 3_000]), settings, control));
  deepEqual(
    breaches.map((breach) => breach.law),
    [8],
  );
});
