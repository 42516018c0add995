/** Clients announce their patience in all sorts of ways; what cannot be read says nothing. */

import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { incoming } from '../../../tests/support/incoming.js';
import { type Deadlines, deadlinesOf, momentMs } from './deadline-headers.js';

const NOW = Date.parse('2026-11-05T12:00:00Z');

function deadlines(headers: Record<string, string>): Deadlines {
  return deadlinesOf(incoming(Object.entries(headers)), 'x-request-deadline', NOW);
}

test('seconds from now, and a date, are told apart', () => {
  deepEqual(
    ['120', '1.5', '0', '2026-11-05T12:02:00Z', '2026-11-05t13:02:00.5+01:00', '2026-11-05T11:00:00Z'].map(
      (text) => momentMs(text, NOW),
    ),
    [120_000, 1_500, 0, 120_000, 120_500, 0],
  );
});

test('anything else says nothing', () => {
  for (const text of [
    '',
    'soon',
    '-5',
    '1e3',
    'NaN',
    '2026-11-05',
    '2026-13-45T99:00:00Z',
    '12 s',
    '0x10',
    'Thu, 05 Nov 2026 12:02:00 GMT',
  ]) {
    equal(momentMs(text, NOW), undefined, text);
  }
});

test('any header text gives nothing or milliseconds that are not negative', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
      ),
      (text) => {
        const ms = momentMs(text, NOW);
        equal(ms === undefined || (Number.isFinite(ms) && ms >= 0), true);
      },
    ),
  );
});

test('what SDKs announce is read, and their word for nothing is nothing', () => {
  deepEqual(deadlines({ 'x-stainless-timeout': '600' }), { explicitMs: undefined, announcedMs: 600_000 });
  deepEqual(deadlines({ 'x-stainless-read-timeout': '1.5' }).announcedMs, 1_500);
  deepEqual(deadlines({ 'x-stainless-read-timeout': 'NOT_GIVEN' }).announcedMs, undefined);
  deepEqual(deadlines({ 'x-stainless-timeout': '30', 'x-stainless-read-timeout': '20' }).announcedMs, 20_000);
});

test('explicit deadlines: the nearer one counts', () => {
  deepEqual(deadlines({ 'x-request-deadline': '90', 'x-server-timeout': '60' }).explicitMs, 60_000);
  deepEqual(deadlines({ 'x-request-deadline': 'later', 'x-server-timeout': '60' }).explicitMs, 60_000);
});
