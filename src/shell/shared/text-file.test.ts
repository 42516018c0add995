/** A named file is read whole, or refused in words. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { UserError } from './errors.js';
import { readTextFile } from './text-file.js';

const HERE = fileURLToPath(import.meta.url);

test('a file is read whole; one that is missing or too large is refused with its name and reason', () => {
  assert.match(readTextFile({ path: HERE, what: 'the test', largestBytes: 100_000 }), /read whole/);
  const refused = (path: string, largestBytes: number): UserError => {
    try {
      readTextFile({ path, what: 'the test', largestBytes, code: 'config_unreadable' });
    } catch (error) {
      assert.ok(error instanceof UserError);
      return error;
    }
    throw new Error('it was read');
  };
  assert.match(
    refused(HERE, 10).message,
    /^cannot read the test: .*text-file\.test\.js: \d+ bytes are more than 10$/,
  );
  assert.match(refused('/nowhere/at-all', 10).message, /^cannot read the test: .*at-all/);
  assert.equal(refused(HERE, 10).code, 'config_unreadable');
});
