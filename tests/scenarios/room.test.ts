/** Rooms that follow an engine's gauges as named scenes: when there is a limit, what is said, and when none is. */

import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import type { Control } from '../../src/core/control/control.js';
import type { EngineLoad } from '../../src/core/control/engine-load.js';
import type { ControlSettings } from '../../src/core/control/options.js';
import { Scene } from '../support/control-scene.js';
import { control } from '../support/subject.js';

const ENGINE = 'engine';
const LOOK_MS = 500;

function start(settings: ControlSettings): Scene {
  return new Scene(control, { learnDeadlines: false, roomTarget: 2, ...settings });
}

function calls(s: Scene, from: number, count: number): void {
  for (let at = from; at < from + count; at += 1) s.arrive(`call-${at}`, { fingerprint: `call-${at}` });
}

function look(s: Scene, load: EngineLoad | undefined, times = 1): void {
  for (let at = 0; at < times; at += 1) {
    s.pass(LOOK_MS);
    s.send({ kind: 'gauges', engine: ENGINE, load });
  }
}

const warnings = (s: Scene): string[] => s.all('warn').map(({ warning }) => warning);
const trust = (s: Scene): unknown => (s.subject as Control).gauges().engines[0]?.trust;

test('by default an engine whose gauges were never read has no limit, and nothing is said of it', () => {
  const s = start({});
  look(s, undefined, 10);
  calls(s, 0, 500);
  look(s, undefined, 10);
  equal(s.all('start').length, 500);
  deepEqual(warnings(s), []);
  equal(trust(s), undefined);
});

test('by default the room of an engine follows its gauges from the first look that reads them', () => {
  const s = start({});
  calls(s, 0, 100);
  look(s, undefined, 3);
  equal(s.all('start').length, 100);
  look(s, { running: 40, waiting: 60 });
  calls(s, 100, 20);
  equal(s.all('start').length, 100, 'the others wait');
  for (let at = 0; at < 70; at += 1) s.finish(`call-${at}`);
  look(s, { running: 42, waiting: 0 }, 3);
  equal(s.all('start').length, 120);
  equal(trust(s), 'trusted');
});

test('gauges that were read once and are gone are said to be, and what they said last is no limit for ever', () => {
  const s = start({});
  look(s, { running: 0, waiting: 0 });
  calls(s, 0, 200);
  look(s, undefined, 2);
  deepEqual(warnings(s), []);
  look(s, undefined, 1);
  deepEqual(warnings(s), ['engine_gauges_absent']);
  equal(trust(s), 'absent');
  equal(s.all('start').length, 200);
});

test('where the room is asked to follow gauges, their absence is said from the first', () => {
  const s = start({ room: 'engine' });
  look(s, undefined, 3);
  deepEqual(warnings(s), ['engine_gauges_absent']);
});

test('of two engines the one with fewer executions is next, whatever their gauges allow at the moment', () => {
  const s = start({ engines: [{ name: ENGINE }, { name: 'other' }] });
  s.send({ kind: 'gauges', engine: ENGINE, load: { running: 0, waiting: 0 } });
  s.send({ kind: 'gauges', engine: 'other', load: { running: 0, waiting: 3 } });
  calls(s, 0, 4);
  deepEqual(
    s.all('start').map(({ engine }) => engine),
    [ENGINE, 'other', ENGINE, 'other'],
  );
});

test('executions that end at once do not hide that the gauges lack others', () => {
  const s = start({ room: 'engine' });
  calls(s, 0, 20);
  look(s, { running: 20, waiting: 0 }, 3);
  for (let round = 1; round <= 12; round += 1) {
    s.pass(LOOK_MS);
    calls(s, 20 * round, 20);
    for (let at = 20 * round; at < 20 * (round + 1); at += 1) s.finish(`call-${at}`);
    s.send({ kind: 'gauges', engine: ENGINE, load: { running: round % 2, waiting: 0 } });
  }
  deepEqual(warnings(s), ['engine_gauges_wrong']);
});

test('what was just sent need not show in the gauges yet', () => {
  const s = start({ room: 'engine' });
  for (let round = 1; round <= 14; round += 1) {
    calls(s, 20 * round, 20);
    s.send({ kind: 'gauges', engine: ENGINE, load: { running: 20 * Math.max(0, round - 2), waiting: 0 } });
    s.pass(LOOK_MS);
  }
  equal(s.all('start').length, 14 * 20);
  deepEqual(warnings(s), []);
  equal(trust(s), 'trusted');
});
