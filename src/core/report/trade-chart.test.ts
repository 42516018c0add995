/** The trade is drawn where its numbers say, and told in words for those who cannot see it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { svgFile } from './picture.js';
import { tradePicture } from './trade-chart.js';

const TRADE = {
  id: 'trade',
  title: 'A trade',
  setting: 'control.margin',
  points: [
    { words: '1', onTime: 0.6, lost: 5 },
    { words: '2', onTime: 0.4, lost: 0 },
  ],
  beside: [{ words: 'coalesce', onTime: 0.3, lost: 6 }],
  bound: { onTime: 0.8, words: 'at most 80 %' },
  notes: [],
};

test('a dot stands further right the more are lost and higher the more are on time', () => {
  const svg = svgFile(tradePicture(TRADE));
  const dots = [...svg.matchAll(/<circle class="edge" cx="([\d.]+)"[^>]*cy="([\d.]+)"/g)].map(([, x, y]) => [
    Number(x),
    Number(y),
  ]);
  const [one, two, beside] = dots as [[number, number], [number, number], [number, number]];
  assert.equal(dots.length, 3);
  assert.ok(two[0] < one[0] && one[0] < beside[0]);
  assert.ok(one[1] < two[1] && two[1] < beside[1]);
});

test('values, comparison and bound are there in words', () => {
  const picture = tradePicture(TRADE);
  assert.match(picture.description, /1: 60.% on time, 5 lost; 2: 40.% on time, 0 lost; coalesce: 30/);
  assert.match(svgFile(picture), /at most 80 %/);
  assert.deepEqual(
    picture.table?.rows.map(([name]) => name),
    ['1', '2', 'coalesce'],
  );
});
