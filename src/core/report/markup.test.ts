/** What stands in a document is what was meant, whatever a name holds. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readMarkup } from '../../../tests/support/xml.js';
import { element, escaped, worded } from './markup.js';

test('any text can be an attribute and a content, and comes back as it was', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const { problems, elements, text: read } = readMarkup(worded('text', { title: text }, text));
      assert.deepEqual(problems, []);
      assert.equal(elements.length, 1);
      // XML turns each end of a line into one line feed, and inside an attribute into a space.
      const kept = text.replaceAll(/(?![\t\n\r])[\p{Cc}\p{Surrogate}\uFFFE\uFFFF]/gu, '\uFFFD');
      assert.equal(read, kept.replaceAll(/\r\n?/g, '\n'));
    }),
  );
});

test('nothing in a name can open an element or leave an attribute', () => {
  assert.equal(
    worded('a', { title: `"><script>'` }, '<script>&'),
    '<a title="&quot;&gt;&lt;script&gt;&#39;">&lt;script&gt;&amp;</a>',
  );
});

test('a half of a surrogate pair and a control character are replaced', () => {
  assert.equal(escaped('a\uD800b\u0000c😀'), 'a\uFFFDb\uFFFDc😀');
});

test('coordinates are short, and an attribute that is undefined is left out', () => {
  assert.equal(element('rect', { x: 1 / 3, y: undefined, width: 10 }), '<rect x="0.33" width="10"/>');
});
