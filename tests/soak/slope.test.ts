/** A leak is told from noise, and noise from a leak, also where one reading hangs together with the next. */

import { equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { Random } from '../../src/core/chance/random.js';
import { LEAST_READINGS, type Reading, slopeOf, verdictOf } from './slope.js';

const READINGS = 144;
const SEEDS = 400;

/** A normal deviate, by Box and Muller. */
function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random.uniform())) * Math.cos(2 * Math.PI * random.uniform());
}

/** One every ten seconds: `leak` a minute, and noise of deviation 1,000 of which `kept` carries over to the next. */
function series(seed: number, leak: number, kept: number, count = READINGS): Reading[] {
  const random = new Random(seed, 'slope');
  let noise = 1_000 * normal(random);
  return Array.from({ length: count }, (_, at) => {
    noise = kept * noise + Math.sqrt(1 - kept ** 2) * 1_000 * normal(random);
    return { minutes: at / 6, value: 50_000 + (leak * at) / 6 + noise };
  });
}

for (const kept of [0, 0.5, 0.8]) {
  test(`the interval holds the true slope in 19 of 20 cases or nearly, where ${kept} of the noise carries over`, () => {
    let held = 0;
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const slope = slopeOf(series(seed, 30, kept));
      if (slope !== undefined && slope.low <= 30 && 30 <= slope.high) held += 1;
    }
    ok(held / SEEDS > 0.91, `${held} of ${SEEDS}`);
  });
}

test('a planted leak is found, and its absence is seen', () => {
  const threshold = 200;
  for (let seed = 1; seed <= 50; seed += 1) {
    equal(verdictOf(slopeOf(series(seed, 0, 0.5)), threshold), 'flat', `seed ${seed}`);
    equal(verdictOf(slopeOf(series(seed, 400, 0.5)), threshold), 'grows', `seed ${seed}`);
  }
});

test('a leak at the threshold is not called flat but once in a while', () => {
  let flat = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1)
    if (verdictOf(slopeOf(series(seed, 100, 0.5)), 100) === 'flat') flat += 1;
  ok(flat / SEEDS < 0.05, `${flat} of ${SEEDS}`);
});

test('too few readings, and too much noise, are said to decide nothing', () => {
  equal(slopeOf(series(1, 0, 0, LEAST_READINGS - 1)), undefined);
  equal(verdictOf(undefined, 100), 'undecided');
  equal(verdictOf(slopeOf(series(1, 0, 0.8, LEAST_READINGS)), 10), 'undecided');
});

test('a line without noise has its slope exactly', () => {
  const slope = slopeOf(Array.from({ length: 20 }, (_, at) => ({ minutes: at, value: 5 + 3 * at })));
  ok(slope !== undefined && Math.abs(slope.perMinute - 3) < 1e-9);
  ok(slope.high - slope.low < 1e-6);
});
