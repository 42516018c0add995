/** A law that fails names the seed that broke it. */

import { deepEqual, equal, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { forEachSeed, runs, seeds } from './seeds.js';

const alone = process.env['HOLDFAST_SEED'] !== undefined;
const long = process.env['HOLDFAST_LONG'] === '1';

test('a law meets every seed of the run, and many more in a long one', {
  skip: alone && 'HOLDFAST_SEED is set',
}, () => {
  const met: number[] = [];
  forEachSeed(3, (seed) => met.push(seed), 4);
  deepEqual(met, long ? [1, 2, 3, 4] : [1, 2, 3]);
  equal(runs(3), long ? 60 : 3);
});

test('a failure carries its seed and how to run it alone', () => {
  const last = seeds(2).at(-1) as number;
  throws(
    () =>
      forEachSeed(2, (seed) => {
        if (seed === last) throw new Error('planted');
      }),
    new RegExp(`seed ${last}: planted \\(run it alone with HOLDFAST_SEED=${last}\\)`),
  );
});
