/** A body within its bound is had whole, one beyond it not at all, and what breaks off is an error. */

import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { boundedBody } from './bounded-body.js';

const pieces = ['ab', 'cde'].map((text) => Buffer.from(text));

test('a body of exactly the bound is had whole, and one byte more is too much', async () => {
  assert.equal(String(await boundedBody(Readable.from(pieces), 5)), 'abcde');
  const source = Readable.from([...pieces, Buffer.from('f')]);
  assert.equal(await boundedBody(source, 5), undefined);
  assert.ok(source.destroyed, 'the rest is not read');
});

test('a body that breaks off is no body', async () => {
  const source = Readable.from(
    (function* () {
      yield pieces[0];
      throw new Error('reset');
    })(),
  );
  await assert.rejects(boundedBody(source, 5), /reset/);
});
