/** The published figures beside ours: precision, verdicts, the matrix of 137 runs, paired differences. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PUBLISHED_PLAN } from '../drill/plan.js';
import { armOf } from './arms.js';
import { pairedDifferences } from './comparison.js';
import { FIGURES } from './figures.js';
import { publishedMatrix, scenarioNames } from './matrix.js';
import { armNameOf, compareFigure, PUBLISHED_FIGURES } from './published.js';
import { settingsOf } from './scenario.js';

const [FIRST, RECOVERY] = PUBLISHED_FIGURES;

test('a figure is inside, overlaps or stands apart, at the published precision', () => {
  assert.ok(FIRST !== undefined);
  const verdict = (values: number[]): string => compareFigure(FIRST, values).verdict;
  assert.equal(verdict([72.36]), 'mean inside');
  assert.equal(verdict([72.34]), 'apart');
  assert.equal(verdict([60, 73]), 'ranges overlap');
  assert.equal(verdict([70, 77]), 'mean inside');
  assert.equal(verdict([73, Number.NaN]), 'apart');
  assert.equal(verdict([]), 'apart');
});

test('recovery is told in bins of 60 s', () => {
  assert.ok(RECOVERY !== undefined);
  assert.deepEqual(compareFigure(RECOVERY, [480, 420, 480]).ours, { lowest: 420, mean: 480, highest: 480 });
});

test('every published figure has a definition and an arm', () => {
  assert.equal(PUBLISHED_FIGURES.length, 26);
  for (const published of PUBLISHED_FIGURES) {
    assert.ok(FIGURES[published.figure] !== undefined, published.figure);
    assert.ok(armOf(armNameOf(published)) !== undefined, published.arm);
  }
});

test('the matrix is 137 runs that can all be run', () => {
  const matrix = publishedMatrix([1, 2, 3]);
  assert.equal(matrix.length, 137);
  assert.equal(new Set(matrix.map(({ scenario, seed }) => `${scenario}/${seed}`)).size, 137);
  for (const { scenario, seed } of matrix) assert.equal(settingsOf(scenario, seed).seed, seed);
  assert.ok(scenarioNames().length >= 46);
});

test('a paired difference has the interval of its pairs', () => {
  const rows = pairedDifferences(
    [{ x: 1 }, { x: 2 }, { x: 3 }, { x: null }],
    [{ x: 3 }, { x: 5 }, { x: 4 }, { x: 9 }],
  );
  assert.equal(rows.length, 1);
  const [row] = rows;
  assert.ok(row !== undefined && row.halfWidth !== null);
  assert.equal(row.seeds, 3);
  assert.equal(row.difference, 2);
  assert.ok(Math.abs(row.halfWidth - 4.303 / Math.sqrt(3)) < 1e-9);
});

test('a setting changes one option of the arm and leaves the others', () => {
  const { control, engine } = settingsOf('budget', 1, {
    control: { budget: { ratio: 0.2 } },
    engine: { maxNumSeqs: 64 },
  });
  assert.deepEqual([control.budget?.mode, control.budget?.ratio], ['strict', 0.2]);
  assert.equal(engine.maxNumSeqs, 64);
});

test('an arm without retries plays any plan without them', () => {
  const retries = (arm: string): readonly number[] =>
    settingsOf(arm, 1, { plan: PUBLISHED_PLAN }).plan.clients.map((kind) => kind.retries);
  assert.deepEqual(retries('retries=off cancel=on'), [0]);
  assert.deepEqual(retries('retries=on cancel=on'), [3]);
});
