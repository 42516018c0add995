/** A pseudonym says nothing to whoever lacks the secret, and the same thing each time to whoever has it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pseudonyms } from './pseudonym.js';

test('one secret gives one name a tenant; another secret gives others', () => {
  const [one, other] = [pseudonyms(), pseudonyms()];
  assert.match(one('tenant'), /^[0-9a-f]{16}$/);
  assert.equal(one('tenant'), one('tenant'));
  assert.notEqual(one('tenant'), one('tenant2'));
  assert.notEqual(one('tenant'), other('tenant'));
});
