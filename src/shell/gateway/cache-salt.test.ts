/** A salted body is the same request with one member more, and nothing else is touched. */

import { deepEqual, equal, notEqual } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cacheSalt, salted } from './cache-salt.js';

test('any JSON object gains the salt and keeps every other member', () => {
  const members = fc.dictionary(fc.string(), fc.jsonValue());
  fc.assert(
    fc.property(members, fc.constantFrom('', ' ', '\n\t'), (object, space) => {
      const { cache_salt: own = 'salt', ...rest } = object;
      const text = `${space}${JSON.stringify(object)}`;
      deepEqual(
        JSON.parse(salted(Buffer.from(text), 'salt').toString()),
        JSON.parse(JSON.stringify({ ...rest, cache_salt: own })),
      );
    }),
  );
});

test('what is no JSON object is left as it is', () => {
  for (const text of ['', '[]', '"x"', '  ', 'oops', '\u001f\u008b'])
    equal(salted(Buffer.from(text), 's').toString(), text);
});

test('two tenants have two salts, and one tenant always the same', () => {
  equal(cacheSalt('one'), cacheSalt('one'));
  notEqual(cacheSalt('one'), cacheSalt('two'));
});
