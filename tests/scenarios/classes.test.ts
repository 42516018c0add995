/** Classes of calls as named scenes: who goes before whom, who may be of which class, and who keeps it. */

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import type { AttemptFacts } from '../../src/core/control/event.js';
import { type ControlSettings, controlOptions } from '../../src/core/control/options.js';
import { Scene } from '../support/control-scene.js';
import { control } from '../support/subject.js';

/** Anybody may ask for any class. */
const OPEN: ControlSettings = { room: 1, order: 'oldest-first', maxClass: 'interactive' };

/** Tenants that the engine knows, and a call that keeps its only place taken. */
function opened(settings: ControlSettings, tenants: readonly string[] = ['acme']): Scene {
  const s = new Scene(control, settings);
  for (const tenant of tenants) {
    s.arrive(`known-${tenant}`, { tenant, fingerprint: 'known' });
    s.deliver(`known-${tenant}`);
  }
  s.arrive('runs', { tenant: 'other', fingerprint: 'runs' });
  return s;
}

/** `count` calls that wait, `name-0` and so on. */
function wait(s: Scene, name: string, count: number, said: Partial<AttemptFacts> = {}): void {
  for (let at = 0; at < count; at += 1) {
    s.arrive(`${name}-${at}`, { fingerprint: `${name}-${at}`, ...said });
  }
}

const running = (s: Scene): string => s.all('start').at(-1)?.attempt ?? '';
/** The classes of the calls by the class that they started as. */
const classOf = (s: Scene, attempt: string): string | undefined =>
  s.all('start').find((one) => one.attempt === attempt)?.standing?.class;

/** The next `count` that start, one after another, each by its name up to the dash. */
function served(s: Scene, count: number): string[] {
  const names: string[] = [];
  while (names.length < count) {
    s.finish(running(s));
    names.push(running(s).split('-')[0] ?? '');
  }
  return names;
}

test('a higher class goes first, whoever came first, and inside a class the order decides', () => {
  const s = opened(OPEN);
  wait(s, 'later', 2, { class: 'batch' });
  wait(s, 'usual', 2);
  wait(s, 'first', 2, { class: 'interactive' });
  deepEqual(served(s, 6), ['first', 'first', 'usual', 'usual', 'later', 'later']);
  deepEqual(
    ['first-0', 'usual-0', 'later-0'].map((name) => classOf(s, name)),
    ['interactive', 'standard', 'batch'],
  );
});

test('without classes the order alone decides, and nobody is said to be of one', () => {
  const s = opened({ ...OPEN, classes: [] });
  wait(s, 'later', 1, { class: 'batch' });
  wait(s, 'first', 1, { class: 'interactive' });
  deepEqual(served(s, 2), ['later', 'first']);
  equal(classOf(s, 'later-0'), undefined);
  deepEqual(s.all('warn'), []);
});

test('a lower class that waits has one start in twenty, however many of a higher one there are', () => {
  const s = opened(OPEN);
  wait(s, 'later', 4, { class: 'batch' });
  wait(s, 'first', 70, { class: 'interactive' });
  const names = served(s, 60);
  deepEqual(
    names.flatMap((name, at) => (name === 'later' ? [at] : [])),
    [19, 39, 59],
  );
});

test('a class above its tenant’s highest is lowered to that, whatever the request says', () => {
  const s = opened({ ...OPEN, maxClass: undefined }, ['acme', 'dear', 'cheap']);
  wait(s, 'plain', 1, { class: 'interactive' });
  wait(s, 'cheap', 1, { class: 'interactive', maxClass: 'batch', tenant: 'cheap' });
  wait(s, 'dear', 1, { class: 'interactive', maxClass: 'interactive', tenant: 'dear' });
  wait(s, 'modest', 1, { class: 'batch', maxClass: 'interactive', tenant: 'dear' });
  deepEqual(served(s, 4), ['dear', 'plain', 'cheap', 'modest']);
  deepEqual(
    ['dear-0', 'plain-0', 'cheap-0'].map((name) => classOf(s, name)),
    ['interactive', 'standard', 'batch'],
  );
});

test('a credential that the engine has not accepted has the default class at most', () => {
  const s = opened(OPEN);
  wait(s, 'stranger', 1, { class: 'interactive', tenant: 'stranger', maxClass: 'interactive' });
  wait(s, 'low', 1, { class: 'batch', tenant: 'low' });
  served(s, 2);
  deepEqual([classOf(s, 'stranger-0'), classOf(s, 'low-0')], ['standard', 'batch']);
  wait(s, 'stranger-again', 1, { class: 'interactive', tenant: 'stranger' });
  served(s, 1);
  equal(classOf(s, 'stranger-again-0'), 'interactive');
});

test('a session keeps the class of its first call, in its tenant alone', () => {
  const s = opened(OPEN, ['acme', 'other']);
  wait(s, 'begins', 1, { session: 's', class: 'batch' });
  wait(s, 'goes', 1, { session: 's', class: 'interactive' });
  wait(s, 'elsewhere', 1, { session: 's', class: 'interactive', tenant: 'other' });
  wait(s, 'quiet', 1, { session: 't' });
  wait(s, 'raised', 1, { session: 't', class: 'interactive' });
  served(s, 5);
  deepEqual(
    ['begins-0', 'goes-0', 'elsewhere-0', 'quiet-0', 'raised-0'].map((name) => classOf(s, name)),
    ['batch', 'batch', 'interactive', 'standard', 'standard'],
  );
});

