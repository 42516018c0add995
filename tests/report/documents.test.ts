/** The pictures that the documents show: there, sound, small, and without anything that runs or is fetched. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../support/root.js';
import { readMarkup } from '../support/xml.js';

const FOLDER = join(ROOT, 'docs', 'pictures');
const LARGEST_BYTES = 60_000;

test('every picture of the documents is sound, small and stands alone', () => {
  const names = readdirSync(FOLDER);
  assert.ok(names.length > 0);
  for (const name of names) {
    const picture = readFileSync(join(FOLDER, name), 'utf8');
    const { problems, elements } = readMarkup(picture);
    assert.deepEqual(problems, [], name);
    assert.ok(picture.length < LARGEST_BYTES, `${name}: ${picture.length}`);
    assert.ok(
      elements.every((element) => !['script', 'image', 'use', 'foreignObject'].includes(element.name)),
    );
    assert.ok(
      elements.some((element) => element.name === 'desc'),
      name,
    );
  }
});

test('the documents show pictures that are there, and none lies about unused', () => {
  const pages = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'));
  const shown = ['README.md', ...pages.map((name) => join('docs', name))].flatMap((document) => {
    const text = readFileSync(join(ROOT, document), 'utf8');
    return [...text.matchAll(/!\[[^\]]+\]\((?:docs\/)?pictures\/([\w-]+\.svg)\)/g)].map(([, name]) => name);
  });
  assert.ok(shown.length > 0);
  const there = readdirSync(FOLDER);
  assert.deepEqual(
    shown.filter((name) => !there.includes(name ?? '')),
    [],
  );
  assert.deepEqual(
    there.filter((name) => !shown.includes(name)),
    [],
  );
});
