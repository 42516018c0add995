/** The bound against every set and every schedule of few jobs. */

import { equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Job, mostInTime } from './bound.js';

/** Whether all can be done in time: in every window, the jobs that lie wholly within it fit. */
function feasible(jobs: readonly Job[]): boolean {
  return jobs.every(({ releaseMs: from }) =>
    jobs.every(({ dueMs: to }) => {
      const inside = jobs.filter((job) => job.releaseMs >= from && job.dueMs <= to);
      return inside.reduce((sum, { workMs }) => sum + workMs, 0) <= Math.max(0, to - from);
    }),
  );
}

function bruteForce(jobs: readonly Job[]): number {
  let most = 0;
  for (let set = 0; set < 2 ** jobs.length; set += 1) {
    const chosen = jobs.filter((_, at) => (set >> at) & 1);
    if (chosen.length > most && feasible(chosen)) most = chosen.length;
  }
  return most;
}

const jobs = (mostWork: number): fc.Arbitrary<Job[]> =>
  fc.array(
    fc
      .record({
        releaseMs: fc.integer({ min: 0, max: 12 }),
        window: fc.integer({ min: 1, max: 8 }),
        workMs: fc.integer({ min: 1, max: mostWork }),
      })
      .map(({ releaseMs, window, workMs }) => ({ releaseMs, dueMs: releaseMs + window, workMs })),
    { maxLength: 9 },
  );

test('no set of jobs that can be done in time is larger than the bound', () => {
  fc.assert(
    fc.property(jobs(5), (some) => {
      const [bound, most] = [mostInTime(some), bruteForce(some)];
      ok(bound >= most - 1e-9, `bound ${bound}, but ${most} can be done`);
    }),
    { numRuns: 500 },
  );
});

test('for jobs of equal work the bound is reached', () => {
  fc.assert(
    fc.property(jobs(1), (some) => {
      equal(Math.round(1e6 * mostInTime(some)), 1e6 * bruteForce(some));
    }),
    { numRuns: 500 },
  );
});

test('a machine that is offered twice what it can do does half, and one that is offered less does all', () => {
  const offered = (everyMs: number): Job[] =>
    Array.from({ length: 1_000 }, (_, at) => ({
      releaseMs: at * everyMs,
      dueMs: at * everyMs + 20,
      workMs: 10,
    }));
  equal(mostInTime(offered(10)), 1_000);
  ok(Math.abs(mostInTime(offered(5)) - 502) <= 1);
});
