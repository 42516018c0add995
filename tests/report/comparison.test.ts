/** Several runs on one page, and the sweep's picture: shared axes, every seed, paired differences, the boundary. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { armsOf, mismatches, pairsOf, panelsOf } from '../../src/core/report/arms.js';
import { comparisonPage } from '../../src/core/report/comparison-page.js';
import { svgFile } from '../../src/core/report/picture.js';
import { seedsPicture } from '../../src/core/report/seeds-chart.js';
import { type SweepCell, sweepPage, sweepPicture } from '../../src/core/report/sweep-chart.js';
import { differencesOf } from '../../src/shell/cli/report-file.js';
import { blindDrill, trialRecord } from '../support/run-records.js';
import { readMarkup } from '../support/xml.js';

const COLLAPSE = 'retries=on cancel=on';
const runs = [1, 2].flatMap((seed) => [trialRecord(COLLAPSE, seed), trialRecord('holdfast', seed)]);

test('runs of one name are one arm, and arms are paired by seed', () => {
  const [a, b] = armsOf([...runs, trialRecord('holdfast', 3)]);
  assert.ok(a !== undefined && b !== undefined);
  assert.deepEqual(
    [a, b].map(({ name, runs: its }) => [name, its.map(({ head }) => head.seed)]),
    [
      [COLLAPSE, [1, 2]],
      ['holdfast', [1, 2, 3]],
    ],
  );
  assert.deepEqual(
    pairsOf(a, b).map(([one, other]) => [one.head.seed, other.head.seed]),
    [
      [1, 1],
      [2, 2],
    ],
  );
  assert.equal(mismatches([a, b]).length, 1);
  assert.deepEqual(
    panelsOf([a, b]).map(({ name }) => name),
    [`${COLLAPSE}, seed 1`, 'holdfast, seed 1'],
  );
  assert.equal(panelsOf([b]).length, 3);
});

test('a difference is the second arm’s mean less the first’s over the seeds of both', () => {
  const [differences] = differencesOf(runs);
  const row = differences?.rows.find(({ figure }) => figure === 'hold delivered by the horizon, %');
  assert.equal(row?.seeds, 2);
  const share = (name: string): number => {
    const heads = runs.filter(({ head }) => head.name === name).map(({ head }) => head.stages[2]);
    return heads.reduce(
      (sum, stage) => sum + (50 * (stage?.deliveredByHorizon ?? 0)) / (stage?.calls ?? 1),
      0,
    );
  };
  assert.ok(Math.abs((row?.difference ?? 0) - (share('holdfast') - share(COLLAPSE))) < 1e-9);
  assert.deepEqual(differencesOf([trialRecord('holdfast', 1)]), []);
  assert.deepEqual(differencesOf([trialRecord(COLLAPSE, 1), trialRecord('holdfast', 2)])[0]?.rows, []);
});

test('a comparison is one sound page with a picture of each arm on the same axes, and every seed a dot', () => {
  const page = comparisonPage(runs, differencesOf(runs));
  const { problems, elements, text } = readMarkup(page);
  assert.deepEqual(problems, []);
  assert.ok(!/NaN|Infinity|undefined/.test(page));
  const ids = elements.flatMap(({ attributes }) => attributes['id'] ?? []);
  assert.equal(new Set(ids).size, ids.length, 'an id occurs twice');
  assert.match(text, /From retries=on cancel=on to holdfast/);
  const dots = readMarkup(svgFile(seedsPicture(armsOf(runs)))).elements.filter(
    ({ name }) => name === 'circle',
  );
  const patternDots = 2;
  const legendDots = 1;
  assert.equal(dots.length - patternDots - legendDots, runs.length * 3);
  const axis = (id: string): string => {
    const from = page.indexOf(`id="${id}"`);
    const drawn = page.slice(from, page.indexOf('</figure>', from));
    return [...drawn.matchAll(/text-anchor="end">([\d,.]+)</g)].map(([, tick]) => tick).join(' ');
  };
  for (const kind of ['arrivals', 'waiting', 'latency']) {
    assert.ok(axis(`${kind}-0`) !== '', kind);
    assert.equal(axis(`${kind}-0`), axis(`${kind}-1`), kind);
  }
  assert.equal(page, comparisonPage(structuredClone(runs), differencesOf(runs)));
});

test('a run that tells of no execution is compared by what it tells, and said to be left out', () => {
  const blind = blindDrill(trialRecord(COLLAPSE, 1));
  const records = [{ ...blind, head: { ...blind.head, name: 'straight' } }, trialRecord('holdfast', 1)];
  const page = comparisonPage(records, differencesOf(records));
  const { problems, text } = readMarkup(page);
  assert.deepEqual(problems, []);
  assert.ok(!/NaN|Infinity|undefined/.test(page));
  assert.match(text, /1 of the runs tell of no execution/);
  assert.match(text, /not of one capacity/);
  const silent = [records[0] as (typeof records)[number]];
  assert.ok(!/id="prefill"/.test(comparisonPage(silent, [])));
});

test('an invalid run among others is said above everything', () => {
  const [first, second] = runs;
  assert.ok(first !== undefined && second !== undefined);
  const spoilt = { ...second, head: { ...second.head, invalid: ['<b>the generator fell behind</b>'] } };
  const { text, elements } = readMarkup(comparisonPage([first, spoilt], []));
  assert.match(text, /INVALID: /);
  assert.match(text, /holdfast, seed 1: <b>the generator fell behind<\/b>/);
  assert.ok(elements.every(({ attributes }) => attributes['class'] !== 'b'));
});

const CELLS: readonly SweepCell[] = [30, 120].flatMap((deadlineSeconds) =>
  [1.5, 2.7].flatMap((pulse) =>
    [0.3, 0.6].map((load) => ({
      deadlineSeconds,
      pulse,
      load,
      recoveredAfterSeconds: deadlineSeconds === 30 && load > 0.5 ? null : 240,
    })),
  ),
);

test('the sweep draws every combination, and its boundary just between recovery and collapse', () => {
  const sweep = { scenario: '<budget>', seed: 1, cells: CELLS };
  const picture = sweepPicture(sweep);
  assert.match(picture.title, /6 of 8 combinations/);
  const { problems, elements, text } = readMarkup(svgFile(picture));
  assert.deepEqual(problems, []);
  assert.equal(text.match(/\bnever\b/g)?.length, 2);
  assert.equal(text.match(/\b240 s\b/g)?.length, 6);
  const boundaries = elements.filter(({ attributes }) => attributes['class'] === 'boundary');
  const [, first, second] = boundaries.map(({ attributes }) => attributes['d']);
  // Two upright edges, one a row, and none across; the other field has no boundary at all.
  assert.match(first ?? '', /^M114 24v28M114 52v28$/);
  assert.equal(second, '');
  assert.deepEqual(readMarkup(sweepPage(sweep)).problems, []);
});
