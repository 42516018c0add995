/** Stages in one line: what is read, and what is refused. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UserError } from '../shared/errors.js';
import { readStages } from './stage-list.js';

test('stages have a name, a rate in calls or in multiples of the capacity, and a duration', () => {
  assert.deepEqual(readStages('base 0.6c 120s, pulse 2.7Ĉ 90s,hold 5/s 1.5m'), [
    { name: 'base', rate: { capacity: 0.6 }, seconds: 120 },
    { name: 'pulse', rate: { capacity: 2.7 }, seconds: 90 },
    { name: 'hold', rate: { perSecond: 5 }, seconds: 90 },
  ]);
});

test('a stage that cannot be read is refused with its place and what would be right', () => {
  const refused = (text: string): string => {
    try {
      readStages(text);
    } catch (error) {
      assert.ok(error instanceof UserError);
      return error.message;
    }
    throw new Error(`taken: ${text}`);
  };
  assert.match(refused('base 5/s'), /stage 1 is not NAME RATE DURATION/);
  assert.match(refused('base 5/s 10s,'), /stage 2 is not/);
  assert.match(refused('base 5 10s'), /the rate of base must be above 0, as 5\/s or 0\.6c, not "5"/);
  assert.match(refused('base 0/s 10s'), /the rate of base/);
  assert.match(refused('base -1/s 10s'), /the rate of base/);
  assert.match(refused('base 5/s 10'), /base lasts a duration such as .*, not "10"/);
  assert.match(refused('base 5/s 0s'), /base lasts/);
});
