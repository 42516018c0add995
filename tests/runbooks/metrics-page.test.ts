/** docs/metrics.md names every family, ending, reason and warning that there is, and none that there is not. */

import { deepEqual, equal, ok } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import type { Family } from '../../src/core/meter/exposition.js';
import { ROOT } from '../support/root.js';
import { FAMILIES } from './families.js';
import { ATTEMPTS, DECISIONS_TODO, FURTHER_CODES } from './meanings.js';
import { exposed, PAGE, page } from './page.js';

const written = readFileSync(PAGE, 'utf8');
let families: readonly Family[] = [];

before(async () => {
  families = await exposed();
});

test('every family that a running gateway exposes has a meaning, and none that it does not', () => {
  const names = families.map(({ name }) => name);
  for (const name of names)
    ok(
      Object.hasOwn(FAMILIES, name),
      `${name} has no line in tests/runbooks/families.ts: say what an operator makes of it`,
    );
  for (const name of Object.keys(FAMILIES))
    ok(names.includes(name), `${name} is in tests/runbooks/families.ts and not exposed any more`);
});

test('every family has the labels that the page says', () => {
  for (const { name, samples } of families) {
    const said = [...(FAMILIES[name]?.labels ?? [])].toSorted();
    for (const { labels } of samples) {
      const has = Object.keys(labels).filter((label) => label !== 'le');
      deepEqual(has.toSorted(), said, `the labels of ${name} in tests/runbooks/families.ts`);
    }
  }
});

test('the page is not stale', () => {
  equal(written, page(families), 'write it anew with npm run docs:metrics');
});

test('every label value that a running gateway exposes is explained', () => {
  for (const { name, samples } of families) {
    for (const label of ['ending', 'reason', 'decision', 'warning']) {
      for (const { labels } of samples) {
        const word = labels[label];
        if (word !== undefined)
          ok(written.includes(`| \`${word}\` |`), `${name}{${label}="${word}"} is not on the page`);
      }
    }
  }
});

test('every code that a client can be told is explained', () => {
  const known = new Set([
    ...Object.keys(ATTEMPTS),
    ...Object.keys(FURTHER_CODES),
    ...Object.keys(DECISIONS_TODO),
  ]);
  const folder = join(ROOT, 'src', 'shell', 'gateway');
  let seen = 0;
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts') || name.endsWith('.test.ts')) continue;
    const text = readFileSync(join(folder, name), 'utf8');
    for (const [, code = ''] of text.matchAll(/'((?:rejected|refused|not_found)[a-z_]*)'/g)) {
      // What ends in _error is a type, of which the APIs have their own.
      if (/_(?:error)?$/.test(code) || code === 'refused') continue;
      seen += 1;
      ok(known.has(code), `${code} (${name}) has no line in tests/runbooks/meanings.ts`);
    }
  }
  ok(seen > 20, 'the codes were looked for in vain');
});
