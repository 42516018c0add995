/** Fates: whatever deadline and horizon are to each other, each call has one. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fatesOf } from './fates.js';

const count = fc.integer({ min: 0, max: 1_000 });

test('the fates of a stage are no less than nothing and sum to its calls', () => {
  const counts = fc.tuple(count, count, count, count, count, count, count);
  fc.assert(
    fc.property(counts, ([delivered, deadline, horizon, refused, abandoned, broken, open]) => {
      const fates = fatesOf({
        stage: 'any',
        calls: delivered + refused + abandoned + broken + open,
        deliveredByDeadline: Math.min(deadline, delivered),
        deliveredByHorizon: Math.min(horizon, delivered),
        delivered,
        refused,
        abandoned,
        broken,
        open,
        attempts: 0,
        executions: undefined,
        latenessMs: { median: Number.NaN, p90: Number.NaN, p99: Number.NaN },
      });
      const values = Object.values(fates);
      assert.ok(values.every((value) => value >= 0));
      assert.equal(
        values.reduce((sum, value) => sum + value, 0),
        delivered + refused + abandoned + broken + open,
      );
      assert.equal(fates.onTime, Math.min(deadline, delivered));
    }),
  );
});
