/** What repeatable chance promises: same seed same draws, independent named streams, roughly uniform values. */

import { deepEqual, equal, notDeepEqual, ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Random } from './random.js';

const draws = (random: Random, count: number): number[] =>
  Array.from({ length: count }, () => random.uniform());

/** Pearson's correlation of two equally long lists. */
function correlation(a: readonly number[], b: readonly number[]): number {
  const mean = (list: readonly number[]): number => list.reduce((sum, value) => sum + value, 0) / list.length;
  const [meanA, meanB] = [mean(a), mean(b)];
  let [both, squareA, squareB] = [0, 0, 0];
  a.forEach((value, at) => {
    const offA = value - meanA;
    const offB = (b[at] as number) - meanB;
    both += offA * offB;
    squareA += offA * offA;
    squareB += offB * offB;
  });
  return both / Math.sqrt(squareA * squareB);
}

test('the same seed and name give the same draws', () => {
  fc.assert(
    fc.property(fc.integer(), fc.string(), (seed, name) => {
      deepEqual(draws(new Random(seed, name), 20), draws(new Random(seed, name), 20));
      deepEqual(draws(new Random(seed).stream(name), 20), draws(new Random(seed, name), 20));
    }),
  );
});

test('the draws of a seed stay what they were, so that published records can be made again', () => {
  const random = new Random(1, 'arrivals');
  deepEqual([random.uint32(), random.uint32(), random.uint32()], [3473671399, 1395674004, 544912555]);
});

test('a stream does not depend on how many draws another has made', () => {
  const run = new Random(7);
  const alone = draws(run.stream('arrivals'), 50);
  draws(run, 1000);
  draws(run.stream('lengths'), 1000);
  deepEqual(draws(run.stream('arrivals'), 50), alone);
});

test('other names and other seeds give other draws', () => {
  notDeepEqual(draws(new Random(1, 'a'), 10), draws(new Random(1, 'b'), 10));
  notDeepEqual(draws(new Random(1, 'a'), 10), draws(new Random(2, 'a'), 10));
});

test('streams of one seed, and one stream of neighbouring seeds, are uncorrelated', () => {
  const count = 20_000;
  // Five standard errors of the correlation of independent lists.
  const bound = 5 / Math.sqrt(count);
  for (let seed = 0; seed < 20; seed += 1) {
    const arrivals = draws(new Random(seed, 'arrivals'), count);
    ok(Math.abs(correlation(arrivals, draws(new Random(seed, 'lengths'), count))) < bound, `seed ${seed}`);
    ok(
      Math.abs(correlation(arrivals, draws(new Random(seed + 1, 'arrivals'), count))) < bound,
      `seed ${seed}`,
    );
  }
});

test('uniform draws fill [0, 1) evenly', () => {
  const [cells, count] = [100, 100_000];
  for (let seed = 0; seed < 10; seed += 1) {
    const seen = new Array<number>(cells).fill(0);
    for (const value of draws(new Random(seed, 'uniform'), count)) {
      ok(value >= 0 && value < 1);
      const cell = Math.floor(value * cells);
      seen[cell] = (seen[cell] as number) + 1;
    }
    const chiSquared = seen.reduce((sum, n) => sum + (n - count / cells) ** 2 / (count / cells), 0);
    // 99 degrees of freedom: mean 99, standard deviation 14; five of them either way.
    ok(chiSquared > 29 && chiSquared < 169, `seed ${seed}: chi-squared ${chiSquared}`);
  }
});

test('between and integer keep to their bounds and reach both ends', () => {
  const random = new Random(3);
  const seen = new Set<number>();
  for (let draw = 0; draw < 2000; draw += 1) {
    const value = random.between(-2, 5);
    ok(value >= -2 && value < 5);
    seen.add(random.integer(-1, 3));
  }
  deepEqual(
    [...seen].toSorted((a, b) => a - b),
    [-1, 0, 1, 2, 3],
  );
  equal(random.integer(4, 4), 4);
});
