/** No byte of the pool is used twice, and what is made of it has the shape it promises. */

import { equal, match, ok } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { RandomPool } from './ids.js';

test('ids are 96 bits in hexadecimal and never the same', () => {
  const pool = new RandomPool(randomBytes);
  const ids = Array.from({ length: 5_000 }, () => pool.id());
  equal(new Set(ids).size, ids.length);
  for (const id of ids) match(id, /^[\da-f]{24}$/);
});

test('numbers lie in [0, 1) and use the bytes that no id has used', () => {
  let drawn = 0;
  const pool = new RandomPool((size) => {
    drawn += 1;
    return Buffer.alloc(size, drawn % 2 === 1 ? 0 : 255);
  });
  for (let turn = 0; turn < 2_000; turn += 1) {
    const number = pool.uniform();
    ok(number >= 0 && number < 1);
  }
  equal(drawn, 3);
});
