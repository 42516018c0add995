/** Files as people get them wrong, each with the message that they are answered with, kept as it was read and approved. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parseAllDocuments } from 'yaml';
import { SETTINGS } from '../../src/shell/gateway/config.js';
import { readSettings } from '../../src/shell/gateway/config-file.js';
import { UserError } from '../../src/shell/shared/errors.js';
import { fileSchema } from '../../src/shell/shared/settings/resolve.js';
import { ROOT } from '../support/root.js';

const folder = join(ROOT, 'tests', 'configuration', 'wrong');
const ENV = { ENGINE_URL: 'http://127.0.0.1:8000', EMPTY_HOST: '', PORT: '8900', ROOM: '256' };

/** What no schema of the parsed value can see: how it was written, variables, bounds and forms of texts. */
const BEYOND_SCHEMA: ReadonlySet<string> = new Set([
  'colon-left-out',
  'dollar-that-names-nothing',
  'host-as-url',
  'indented-with-tabs',
  'key-twice',
  'longer-than-allowed',
  'port-inside-the-host',
  'quote-left-open',
  'two-documents',
  'unknown-tag',
  'upstream-with-path-of-a-route',
  'variable-that-is-empty',
  'variable-that-is-not-set',
]);

const names = readdirSync(folder)
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => name.replace(/\.yaml$/, ''));
const fits = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(fileSchema(SETTINGS, 'x'));

test('there are fifty of them', () => {
  assert(names.length >= 50, String(names.length));
});

for (const name of names) {
  test(`a file with ${name.replaceAll('-', ' ')} is refused in the words that were approved`, () => {
    const text = readFileSync(join(folder, `${name}.yaml`), 'utf8');
    const expected = readFileSync(join(folder, `${name}.txt`), 'utf8');
    assert.throws(
      () => readSettings(text, `${name}.yaml`, ENV),
      (error) => {
        assert(error instanceof UserError, String(error));
        assert.equal(`${error.message}\n`, expected);
        return error.exitCode === 2;
      },
    );
    if (BEYOND_SCHEMA.has(name)) return;
    const [document] = parseAllDocuments(text);
    assert(document !== undefined && 'toJS' in document && !fits(document.toJS()), 'the schema lets it pass');
  });
}
