/** Durations and sizes read back as they were written, and nothing is guessed. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { durationText, readDuration, readSize, sizeText } from './units.js';

test('durations are a number and a unit', () => {
  const cases: [unknown, number | undefined][] = [
    ['250ms', 250],
    ['1.5s', 1_500],
    ['10m', 600_000],
    ['24h', 86_400_000],
    ['0s', 0],
    ['60', undefined],
    [60, undefined],
    ['60 s', undefined],
    ['-1s', undefined],
    ['1e3s', undefined],
    ['1d', undefined],
    ['1toString', undefined],
    ['s', undefined],
    ['', undefined],
    [null, undefined],
    [['1s'], undefined],
    [`${'9'.repeat(400)}s`, undefined],
  ];
  for (const [text, expected] of cases) assert.equal(readDuration(text), expected, String(text).slice(0, 20));
});

test('sizes are a number and a binary unit, and whole bytes', () => {
  const cases: [unknown, number | undefined][] = [
    ['512B', 512],
    ['1.5KiB', 1_536],
    ['32MiB', 33_554_432],
    ['1GiB', 1_073_741_824],
    ['1.5B', undefined],
    ['999999999999GiB', undefined],
    ['32MB', undefined],
    ['32 MiB', undefined],
    [1024, undefined],
  ];
  for (const [text, expected] of cases) assert.equal(readSize(text), expected, String(text));
});

test('what is written reads back as the same number', () => {
  assert.equal(durationText(0), '0ms');
  assert.equal(durationText(60_000), '1m');
  assert.equal(durationText(90_000), '90s');
  assert.equal(sizeText(2 * 1024 * 1024), '2MiB');
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10_000_000_000 }), (value) => {
      assert.equal(readDuration(durationText(value)), value);
      assert.equal(readSize(sizeText(value)), value);
    }),
  );
});
