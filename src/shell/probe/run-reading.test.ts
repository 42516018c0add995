/** A run's folder read back: as it was written, and a complaint with file, line and reason where it was not. */

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { blindDrill, SMALL_PLAN, trialRecord } from '../../../tests/support/run-records.js';
import { planCalls } from '../../core/drill/planning.js';
import { UserError } from '../shared/errors.js';
import { writeRunFolder } from './run-folder.js';
import { readRunFolder } from './run-reading.js';

const record = trialRecord('retries=on cancel=on');
const planned = planCalls(SMALL_PLAN, 1, record.head.capacity ?? undefined);

function inFolder(use: (folder: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-run-'));
  try {
    use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('a run that was written is read as it was', () => {
  inFolder((folder) => {
    writeRunFolder(folder, record, planned);
    const read = readRunFolder(folder);
    // Through JSON what is undefined is gone.
    const told = (value: object): unknown => JSON.parse(JSON.stringify(value));
    assert.deepEqual(told(read), told(record));
  });
});

test('what nobody could read is absent again', () => {
  inFolder((folder) => {
    const blind = blindDrill(record);
    const [first] = blind.head.stages;
    assert.ok(first !== undefined);
    const none = {
      ...first,
      delivered: 0,
      latenessMs: { median: Number.NaN, p90: Number.NaN, p99: Number.NaN },
    };
    const stages = [none, ...blind.head.stages.slice(1)];
    const samples = [
      { atMs: 0, waiting: 3 },
      { atMs: 1_000, line: 2 },
    ];
    writeRunFolder(folder, { ...blind, head: { ...blind.head, stages }, samples }, planned);
    rmSync(join(folder, 'executions.jsonl'));
    const read = readRunFolder(folder);
    assert.equal(read.head.stages[0]?.executions, undefined);
    assert.ok(Number.isNaN(read.head.stages[0]?.latenessMs.median));
    assert.deepEqual(read.executions, []);
    assert.deepEqual(read.samples, samples);
  });
});

test('what does not fit is told with its file, line and reason', () => {
  const spoilt = (name: string, change: (text: string) => string): string => {
    let message = '';
    inFolder((folder) => {
      writeRunFolder(folder, record, planned);
      const path = join(folder, name);
      writeFileSync(path, change(readFileSync(path, 'utf8')));
      assert.throws(
        () => readRunFolder(folder),
        (error) => {
          message = error instanceof UserError ? error.message : '';
          return error instanceof UserError && error.code === 'input_invalid';
        },
      );
    });
    return message;
  };
  const line =
    (at: number, to: (line: string) => string) =>
    (text: string): string =>
      text
        .split('\n')
        .map((one, index) => (index === at ? to(one) : one))
        .join('\n');
  assert.match(
    spoilt('run.json', (text) => text.replace('holdfast-run/1', 'other/9')),
    /run\.json .*format: must be holdfast-run\/1/,
  );
  assert.match(
    spoilt('run.json', (text) => text.replace('"seconds": 60', '"seconds": -1')),
    /plan\.stages\.0\.seconds/,
  );
  assert.match(
    spoilt('run.json', (text) => text.slice(0, 100)),
    /run\.json: not JSON/,
  );
  assert.match(
    spoilt(
      'attempts.jsonl',
      line(4, (one) => one.slice(0, 20)),
    ),
    /attempts\.jsonl, line 5: not JSON/,
  );
  assert.match(
    spoilt(
      'attempts.jsonl',
      line(2, (one) => one.replace('sentMs', 'sent')),
    ),
    /attempts\.jsonl, line 3: sentMs/,
  );
  assert.match(
    spoilt(
      'calls.jsonl',
      line(0, (one) => one.replace(/"stage":\d/, '"stage":7')),
    ),
    /calls\.jsonl, line 1: stage: the plan has 3/,
  );
  assert.match(
    spoilt(
      'executions.jsonl',
      line(1, (one) => one.replace(/"ending":"\w+"/, '"ending":"lost"')),
    ),
    /executions\.jsonl, line 2: ending/,
  );
  assert.match(
    spoilt(
      'series.csv',
      line(3, (one) => `${one},1`),
    ),
    /series\.csv, line 4: 15 cells where the first line has 14/,
  );
  assert.match(
    spoilt(
      'series.csv',
      line(2, (one) => one.replace(/,\d+/, ',many')),
    ),
    /series\.csv, line 3: running must be a number, not many/,
  );
});

test('a folder without a run is told as one', () => {
  inFolder((folder) => {
    assert.throws(
      () => readRunFolder(folder),
      (error) =>
        error instanceof UserError && error.code === 'input_unreadable' && /run\.json/.test(error.message),
    );
  });
});
