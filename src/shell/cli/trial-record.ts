/** Writes a run down whole: a record, one line an attempt, one an execution, and the series of gauges and counters. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CallRecord } from '../../core/drill/record.js';
import type { RunSummary } from '../../core/trial/scenario.js';
import type { TrialRecord } from '../../core/trial/trial.js';

/** `run.json`, `calls.jsonl`, `attempts.jsonl`, `executions.jsonl` and `series.csv` in a folder named after the run. */
export function writeRecord(directory: string, summary: RunSummary, run: TrialRecord): void {
  const folder = join(directory, folderOf(summary));
  mkdirSync(folder, { recursive: true });
  const { plan, seed, capacity, planned, attempts, calls, executions, samples } = run;
  const { retries, attached, refused } = run;
  const head = { ...summary, capacity, retries, attached, refused, plan, calls: planned.length, seed };
  writeFileSync(join(folder, 'run.json'), `${JSON.stringify(head, null, 2)}\n`);
  writeFileSync(join(folder, 'calls.jsonl'), lines(calls.map((call) => lengthsOf(call, planned))));
  writeFileSync(join(folder, 'attempts.jsonl'), lines(attempts));
  writeFileSync(join(folder, 'executions.jsonl'), lines(executions));
  writeFileSync(join(folder, 'series.csv'), table(samples));
}

/** A call's record with what was planned of it. */
function lengthsOf(call: CallRecord, planned: TrialRecord['planned']): object {
  const { promptTokens = 0, responseTokens = 0, client } = planned[call.call] ?? {};
  return { ...call, promptTokens, responseTokens, client: client?.name };
}

/** The run's folder: its scenario and seed in letters that every file system takes. */
export function folderOf({ scenario, seed }: Pick<RunSummary, 'scenario' | 'seed'>): string {
  return `${scenario.replaceAll(/[^\w.+-]+/g, '_')}-seed-${seed}`;
}

function lines(items: readonly object[]): string {
  return items.map((item) => `${JSON.stringify(item)}\n`).join('');
}

function table(rows: readonly object[]): string {
  const columns = Object.keys(rows[0] ?? {});
  const values = rows.map((row) => Object.values(row as Record<string, unknown>).join(','));
  return `${[columns.join(','), ...values].join('\n')}\n`;
}
