/** The order `deadline` as scenes: an engine that makes one answer a second, and clients that wait five and ask again. */

import { deepEqual, equal, ok } from 'node:assert/strict';
import type { ControlSettings } from '../../src/core/control/options.js';
import type { Standing } from '../../src/core/control/verdict.js';
import { ownScene, type Scene } from '../support/control-scene.js';
import { AGENTS } from '../support/facts.js';

const DEADLINE_MS = 5_000;
const SECOND = 1_000;
const ONE_AT_A_TIME: ControlSettings = { room: 1, capacity: 1, learnDeadlines: false };

/** The `ordinal`-th attempt of a client of a family that is known to ask four times. */
function ask(s: Scene, name: string, ordinal = 0): void {
  const said = { userAgent: AGENTS.dotnet, explicitDeadlineMs: DEADLINE_MS };
  s.arrive(`${name}.${ordinal}`, { ...said, fingerprint: name, key: name });
}

/** Attempts whose calls were started, in that order, without their ordinals. */
function started(s: Scene): string[] {
  return s.all('start').map(({ attempt }) => attempt.split('.')[0] as string);
}

function standingOf(s: Scene, name: string): Standing {
  const standing = s.all('start').findLast(({ attempt }) => attempt.startsWith(`${name}.`))?.standing;
  ok(standing !== undefined, `${name} was not started`);
  return standing;
}

/** A second passes, and what runs is answered. */
function serve(s: Scene, seconds = 1): void {
  for (let at = 0; at < seconds; at += 1) {
    const running = s.all('start').at(-1)?.attempt;
    s.pass(SECOND);
    if (running !== undefined && s.executionEnding(s.execution(running)) === undefined) s.finish(running);
  }
}

ownScene(
  'once its first attempt has left a call is late for good, though its deadline is still to come',
  (start) => {
    const s = start(ONE_AT_A_TIME);
    for (const name of ['a', 'b', 'c', 'd']) {
      ask(s, name);
      serve(s);
    }
    for (const name of ['running', 'late']) ask(s, name);
    s.pass(2 * SECOND);
    s.leave('late.0');
    ask(s, 'late', 1);
    s.pass(100);
    ask(s, 'new');
    serve(s, 2);
    deepEqual(started(s).slice(4), ['running', 'new', 'late']);
    equal(standingOf(s, 'late').tier, 'late');
  },
);

ownScene(
  'the deadline is that of the first attempt, the end that of the last, by when the client came back',
  (start) => {
    const after = (gapMs: number): Standing => {
      const s = start(ONE_AT_A_TIME);
      for (const name of ['running', 'late']) ask(s, name);
      s.pass(DEADLINE_MS);
      s.leave('late.0');
      s.pass(gapMs);
      ask(s, 'late', 1);
      s.pass(3 * SECOND - gapMs);
      s.finish('running.0');
      return standingOf(s, 'late');
    };
    const [soon, later] = [after(SECOND), after(2 * SECOND)];
    equal(soon.deadlineInMs, -3 * SECOND);
    equal(later.deadlineInMs, -3 * SECOND);
    equal(later.giveUpInMs - soon.giveUpInMs, SECOND);
  },
);

ownScene(
  'an attempt that came before its predecessor was seen to leave counts for how long its client waits',
  (start) => {
    const s = start(ONE_AT_A_TIME);
    const come = (attempt: string, fingerprint: string): void =>
      s.arrive(attempt, { explicitDeadlineMs: DEADLINE_MS, fingerprint });
    come('running.0', 'running');
    come('late.0', 'late');
    s.pass(DEADLINE_MS);
    come('late.1', 'late');
    s.pass(100);
    s.leave('late.0');
    s.pass(900);
    s.finish('running.0');
    equal(standingOf(s, 'late').giveUpInMs, DEADLINE_MS - SECOND);
  },
);

ownScene('what waits behind an equal call stays behind it when more is expected of that one', (start) => {
  const s = start({ room: 1, capacity: 1 });
  const come = (attempt: string, explicitDeadlineMs = DEADLINE_MS, retryCount?: number): void => {
    const fingerprint = attempt.split('.')[0] as string;
    s.arrive(attempt, {
      explicitDeadlineMs,
      fingerprint,
      ...(retryCount === undefined ? {} : { retryCount }),
    });
  };
  for (const name of ['running', 'late', 'other']) come(`${name}.0`);
  s.pass(DEADLINE_MS);
  s.leave('late.0', 'other.0');
  s.pass(100);
  for (const name of ['late', 'other']) come(`${name}.1`);
  s.pass(900);
  come('late.beside', 4 * DEADLINE_MS);
  for (const name of ['one', 'two']) come(`${name}.2`, DEADLINE_MS, 2);
  s.pass(2 * SECOND);
  s.finish('running.0');
  for (let at = 0; at < 4; at += 1) s.finish(s.all('start').at(-1)?.attempt ?? '');
  const order = s.all('start').map(({ attempt }) => attempt);
  deepEqual(
    order.filter((attempt) => attempt.startsWith('late.')),
    ['late.0', 'late.beside'],
  );
});

ownScene('nobody is put off past the longest wait in line, however long its client would go on', (start) => {
  const s = start({ ...ONE_AT_A_TIME, bounds: { lineWaitMs: 12 * SECOND } });
  const waiting = new Map<string, { ordinal: number; until: number }>();
  const come = (name: string): void => {
    ask(s, name);
    waiting.set(name, { ordinal: 0, until: s.now + DEADLINE_MS });
  };
  for (let at = 0; at < 9; at += 1) come(`pulse-${at}`);
  for (let second = 0; second < 60; second += 1) {
    serve(s);
    for (const name of started(s)) waiting.delete(name);
    for (const [name, its] of waiting) {
      if (its.until > s.now) continue;
      s.leave(`${name}.${its.ordinal}`);
      its.ordinal += 1;
      its.until = s.now + DEADLINE_MS;
      ask(s, name, its.ordinal);
    }
    come(`hold-${second}`);
  }
  const lost = s.all('drop').map(({ ending }) => ending);
  deepEqual(lost, []);
});
