/** A key of another gateway is answered with what to use here, and every key that an answer names is one of ours. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leavesOf } from '../shared/settings/table.js';
import { knownKeys, SETTINGS } from './config.js';
import { keyHint, PEER_KEYS } from './config-hints.js';

const known = new Set(
  leavesOf(SETTINGS).flatMap(({ keys }) => keys.map((_, at) => keys.slice(0, at + 1).join('.'))),
);

test('every key of theirs has an answer, however it is spelt', () => {
  for (const key of PEER_KEYS) {
    const camel = key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    for (const spelt of [key, camel, key.replaceAll('_', '-'), key.toUpperCase()]) {
      assert.match(keyHint([], spelt) ?? '', /^(?:you may know it from .+: .+|did you mean .+\?)$/, spelt);
    }
  }
});

test('no answer is shadowed by a key of ours at the top', () => {
  const top = new Set(knownKeys([]));
  for (const key of PEER_KEYS) assert(!top.has(key), key);
});

test('an answer names keys that there are', () => {
  for (const key of PEER_KEYS) {
    const answer = keyHint([], key) ?? '';
    for (const word of answer.match(/\b(?:control|upstream_timeouts|log)\.[a-z_.]+[a-z]/g) ?? []) {
      assert(known.has(word), `${key}: ${word} is no key`);
    }
  }
});

test('a key of ours in another place is told its place, and one with its unit is told where the unit stands', () => {
  assert.equal(keyHint([], 'room'), 'did you mean control.room?');
  assert.equal(keyHint(['control'], 'lineEntries'), 'did you mean control.bounds.line_entries?');
  assert.equal(keyHint(['control'], 'grace'), undefined);
  assert.match(
    keyHint(['control'], 'retain_seconds') ?? '',
    /^did you mean retain\? The unit stands in its value/,
  );
  assert.equal(keyHint([], 'x'.repeat(100_000)), undefined);
});
