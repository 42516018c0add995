/** docs/configuration.md is what the table of settings makes of it, and its examples are configurations. */

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { gatewayConfig, SETTINGS } from '../../src/shell/gateway/config.js';
import { readSettings } from '../../src/shell/gateway/config-file.js';
import { fileSchema } from '../../src/shell/shared/settings/resolve.js';
import { leavesOf } from '../../src/shell/shared/settings/table.js';
import { keysOn, PAGE, page } from './page.js';

const written = readFileSync(PAGE, 'utf8');

test('the page is not stale', () => {
  equal(written, page(), 'write it anew with npm run docs:configuration');
});

test('it has every setting once', () => {
  const settings = keysOn(written).filter((key) => !key.includes('[]'));
  deepEqual(
    settings.toSorted(),
    leavesOf(SETTINGS)
      .map(({ key }) => key)
      .toSorted(),
  );
  ok(keysOn(written).includes('upstreams[].url'));
});

test('its examples are configurations, and the schema takes them', () => {
  const fits = new Ajv2020({ strict: true }).compile(fileSchema(SETTINGS, 'x'));
  const examples = [...written.matchAll(/```yaml\n(?<text>[\s\S]*?)```/g)].map(
    ({ groups }) => groups?.['text'] ?? '',
  );
  ok(examples.length > 0);
  for (const text of examples) {
    gatewayConfig(readSettings(text, 'the example'));
    ok(fits(parse(text)), JSON.stringify(fits.errors));
  }
  match(examples[0] ?? '', /room: 256/);
});
