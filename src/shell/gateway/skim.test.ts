/** A few members of a body are found wherever they stand, and no body takes longer than its share. */

import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { skim } from './skim.js';

const WANTED = new Set(['model', 'stream', 'store']);
const seen = (text: string): Record<string, string> =>
  Object.fromEntries(skim(Buffer.from(text), WANTED).members);

test('members are found among all others, before and after them, as they would be parsed', () => {
  const key = fc.oneof(fc.constantFrom('model', 'stream', 'store'), fc.string());
  fc.assert(
    fc.property(fc.dictionary(key, fc.jsonValue()), fc.nat(2), (object, space) => {
      const text = JSON.stringify(object, undefined, space);
      const expected: Record<string, string> = {};
      for (const name of WANTED) {
        if (Object.hasOwn(object, name)) expected[name] = JSON.stringify(object[name]);
      }
      deepEqual(seen(text), expected);
    }),
  );
});

test('of a key twice it is the last value, as for an engine', () => {
  deepEqual(seen('{"model":"a","x":[{"model":"b"}],"model":"c"}'), { model: '"c"' });
});

test('a long value is only known to be there, and what is no JSON is none', () => {
  deepEqual(seen(`{"store":"${'x'.repeat(10_000)}","model":oops}`), { store: '""', model: 'null' });
});

test('bytes of any kind are borne, and say whether all was looked at', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      equal(skim(Buffer.from(bytes), WANTED).whole, true);
    }),
  );
  for (const text of ['', '[', '{"', '{"a":"\\"', '{"model":'])
    equal(skim(Buffer.from(text), WANTED).whole, true);
});

test('a body that is nothing but structure is looked at up to a bound', () => {
  for (const part of ['[1],', '"",', '"\\"",', '\\\\\\"']) {
    const text = `{"model":"a","b":[${part.repeat(2_000_000)}`;
    const { members, whole } = skim(Buffer.from(text), WANTED);
    deepEqual([members.get('model'), whole], ['"a"', false], part);
  }
});
