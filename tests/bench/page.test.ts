/** That the page says what was measured, who is missing and why, and keeps what was written by hand. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Compared } from '../../bench/gateways/comparison.js';
import { figureOf } from '../../bench/gateways/figures.js';
import type { Taken } from '../../bench/gateways/job.js';
import { pageOf } from '../../bench/gateways/page.js';
import { pictureOf } from '../../bench/gateways/picture.js';
import { met, targetsOf } from '../../bench/gateways/targets.js';
import { WORKLOADS, type WorkloadName } from '../../bench/gateways/workload.js';
import { svgFile } from '../../src/core/report/picture.js';
import { ROOT } from '../support/root.js';
import { readMarkup } from '../support/xml.js';

const EXTENT = { rounds: 2, windowMs: 1_000, streams: 100 };
const MACHINE = '2 cores';

function taken(p50: number, whole = 500, faults = 0): Taken {
  const spread = { p50, p99: p50 * 2 };
  const said = faults === 0 ? [] : ['status 500: no | none'];
  return { answers: whole, whole, faults, said, seconds: 1, firstMs: spread, endMs: spread, lateMs: spread };
}

function perWorkload<Value>(of: () => Value[]): Record<WorkloadName, Value[]> {
  return { '1 kB': of(), '48 kB': of(), stream: of() };
}

/** One that does `rates` requests a second in the rounds and takes `ms` where the direct way takes 1 ms. */
function measured(name: string, rates: readonly number[], ms: number, faults = 0): Compared {
  return {
    name,
    about: 'defaults',
    version: '1.0',
    leftOut: undefined,
    rates: perWorkload(() =>
      rates.map((perSecond) => ({
        perSecond,
        taken: taken(1, perSecond, faults),
        cpu: { contender: 0.1, load: 0.02, upstream: 0.01 },
        busy: { load: 0.5, upstream: 0.25 },
        residentBytes: 1_048_576,
      })),
    ),
    latencies: perWorkload(() =>
      name === 'direct'
        ? []
        : rates.map(() => ({ ratePerSecond: 100, through: taken(ms), direct: taken(1) })),
    ),
    held:
      name === 'direct'
        ? undefined
        : {
            asked: 110,
            taken: taken(1, 100),
            residentBytes: { before: 0, held: 3_100_000 },
            bytesPerStream: 31_000,
          },
  };
}

const MISSING: Compared = {
  ...measured('smg', [], 0),
  rates: perWorkload(() => []),
  latencies: perWorkload(() => []),
  held: undefined,
  leftOut: 'no\nwheel | here',
};
const ALL = [
  measured('direct', [3_000, 3_000], 1),
  measured('bare pipe', [1_000, 2_000], 1.2),
  measured('Holdfast', [800, 1_400], 1.8),
  measured('vllm-router', [1_000, 1_000], 1.5, 3),
  MISSING,
];

test('a ratio is taken inside its round, and the middle of the ratios is what counts', () => {
  const [pipe] = targetsOf(ALL);
  assert.ok(pipe !== undefined);
  assert.deepEqual(pipe.reached, figureOf([0.8, 0.7]));
  assert.equal(met(pipe), true);
});

test('an aim beside somebody who is missing is neither met nor missed', () => {
  const smg = targetsOf(ALL).find(({ words }) => words.includes('smg'));
  assert.ok(smg !== undefined);
  assert.equal(met(smg), undefined);
});

test('the page names who was left out and why, and requests without a whole answer', () => {
  const page = pageOf({ all: ALL, extent: EXTENT, machine: MACHINE, earlier: undefined });
  assert.ok(page.includes('**left out**: no wheel \\| here'));
  assert.ok(page.includes('- vllm-router: 3 without a whole answer: status 500: no \\| none, of 18 in all.'));
  assert.ok(page.includes('at most 1 ms added at half load, median | 0.80 ms | yes'));
  assert.ok(page.includes('| Holdfast | 100 | 31.0 | 0 → 3 | 10 had no event in time |'));
});

test('a passage written by hand outlives the next run', () => {
  const first = pageOf({ all: ALL, extent: EXTENT, machine: MACHINE, earlier: undefined });
  const [mark = ''] = /<!-- written by hand[^>]*-->/.exec(first) ?? [];
  const edited = first.replace(mark, () => `${mark}\n\nMostly in *parsing*: $& and $1.\n`);
  const second = pageOf({ all: ALL, extent: EXTENT, machine: 'another', earlier: edited });
  assert.ok(second.includes('Mostly in *parsing*: $& and $1.'));
  assert.equal(second.replace('another', MACHINE), edited);
});

test('the page in the repository is in the form that is written now', () => {
  const page = readFileSync(join(ROOT, 'docs', 'benchmarks.md'), 'utf8');
  const now = pageOf({ all: ALL, extent: EXTENT, machine: MACHINE, earlier: page });
  const headings = (text: string): string[] => text.split('\n').filter((line) => line.startsWith('#'));
  assert.deepEqual(headings(page), headings(now));
});

test('the picture is sound and has a bar for everyone who was measured', () => {
  const { problems } = readMarkup(svgFile(pictureOf(ALL)));
  assert.deepEqual(problems, []);
  const bars = svgFile(pictureOf(ALL)).match(/class="edge"/g) ?? [];
  assert.equal(bars.length, 3 * WORKLOADS.length);
});
