/** Bins: whatever is counted in them is all there, once. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { binsOver, countIn, meansIn, risesIn } from './bins.js';

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const moments = fc.array(fc.double({ min: 0, max: 2e6, noNaN: true }), { maxLength: 200 });

test('every moment is in exactly one bin', () => {
  fc.assert(
    fc.property(moments, fc.integer({ min: 1, max: 1_000 }), (ms, seconds) => {
      const bins = binsOver(seconds, 50);
      assert.equal(sum(countIn(bins, ms)), ms.length);
      assert.ok(bins.count <= 50 && bins.count * bins.seconds >= seconds);
    }),
  );
  assert.deepEqual(countIn({ seconds: 10, count: 3 }, [0, 9_999, 10_000, 29_999, 30_000]), [2, 1, 2]);
});

test('the rises of a counter sum to its rise', () => {
  const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 40_000 }), fc.integer({ min: 0, max: 1_000 })), {
    minLength: 2,
    maxLength: 60,
  });
  fc.assert(
    fc.property(steps, (gaps) => {
      let [ms, value] = [0, 0];
      const read = gaps.map(([gap, rise]): [number, number] => [(ms += gap), (value += rise)]);
      const rises = risesIn({ seconds: 7, count: 30 }, read);
      const rose = (read.at(-1)?.[1] ?? 0) - (read[0]?.[1] ?? 0);
      assert.ok(Math.abs(sum(rises) - rose) < 1e-6 * Math.max(1, rose), `${sum(rises)} ${rose}`);
      assert.ok(rises.every((rise) => rise >= 0));
    }),
  );
  assert.deepEqual(
    risesIn({ seconds: 1, count: 2 }, [
      [0, 0],
      [2_000, 10],
    ]),
    [5, 5],
  );
});

test('a counter that began anew rises from nothing', () => {
  assert.deepEqual(
    risesIn({ seconds: 1, count: 3 }, [
      [0, 90],
      [900, 100],
      [1_900, 7],
    ]),
    [10.7, 6.3].map((value) => Number(value.toFixed(9))).concat(0),
  );
});

test('a bin without a reading has no mean', () => {
  assert.deepEqual(
    meansIn({ seconds: 1, count: 3 }, [
      [0, 2],
      [500, 4],
      [2_500, 9],
    ]),
    [3, undefined, 9],
  );
});
