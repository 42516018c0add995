/** Law 8 over clients that bring a key, a count, or nothing, with short and long waits between their attempts. */

import { deepEqual, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { forEachSeed } from '../support/seeds.js';
import { control } from '../support/subject.js';
import { lateRecovery, patient, recovery } from './recovery.js';

for (const [brings, gapMs] of [
  ['key', [250, 3_000]],
  ['count', [375, 1_000]],
  ['nothing', [250, 3_000]],
  ['nothing', [5_000, 30_000]],
] as const) {
  for (const order of ['oldest-first', 'newest-first'] as const) {
    test(`law 8 with clients that bring ${brings} and wait ${gapMs.join('-')} ms, ${order}`, () => {
      forEachSeed(2, (seed) => {
        const took = recovery(seed, patient(brings, gapMs), { order }, control);
        ok(took.backlog > 150, `a backlog of ${took.backlog} is no pulse`);
        deepEqual(lateRecovery(took), []);
      });
    });
  }
}
