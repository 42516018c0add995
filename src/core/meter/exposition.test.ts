/** The Prometheus text that is written is the text that is read, number by number. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  histogramSamples,
  numberText,
  readExposition,
  sample,
  scalar,
  valueOf,
  writeExposition,
} from './exposition.js';
import { Histogram } from './histogram.js';

test('numbers are printed as the Prometheus clients print them', () => {
  const cases: [number, string][] = [
    [0, '0.0'],
    [-3, '-3.0'],
    [0.25, '0.25'],
    [999_999, '999999.0'],
    [1e6, '1e+06'],
    [1_795_976_569.38, '1.79597656938e+09'],
    [0.00001, '1e-05'],
    [Number.POSITIVE_INFINITY, '+Inf'],
    [Number.NEGATIVE_INFINITY, '-Inf'],
    [Number.NaN, 'NaN'],
  ];
  for (const [value, text] of cases) assert.equal(numberText(value), text);
});

test('a histogram is written with cumulative buckets, count and sum', () => {
  const histogram = new Histogram([1, 5]);
  for (const value of [0.5, 1, 3, 9]) histogram.observe(value);
  const samples = histogramSamples('wait_seconds', histogram, { arm: 'a' });
  const text = writeExposition([{ name: 'wait_seconds', type: 'histogram', help: 'How long.', samples }]);
  assert.equal(
    text,
    [
      '# HELP wait_seconds How long.',
      '# TYPE wait_seconds histogram',
      'wait_seconds_bucket{arm="a",le="1.0"} 2.0',
      'wait_seconds_bucket{arm="a",le="5.0"} 3.0',
      'wait_seconds_bucket{arm="a",le="+Inf"} 4.0',
      'wait_seconds_count{arm="a"} 4.0',
      'wait_seconds_sum{arm="a"} 13.5',
      '',
    ].join('\n'),
  );
});

test('what is written is read back, escapes and suffixes included', () => {
  const histogram = new Histogram([0.1]);
  histogram.observe(0.05, 3);
  const families = [
    scalar('calls_total', 'counter', 'line\nfeed and \\ slash', 3),
    {
      name: 'room',
      type: 'gauge' as const,
      help: '',
      samples: [sample('room', 1, { a: 'q"uo\\te}', b: 'x\ny' }), sample('room', Number.NaN)],
    },
    { name: 'h', type: 'histogram' as const, help: 'h', samples: histogramSamples('h', histogram) },
  ];
  assert.deepEqual(readExposition(writeExposition(families)), families);
});

test('foreign text is read: no TYPE, timestamps, blank and broken lines', () => {
  const families = readExposition('a_count 1 1700000000\n\n# EOF\nnonsense\nb{x="1",} 2e3\nc 1x\n');
  assert.equal(valueOf(families, 'a_count'), 1);
  assert.equal(valueOf(families, 'b', { x: '1' }), 2000);
  assert.equal(valueOf(families, 'b', { x: '2' }), undefined);
  assert.equal(valueOf(families, 'c'), undefined);
});
