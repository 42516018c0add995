/** Complaints about settings name what was meant, what is allowed and what was found. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listed, nearest, oneOf, shown, within } from './options.js';

test('a number out of its bounds is named with them', () => {
  within('port', 0, 0, 65_535, true);
  within('port', 65_535, 0, 65_535, true);
  for (const value of [-1, 65_536, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.throws(() => within('port', value, 0, 65_535, true), {
      name: 'RangeError',
      message: `port must be a whole number from 0 to 65535, not ${value}`,
    });
  }
  assert.throws(() => within('ratio', 2, 0, 1), /^RangeError: ratio must be a number from 0 to 1, not 2$/);
});

test('a word that is no choice is named with the choices', () => {
  oneOf('mode', 'a', ['a', 'b']);
  assert.throws(() => oneOf('mode', 'c', ['a', 'b']), /^RangeError: mode must be a or b, not "c"$/);
});

test('words are listed as people do', () => {
  assert.equal(listed([]), '');
  assert.equal(listed(['a']), 'a');
  assert.equal(listed(['a', 'b', 'c']), 'a, b or c');
});

test('the nearest word is one that a slip of the hand makes, or none', () => {
  const known = ['upstream', 'port', 'host', 'config', 'line_entries', 'retain_keyed'];
  const cases: [string, string | undefined][] = [
    ['upsteam', 'upstream'],
    ['upstreams', 'upstream'],
    ['prot', 'port'],
    ['Host', 'host'],
    ['cofnig', 'config'],
    ['lineEntries', 'line_entries'],
    ['retain-keyed', 'retain_keyed'],
    ['completely-different', undefined],
    ['', undefined],
    ['x'.repeat(100_000), undefined],
  ];
  for (const [word, expected] of cases) assert.equal(nearest(word, known), expected, word.slice(0, 30));
});

test('a value is shown bounded, without the credentials of an address', () => {
  assert.equal(shown(undefined), 'nothing');
  assert.equal(shown(null), 'nothing');
  assert.equal(shown('a'), '"a"');
  assert.equal(shown({ a: [1] }), '{"a":[1]}');
  assert.equal(shown('http://user:secret@host/'), '"http://…@host/"');
  assert.equal(shown('x'.repeat(500)).length, 60);
  assert.equal(
    shown(() => {}),
    'function',
  );
});
