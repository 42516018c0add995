/** Attempts as a Mooncake trace. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PlannedCall, PUBLISHED_CLIENT } from './plan.js';
import type { AttemptRecord } from './record.js';
import { traceLines } from './trace-lines.js';

function call(index: number, promptTokens: number): PlannedCall {
  const tokens = { promptTokens, sharedPrefixTokens: 1_100, responseTokens: 7 };
  return { index, stage: 0, atMs: index * 1_000, client: PUBLISHED_CLIENT, ...tokens };
}

function attempt(of: number, ordinal: number, sentMs: number): AttemptRecord {
  const times = { plannedMs: of * 1_000, sentMs, firstByteMs: undefined, leftMs: sentMs + 120_000.4 };
  return { call: of, attempt: ordinal, ending: 'timed_out', status: undefined, ...times };
}

test('a line has the fields of a Mooncake trace and which attempt of which call it was', () => {
  const lines = [...traceLines([attempt(0, 0, 3.6), attempt(0, 1, 121_000)], [call(0, 1_600)])];
  assert.deepEqual(lines[1], {
    timestamp: 121_000,
    input_length: 1_600,
    output_length: 7,
    hash_ids: [0, 1, 2, 3],
    call: 0,
    attempt: 1,
    retry_of: 0,
    deadline: 241_000,
    left_at: 241_000,
    ending: 'timed_out',
  });
  assert.deepEqual([lines[0]?.timestamp, lines[0]?.retry_of], [4, null]);
});

test('blocks are shared as far as the prefix is whole blocks of it, kept over attempts and never between calls', () => {
  const planned = [call(0, 1_600), call(1, 2_100), call(2, 1_536)];
  const attempts = [attempt(2, 0, 0), attempt(0, 0, 1), attempt(1, 0, 2), attempt(0, 1, 3)];
  const ids = [...traceLines(attempts, planned)].map(({ hash_ids }) => hash_ids);
  assert.deepEqual(ids, [
    [0, 1, 7],
    [0, 1, 2, 3],
    [0, 1, 4, 5, 6],
    [0, 1, 2, 3],
  ]);
});

test('a traced call keeps the names that its trace gave its blocks', () => {
  const planned = [
    { ...call(0, 1_600), sharedPrefixTokens: 0, blocks: [40, 41, 42] },
    { ...call(1, 1_600), sharedPrefixTokens: 0, blocks: [40, 41] },
  ];
  const ids = [...traceLines([attempt(0, 0, 0), attempt(1, 0, 1)], planned)].map(({ hash_ids }) => hash_ids);
  assert.deepEqual(ids, [
    [40, 41, 42, 43],
    [40, 41, 44, 45],
  ]);
});
