/** docs/configuration.md has every setting with its true default, and its example is a configuration. */

import { deepEqual, equal } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileView, gatewayConfig, knownKeys } from '../../src/shell/gateway/config.js';
import { readSettings } from '../../src/shell/gateway/config-file.js';
import { ROOT } from '../support/root.js';

const page = readFileSync(join(ROOT, 'docs', 'configuration.md'), 'utf8');

/** Every setting of the file with its default as the page writes it. */
function defaults(): Map<string, string> {
  const found = new Map<string, string>();
  const visit = (at: readonly string[], value: unknown): void => {
    const inside = at.join('.') === 'upstreams' ? [] : knownKeys(at);
    if (inside.length === 0) {
      const text = Array.isArray(value) ? `[${value.join(', ')}]` : String(value);
      found.set(at.join('.'), value === undefined ? 'none' : `\`${text}\``);
    }
    for (const key of inside) visit([...at, key], (value as Record<string, unknown>)[key]);
  };
  visit([], fileView(gatewayConfig()));
  return found;
}

test('the page lists every setting once, with its default', () => {
  const rows = [...page.matchAll(/^\| `(?<key>[\w.]+)` \| (?<value>[^|]+) \|/gm)].map(
    ({ groups }) => [groups?.['key'] ?? '', groups?.['value'] ?? ''] as const,
  );
  const sorted = (all: Iterable<readonly [string, string]>): string[] =>
    [...all].map((each) => each.join(' ')).toSorted();
  deepEqual(sorted(rows), sorted(defaults()));
});

test('the example of the page is a configuration', () => {
  const example = /```yaml\n(?<text>[\s\S]*?)```/.exec(page)?.groups?.['text'] ?? '';
  const config = gatewayConfig(readSettings(example, 'the example'));
  equal(config.control.room, 256);
  equal(config.upstreams.length, 1);
});
