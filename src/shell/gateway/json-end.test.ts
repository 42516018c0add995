/** The end of a document is seen in any pieces, and no beginning of a document passes for all of it. */

import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { JsonEnd } from './json-end.js';

const document = fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue()));

test('a document has ended when all of it is there, in whatever pieces, and not before', () => {
  fc.assert(
    fc.property(document, fc.array(fc.nat(), { maxLength: 5 }), (value, draws) => {
      const bytes = Buffer.from(JSON.stringify(value));
      const cuts = draws.map((draw) => draw % bytes.length).toSorted((a, b) => a - b);
      const end = new JsonEnd();
      for (const [at, cut] of cuts.entries()) {
        end.feed(bytes.subarray(cuts[at - 1] ?? 0, cut));
        equal(end.reached, false);
      }
      end.feed(bytes.subarray(cuts.at(-1) ?? 0));
      equal(end.reached, true);
    }),
  );
});

test('space around it changes nothing, and what has no bracket has no end', () => {
  for (const [text, reached] of [
    [' {} \n', true],
    ['', false],
    ['"{}"', false],
    ['12', false],
    ['{"a": "}"', false],
    ['{"a": "\\"}"', false],
  ] as const) {
    const end = new JsonEnd();
    end.feed(Buffer.from(text));
    equal(end.reached, reached, text);
  }
});
