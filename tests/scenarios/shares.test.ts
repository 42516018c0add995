/** The line's service shared by weight as named scenes: who of several tenants is served, how often, and when. */

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import type { ControlSettings } from '../../src/core/control/options.js';
import { Scene } from '../support/control-scene.js';
import { control } from '../support/subject.js';

const SHARED: ControlSettings = { room: 1, shares: 'tenant', order: 'oldest-first' };
const WEIGHTS: Readonly<Record<string, number>> = { heavy: 3, light: 1, third: 1 };

/** Tenants that the engine knows, and a call that keeps its only place taken. */
function opened(settings: ControlSettings, tenants: readonly string[]): Scene {
  const s = new Scene(control, settings);
  for (const tenant of tenants) {
    s.arrive(`known-${tenant}`, { tenant, fingerprint: 'known' });
    s.deliver(`known-${tenant}`);
  }
  s.arrive('runs', { tenant: 'other', fingerprint: 'runs' });
  return s;
}

function wait(s: Scene, tenant: string, count: number, from = 0): void {
  for (let at = from; at < from + count; at += 1) {
    const name = `${tenant}-${at}`;
    s.arrive(name, { tenant, fingerprint: name, weight: WEIGHTS[tenant] });
  }
}

/** The tenants of the next `count` that start, one after another. */
function served(s: Scene, count: number): string[] {
  const names: string[] = [];
  for (let running = s.all('start').at(-1)?.attempt ?? ''; names.length < count; ) {
    s.finish(running);
    running = s.all('start').at(-1)?.attempt ?? '';
    names.push(running.split('-')[0] ?? '');
  }
  return names;
}

const countOf = (names: readonly string[], tenant: string): number =>
  names.filter((name) => name === tenant).length;

test('two tenants that wait are served three to one, as they weigh, whoever came first', () => {
  const s = opened(SHARED, ['heavy', 'light']);
  wait(s, 'light', 40);
  wait(s, 'heavy', 40);
  const names = served(s, 40);
  deepEqual([countOf(names, 'heavy'), countOf(names, 'light')], [30, 10]);
  for (let at = 0; at < 40; at += 4) equal(countOf(names.slice(at, at + 4), 'light'), 1, `${at}`);
});

test('without shares the order alone decides, whoever weighs what', () => {
  const s = opened({ ...SHARED, shares: 'off' }, ['heavy', 'light']);
  wait(s, 'light', 8);
  wait(s, 'heavy', 8);
  equal(countOf(served(s, 8), 'light'), 8);
});

test('a tenant that waits alone has all of the service, and keeps none of it up for later', () => {
  const s = opened(SHARED, ['light', 'third']);
  wait(s, 'light', 30);
  equal(countOf(served(s, 20), 'light'), 20);
  wait(s, 'third', 20);
  const names = served(s, 10);
  deepEqual([countOf(names, 'light'), countOf(names, 'third')], [5, 5]);
});

test('who keeps one call in line at a time has no more than its share by that', () => {
  const s = opened(SHARED, ['heavy', 'light']);
  wait(s, 'heavy', 60);
  wait(s, 'light', 1);
  let light = 0;
  for (let at = 1; at <= 40; at += 1) {
    if (served(s, 1)[0] !== 'light') continue;
    light += 1;
    wait(s, 'light', 1, at);
  }
  equal(light, 10);
});

test('credentials that the engine has not accepted have one share together, whatever they claim', () => {
  const s = opened(SHARED, ['light']);
  for (let at = 0; at < 20; at += 1) {
    s.arrive(`stranger-${at}`, { tenant: `stranger-${at}`, fingerprint: 'x', weight: 1_000 });
  }
  wait(s, 'light', 20);
  // Whoever is served is accepted from then on, and a tenant of its own; the failed ones are not.
  const names: string[] = [];
  for (let running = 'runs'; names.length < 10; ) {
    s.fail(running, 'status_4xx', 401);
    running = s.all('start').at(-1)?.attempt ?? '';
    names.push(running.split('-')[0] ?? '');
  }
  deepEqual([countOf(names, 'light'), countOf(names, 'stranger')], [5, 5]);
});

test('by deadline, too, the tenant with ten times the calls makes nobody of another tenant late', () => {
  const s = opened({ room: 1, shares: 'tenant', capacity: 1 }, ['light', 'third']);
  const patient = { explicitDeadlineMs: 60_000 };
  for (let at = 0; at < 300; at += 1)
    s.arrive(`light-${at}`, { tenant: 'light', fingerprint: `l${at}`, ...patient });
  for (let at = 0; at < 25; at += 1)
    s.arrive(`third-${at}`, { tenant: 'third', fingerprint: `t${at}`, ...patient });
  let running = 'runs';
  const onTime: string[] = [];
  for (let at = 0; at < 55; at += 1) {
    s.pass(1_000);
    s.finish(running);
    running = s.all('start').at(-1)?.attempt ?? '';
    onTime.push(running.split('-')[0] ?? '');
  }
  equal(countOf(onTime, 'third'), 25);
});

test('by deadline, who can be on time is judged at the tenant’s part of the pace, not at the whole of it', () => {
  const s = opened({ room: 1, shares: 'tenant', capacity: 1 }, ['light', 'third']);
  wait(s, 'third', 100);
  // At one call in two seconds fifteen can be on time in half a minute, and those let go for them are late.
  for (let at = 0; at < 30; at += 1) {
    s.arrive(`light-${at}`, { tenant: 'light', fingerprint: `l${at}`, explicitDeadlineMs: 30_000 + at });
  }
  served(s, 2);
  const first = s.all('start').find(({ attempt }) => attempt.startsWith('light-'));
  ok(first !== undefined);
  equal(first.standing?.tier, 'on_time');
  const letGo = Number(first.attempt.split('-')[1]);
  ok(letGo >= 14 && letGo <= 17, `${letGo} were let go before the first on-time one`);
});

test('what waited before its tenant was known has the tenant’s share once it is, and is not passed by what came later', () => {
  const s = opened(SHARED, ['light']);
  wait(s, 'light', 20);
  wait(s, 'heavy', 6);
  s.finish('runs');
  const first = s.all('start').at(-1)?.attempt ?? '';
  ok(first.startsWith('light') || first.startsWith('heavy'));
  // Whichever of the two went first, heavy is known as soon as one of its own is answered.
  const names = served(s, 2);
  ok([first, ...names].some((name) => name.startsWith('heavy')));
  wait(s, 'heavy', 6, 6);
  const order = s.all('start').length;
  served(s, 12);
  const heavy = s
    .all('start')
    .slice(order)
    .map(({ attempt }) => attempt ?? '')
    .filter((name) => name.startsWith('heavy'));
  deepEqual(
    heavy,
    heavy.toSorted((a, b) => Number(a.split('-')[1]) - Number(b.split('-')[1])),
    'the oldest first',
  );
});
