/** What `holdfast config --schema` prints is a JSON Schema that agrees with the gateway about what fits. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { fileView, gatewayConfig, SETTINGS } from '../../src/shell/gateway/config.js';
import { readSettings } from '../../src/shell/gateway/config-file.js';
import { UserError } from '../../src/shell/shared/errors.js';
import { fileSchema } from '../../src/shell/shared/settings/resolve.js';
import { leavesOf, put } from '../../src/shell/shared/settings/table.js';

const ajv = new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: true });
const fits = ajv.compile(fileSchema(SETTINGS, 'Configuration of holdfast serve'));

const reads = (value: unknown): boolean => {
  try {
    readSettings(JSON.stringify(value), 'x', { A: 'a' });
    return true;
  } catch (error) {
    assert(error instanceof UserError, String(error));
    return false;
  }
};

test('the schema is valid against its own meta-schema', () => {
  assert(ajv.validateSchema(fileSchema(SETTINGS, 'x')));
});

test('the defaults fit the schema', () => {
  assert(fits(fileView(gatewayConfig())), JSON.stringify(fits.errors));
  assert(fits({}));
});

test('every setting of the schema has a description, and a default unless it is optional', () => {
  const text = JSON.stringify(fileSchema(SETTINGS, 'x'));
  for (const { key, setting } of leavesOf(SETTINGS)) {
    assert(text.includes(JSON.stringify(setting.about)), key);
    assert(setting.optional || setting.default !== undefined, key);
  }
});

const values = fc.constantFrom<unknown>(
  null,
  true,
  false,
  0,
  1,
  3,
  0.5,
  -1,
  1.5,
  70_000,
  2e9,
  '',
  'off',
  'on',
  'now',
  'never',
  'adopt',
  'shared',
  'tenant',
  '60s',
  '10m',
  '0ms',
  '60',
  '2MiB',
  '1 MiB',
  'http://a:1',
  'http://a/v1',
  'ftp://a',
  'x-key',
  'x key',
  '/v1/score',
  'v1',
  'info',
  '$A',
  [],
  ['x-a'],
  ['/a'],
  [{ url: 'http://a' }],
  [{}],
  [{ url: 'http://a', uri: 1 }],
  {},
  { level: 'info' },
);

test('whatever the gateway reads, the schema takes', () => {
  for (const { key, keys } of leavesOf(SETTINGS)) {
    fc.assert(
      fc.property(values, (value) => {
        const file = {};
        put(file, keys, value);
        // A text from a variable may turn out to be anything, so the schema lets it pass.
        if (reads(file))
          assert(fits(file), `${key}: ${JSON.stringify(value)} ${JSON.stringify(fits.errors)}`);
      }),
      { numRuns: 60 },
    );
  }
});

test('what is wrong in form is refused by both', () => {
  const wrong: unknown[] = [
    { prot: 1 },
    { port: 'x' },
    { port: 70_000 },
    { upstreams: [{}] },
    { upstreams: [{ url: 'http://a/v1' }] },
    { upstreams: ['http://a'] },
    { control: { grace: '60' } },
    { control: { room: 0 } },
    { control: { bounds: { line_bytes: 5 } } },
    { anonymous: 'nobody' },
    { log: 'debug' },
  ];
  for (const each of wrong) {
    assert(!fits(each), JSON.stringify(each));
    assert(!reads(each), JSON.stringify(each));
  }
});
