/** A run on disk: what is in its files, and what is said when they cannot be written. */

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { runHead } from '../../core/drill/head.js';
import { PUBLISHED_PLAN } from '../../core/drill/plan.js';
import { planCalls } from '../../core/drill/planning.js';
import type { AttemptRecord, CallRecord } from '../../core/drill/record.js';
import type { RunRecord } from '../../core/drill/run.js';
import { UserError } from '../shared/errors.js';
import { folderName, writeRunFolder } from './run-folder.js';

const planned = planCalls(PUBLISHED_PLAN, 1, 0.01);
const attempts: readonly AttemptRecord[] = planned.map(({ index, atMs }) => ({
  call: index,
  attempt: 0,
  plannedMs: atMs,
  sentMs: atMs,
  firstByteMs: atMs + 5,
  leftMs: atMs + 9,
  ending: 'delivered',
  status: 200,
}));
const calls: readonly CallRecord[] = planned.map(({ index, stage, atMs }) => ({
  call: index,
  stage,
  plannedMs: atMs,
  endedMs: atMs + 9,
  attempts: 1,
  delivered: true,
}));

function run(): RunRecord {
  const facts = {
    name: 'a run',
    kind: 'trial',
    target: 'virtual time',
    seed: 1,
    capacity: 0.01,
    timeScale: 1,
    invalid: [],
    stopped: false,
    generator: null,
    executionsCountedBy: null,
  } as const;
  const head = runHead({ facts, plan: PUBLISHED_PLAN, planned, calls, attempts, backlog: undefined });
  const samples = [
    { atMs: 0, running: 1 },
    { atMs: 1_000, line: 3 },
  ];
  return { head, calls, attempts, executions: [], samples };
}

function inFolder(use: (folder: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-run-'));
  try {
    use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('a folder holds the head, a line for each call and attempt, the trace, and only the columns that were read', () => {
  inFolder((folder) => {
    const at = join(folder, folderName('retries=on / cancel', 3));
    assert.ok(at.endsWith('retries_on_cancel-seed-3'));
    writeRunFolder(at, run(), planned);
    const read = (name: string): string => readFileSync(join(at, name), 'utf8');
    const rows = (name: string): Record<string, unknown>[] =>
      read(name)
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    const head = JSON.parse(read('run.json')) as RunRecord['head'];
    assert.equal(head.format, 'holdfast-run/1');
    assert.equal(head.total.delivered, planned.length);
    assert.equal(head.recovery.backlogSeconds, null);
    assert.equal(rows('calls.jsonl').length, planned.length);
    assert.equal(rows('calls.jsonl')[0]?.['promptTokens'], planned[0]?.promptTokens);
    assert.deepEqual(rows('attempts.jsonl')[0], { ...attempts[0] });
    assert.equal(rows('trace.jsonl')[0]?.['input_length'], planned[0]?.promptTokens);
    assert.equal(read('executions.jsonl'), '');
    assert.equal(read('series.csv'), 'atMs,running,line\n0,1,\n1000,,3\n');
  });
});

test('a folder that cannot be made is said in words', () => {
  inFolder((folder) => {
    writeFileSync(join(folder, 'file'), '');
    assert.throws(
      () => writeRunFolder(join(folder, 'file', 'run'), run(), planned),
      (error) => error instanceof UserError && error.code === 'output_unwritable',
    );
  });
});
