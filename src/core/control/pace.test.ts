/** The rate of a full engine, and how long executions take. */

import { equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { Pace } from './pace.js';
import { ServiceTimes } from './service.js';

function close(actual: number, expected: number): void {
  ok(Math.abs(actual - expected) < 0.05 * expected, `${actual}, not about ${expected}`);
}

/** Completions every `everyMs` of executions of `ageMs`, from `from` on. */
function complete(pace: Pace, from: number, everyMs: number, count: number, ageMs = 1_000): void {
  for (let at = 1; at <= count; at += 1) pace.finished(from + at * everyMs, ageMs);
}

test('without a stated capacity the pace is unknown until enough was seen of a full engine', () => {
  const pace = new Pace();
  complete(pace, 0, 100, 100);
  equal(pace.paceMs(undefined), 0);
  pace.full(10_000, true);
  complete(pace, 10_000, 300, 100);
  close(pace.paceMs(undefined), 300);
});

test('what an engine does while nobody waits for it says nothing of its pace', () => {
  const pace = new Pace();
  pace.full(0, true);
  complete(pace, 0, 300, 100);
  pace.full(30_000, false);
  complete(pace, 30_000, 5_000, 100);
  close(pace.paceMs(undefined), 300);
});

test('what began before the engine was full says nothing of a full one', () => {
  const pace = new Pace();
  pace.full(0, true);
  complete(pace, 0, 10, 90, 1_000);
  equal(pace.paceMs(undefined), 0);
});

test('a stated capacity counts from the start and gives way to what is seen', () => {
  const pace = new Pace();
  equal(pace.paceMs(4), 250);
  pace.full(0, true);
  complete(pace, 0, 1_000, 2_000);
  const seen = pace.paceMs(4);
  ok(seen > 550 && seen < 1_000, `${seen}`);
});

test('service times have a mean, and a spread in means', () => {
  const times = new ServiceTimes();
  equal(times.meanMs, 0);
  equal(times.spread(0.99), 1);
  for (let at = 0; at < 1_024; at += 1) times.add(1 + (at % 256));
  close(times.meanMs, 128);
  close(times.spread(0.5), 1);
  close(times.spread(0.99), 2);
});
