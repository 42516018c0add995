/** Axes: their ticks are round, reach over the data, and are few. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { binSeconds, roundScale, roundStep, timeScale } from './scale.js';

test('the ticks of an axis are multiples of 1, 2 or 5 times a power of ten and reach over the data', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 1e-6, max: 1e9, noNaN: true }),
      fc.integer({ min: 2, max: 10 }),
      (most, count) => {
        const { ticks, most: top } = roundScale(most, count, 0, 100);
        const step = (ticks[1] ?? 0) - (ticks[0] ?? 0);
        const mantissa = step / 10 ** Math.floor(Math.log10(step * (1 + 1e-9)));
        assert.ok(
          [1, 2, 5].some((round) => Math.abs(mantissa - round) < 1e-6),
          `step ${step}`,
        );
        assert.ok(top >= most * (1 - 1e-6));
        assert.ok(ticks.length >= 2 && ticks.length <= count + 2, `${ticks.length} ticks`);
        assert.equal(ticks[0], 0);
      },
    ),
  );
});

test('a value lies between the ends of its axis, in proportion', () => {
  const { at, most } = roundScale(80, 5, 200, 0);
  assert.equal(most, 80);
  assert.equal(at(0), 200);
  assert.equal(at(80), 0);
  assert.equal(at(40), 100);
  assert.equal(at(1_000), 0);
});

test('the ticks of a time axis are steps of a clock', () => {
  assert.deepEqual(timeScale(947, 7, 0, 1).ticks, [0, 300, 600, 900]);
  assert.deepEqual(timeScale(59, 7, 0, 1).ticks, [0, 10, 20, 30, 40, 50]);
  assert.deepEqual(timeScale(0, 7, 0, 1).ticks, [0, 1]);
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e8, noNaN: true }), (length) => {
      assert.ok(timeScale(length, 7, 0, 1).ticks.length <= 8);
    }),
  );
});

test('bins are round and no more than asked for', () => {
  assert.equal(binSeconds(1_300, 70), 20);
  fc.assert(
    fc.property(
      fc.double({ min: 1, max: 1e8, noNaN: true }),
      fc.integer({ min: 5, max: 200 }),
      (length, most) => {
        assert.ok(length / binSeconds(length, most) <= most);
      },
    ),
  );
});

test('a step is rounded up, and a round one is kept', () => {
  assert.deepEqual([1, 1.1, 2, 2.1, 5, 6, 0.3, 300].map(roundStep), [1, 2, 2, 5, 5, 10, 0.5, 500]);
});