test('sessions beyond the bound are forgotten, the one used the longest ago first', () => {
  const s = opened({ ...OPEN, bounds: { learnedKeys: 2 } });
  wait(s, 'a', 1, { session: 'a', class: 'batch' });
  wait(s, 'b', 1, { session: 'b', class: 'batch' });
  wait(s, 'a-again', 1, { session: 'a' });
  wait(s, 'c', 1, { session: 'c', class: 'batch' });
  wait(s, 'a-third', 1, { session: 'a' });
  wait(s, 'b-again', 1, { session: 'b' });
  served(s, 6);
  deepEqual(
    ['a-again-0', 'a-third-0', 'b-again-0'].map((name) => classOf(s, name)),
    ['batch', 'batch', 'standard'],
  );
});

test('a class that there is not is the default one, and is warned about', () => {
  const s = opened(OPEN);
  wait(s, 'odd', 1, { class: 'royal' });
  wait(s, 'even', 1, { class: 'batch' });
  served(s, 2);
  equal(classOf(s, 'odd-0'), 'standard');
  deepEqual(s.all('warn'), [{ kind: 'warn', warning: 'unknown_class', attempt: 'odd-0' }]);
});

test('an attempt of a higher class raises the call that it is attached to, and one of a lower does not lower it', () => {
  const s = opened(OPEN);
  wait(s, 'usual', 2);
  s.arrive('low.0', { fingerprint: 'low', class: 'batch' });
  s.leave('low.0');
  s.pass(1_100);
  s.arrive('low.1', { fingerprint: 'low', class: 'interactive' });
  equal(s.decision('low.1'), 'adopt_entry');
  s.leave('low.1');
  s.pass(1_100);
  s.arrive('low.2', { fingerprint: 'low', class: 'batch' });
  deepEqual(served(s, 1), ['low.0']);
  equal(classOf(s, 'low.0'), 'interactive');
});

test('an equal that turns out to be the retry of a waiting call raises it to its own class', () => {
  const s = opened(OPEN);
  wait(s, 'usual', 2);
  s.arrive('low.0', { fingerprint: 'low', class: 'batch' });
  s.pass(700);
  s.arrive('low.1', { fingerprint: 'low', class: 'interactive' });
  s.leave('low.0');
  equal(s.decision('low.1'), 'late_merge');
  deepEqual(served(s, 1), ['low.0']);
});

test('tenants are served by weight before classes are looked at, and each shares its own part among its classes', () => {
  const s = opened({ ...OPEN, shares: 'tenant' }, ['acme', 'rival']);
  wait(s, 'loud', 60, { class: 'interactive' });
  wait(s, 'quiet', 45, { class: 'batch', tenant: 'rival' });
  wait(s, 'behind', 10, { class: 'batch' });
  const names = served(s, 80);
  const count = (name: string): number => names.filter((one) => one === name).length;
  equal(count('quiet'), 40);
  equal(count('behind'), 2);
});

/** By deadline, a call a second. */
const DUE: ControlSettings = { room: 1, capacity: 1, maxClass: 'interactive' };
const FOUR_ATTEMPTS = 'OpenAI/2.0 (.NET 8.0)';

test('by deadline, a late call of a lower class goes before a higher one that has time, once it would be lost', () => {
  const s = opened(DUE);
  const late = { class: 'batch', userAgent: FOUR_ATTEMPTS, explicitDeadlineMs: 10_000 };
  s.arrive('late.0', { fingerprint: 'late', ...late });
  for (let at = 0; at < 3; at += 1) {
    s.pass(10_000);
    s.leave(`late.${at}`);
    s.pass(200);
    s.arrive(`late.${at + 1}`, { fingerprint: 'late', ...late });
    wait(s, `first${at}`, 4, { class: 'interactive', explicitDeadlineMs: 60_000 });
  }
  const names: string[] = [];
  for (let at = 0; at < 9; at += 1) {
    s.pass(1_000);
    names.push(...served(s, 1));
  }
  const [place, its] = [names.indexOf('late.0'), s.all('start').find(({ attempt }) => attempt === 'late.0')];
  ok(place >= 1, `it went ${place} of ${names.join(' ')}`);
  deepEqual([its?.standing?.tier, its?.standing?.class], ['pressing', 'batch']);
  ok((its?.standing?.giveUpInMs ?? 0) > 1_000, 'it is in time');
});

test('by deadline, what is hopeless in a higher class goes behind what is not in a lower one', () => {
  const s = opened(DUE);
  s.arrive('gone', { fingerprint: 'gone', class: 'interactive', explicitDeadlineMs: 5_000 });
  s.pass(6_000);
  s.leave('gone');
  s.pass(100);
  wait(s, 'later', 2, { class: 'batch', explicitDeadlineMs: 60_000 });
  deepEqual(served(s, 3), ['later', 'later', 'gone']);
});

test('classes that do not fit are refused with what would be right', () => {
  const cases: readonly (readonly [ControlSettings, RegExp])[] = [
    [{ classes: ['a', 'b'] }, /defaultClass must be one of the classes a, b, not standard/],
    [{ classes: ['a', 'b'], defaultClass: 'b', maxClass: 'c' }, /maxClass must be one of the classes a, b/],
    [{ classes: ['a', 'a'], defaultClass: 'a' }, /classes\[1\] must differ/],
    [{ classes: ['a', ''], defaultClass: 'a' }, /classes\[1\] must be a whole number from 1 to 64, not 0/],
    [{ classes: 'abcdefghi'.split(''), defaultClass: 'a' }, /the number of classes must be .* 0 to 8, not 9/],
  ];
  for (const [settings, message] of cases) {
    let said = '';
    try {
      controlOptions(settings);
    } catch (error) {
      ok(error instanceof RangeError);
      said = error.message;
    }
    ok(message.test(said), said);
  }
});
