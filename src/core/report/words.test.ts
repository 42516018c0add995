/** Numbers in words: rounding never says all of what is not all, or none of what is some. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { counted, grouped, percent, seconds, tokens, trimmed } from './words.js';

const plain = (text: string): string => text.replaceAll('\u00A0', ' ');

test('a share is all or none only when it is', () => {
  const told = [0, 0.0001, 0.004, 0.132, 0.995, 0.99999, 1, Number.NaN].map(percent).map(plain);
  assert.deepEqual(told, ['0 %', '0.1 %', '0.4 %', '13 %', '99.5 %', '99.9 %', '100 %', '—']);
});

test('counts, seconds and tokens are told as a reader would', () => {
  assert.deepEqual([0, 999, 1_234_567].map(grouped), ['0', '999', '1,234,567']);
  assert.deepEqual([0.25, 9.96, 480, null].map(seconds).map(plain), ['0.3 s', '10 s', '480 s', '—']);
  assert.deepEqual([800, 12_345, 1_250_000, 49_390_948].map(tokens).map(plain), [
    '800',
    '12 thousand',
    '1.3 million',
    '49 million',
  ]);
  assert.equal(plain(counted(1, 'call')), '1 call');
  assert.equal(trimmed(2.5, 3), '2.5');
});
