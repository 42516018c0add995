/** Writes a run down whole, one folder a run: its head, one line a call, an attempt and an execution, and the series. */

import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { PlannedCall } from '../../core/drill/plan.js';
import type { CallRecord, Sample } from '../../core/drill/record.js';
import type { RunHead, RunRecord } from '../../core/drill/run.js';
import { traceLines } from '../../core/drill/trace-lines.js';
import { UserError } from '../shared/errors.js';
import { errorText } from '../shared/log.js';

/** Lines written at once: a record of millions of attempts never stands in memory as text. */
const LINES_AT_ONCE = 10_000;

/** Columns of `series.csv`; one that no sample has is left out. */
export const SAMPLE_COLUMNS = Object.keys({
  atMs: true,
  running: true,
  waiting: true,
  kvCacheUsage: true,
  line: true,
  promptTokens: true,
  prefixCacheQueries: true,
  prefixCacheHits: true,
  generationTokens: true,
  computedPromptTokens: true,
  hiddenPromptTokens: true,
  executionsCreated: true,
  executionsFinished: true,
  executionsAborted: true,
} satisfies Record<keyof Sample, true>) as readonly (keyof Sample)[];

/**
 * `run.json`, `calls.jsonl` (with what was planned of each call), `attempts.jsonl`, `trace.jsonl` (the attempts as a
 * Mooncake trace), `executions.jsonl` and `series.csv` in `folder`, which is made where it is missing. A head with
 * further fields is written with them. Throws a {@link UserError} where a file cannot be written.
 */
export function writeRunFolder(folder: string, run: RunRecord, planned: readonly PlannedCall[]): void {
  const { head, calls, attempts, executions, samples } = run;
  try {
    mkdirSync(folder, { recursive: true });
    write(join(folder, 'run.json'), [headText(head)]);
    write(
      join(folder, 'calls.jsonl'),
      jsonLines(calls, (call) => withPlan(call, planned)),
    );
    write(join(folder, 'attempts.jsonl'), jsonLines(attempts));
    write(join(folder, 'trace.jsonl'), jsonLines(traceLines(attempts, planned)));
    write(join(folder, 'executions.jsonl'), jsonLines(executions));
    write(join(folder, 'series.csv'), table(samples));
  } catch (cause) {
    throw new UserError('output_unwritable', `cannot write the record: ${errorText(cause)}`, { cause });
  }
}

/** Makes the folder, so that a long run is not lost to a place that cannot be written. Throws a {@link UserError}. */
export function makeRunFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (cause) {
    throw new UserError('output_unwritable', `cannot write the record: ${errorText(cause)}`, { cause });
  }
}

/** The folder of one run among others: its name and seed in letters that every file system takes. */
export function folderName(name: string, seed: number): string {
  return `${name.replaceAll(/[^\w.+-]+/g, '_')}-seed-${seed}`;
}

function headText(head: RunHead): string {
  return `${JSON.stringify(head, null, 2)}\n`;
}

/** A call's record with what was planned of it. */
function withPlan(call: CallRecord, planned: readonly PlannedCall[]): object {
  const { promptTokens, responseTokens, client } = planned[call.call] ?? {};
  return { ...call, promptTokens, responseTokens, client: client?.name };
}

function* jsonLines<Item extends object>(
  items: Iterable<Item>,
  as: (item: Item) => object = (item) => item,
): Iterable<string> {
  for (const item of items) yield `${JSON.stringify(as(item))}\n`;
}

function* table(samples: readonly Sample[]): Iterable<string> {
  const columns = SAMPLE_COLUMNS.filter((column) => samples.some((sample) => sample[column] !== undefined));
  yield `${columns.join(',')}\n`;
  for (const sample of samples) yield `${columns.map((column) => sample[column] ?? '').join(',')}\n`;
}

function write(path: string, lines: Iterable<string>): void {
  const file = openSync(path, 'w');
  try {
    let held: string[] = [];
    for (const line of lines) {
      held.push(line);
      if (held.length < LINES_AT_ONCE) continue;
      writeAll(file, held.join(''));
      held = [];
    }
    writeAll(file, held.join(''));
  } finally {
    closeSync(file);
  }
}

function writeAll(file: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let from = 0; from < bytes.length; from += writeSync(file, bytes, from));
}
