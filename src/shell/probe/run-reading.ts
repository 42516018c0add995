/** Reads a run's folder back: every field checked, every complaint with its file, line and reason. */

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';
import type { AttemptRecord, CallRecord, ExecutionRecord, Sample } from '../../core/drill/record.js';
import type { RunHead, RunRecord } from '../../core/drill/run.js';
import { UserError } from '../shared/errors.js';
import { errorText } from '../shared/log.js';
import { planOf } from './plan-file.js';
import { SAMPLE_COLUMNS } from './run-folder.js';
import { ATTEMPT, CALL, EXECUTION, HEAD } from './run-schema.js';

/** A string of Node holds no more than about 512 MiB; a million attempts are about 200 MB. */
const LARGEST_FILE_BYTES = 400 * 1024 * 1024;

/**
 * The run in `folder`, as `--record` wrote it. `executions.jsonl` and `series.csv` may be missing: nobody could read
 * what would be in them. Throws a {@link UserError} for what cannot be read or does not fit.
 */
export function readRunFolder(folder: string): RunRecord {
  const head = headIn(join(folder, 'run.json'));
  const calls = linesIn(join(folder, 'calls.jsonl'), CALL) as readonly CallRecord[];
  const attempts = linesIn(join(folder, 'attempts.jsonl'), ATTEMPT) as readonly AttemptRecord[];
  const executions = linesIn(join(folder, 'executions.jsonl'), EXECUTION, true) as readonly ExecutionRecord[];
  const stages = head.plan.stages.length;
  const stray = calls.findIndex(({ stage }) => stage >= stages);
  if (stray >= 0) {
    throw invalid(join(folder, 'calls.jsonl'), stray + 1, `stage: the plan has ${stages}, counted from 0`);
  }
  return { head, calls, attempts, executions, samples: seriesIn(join(folder, 'series.csv')) };
}

function headIn(path: string): RunHead {
  const read = HEAD.safeParse(jsonOf(textOf(path) ?? '', path));
  if (!read.success) throw new UserError('input_invalid', `${path} is no run: ${reasonOf(read.error)}`);
  if (read.data.stages.length !== read.data.plan.stages.length) {
    const [told, planned] = [read.data.stages.length, read.data.plan.stages.length];
    throw new UserError(
      'input_invalid',
      `${path} is no run: stages has ${told} where the plan has ${planned}`,
    );
  }
  return { ...read.data, plan: planOf(read.data.plan) } as RunHead;
}

function linesIn<Shape extends z.ZodType>(path: string, shape: Shape, optional = false): z.output<Shape>[] {
  const text = textOf(path, optional);
  if (text === undefined) return [];
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line, at) => {
    const read = shape.safeParse(jsonOf(line, path, at + 1));
    if (!read.success) throw invalid(path, at + 1, reasonOf(read.error));
    return read.data;
  });
}

/** Columns that a sample does not have are passed over; an empty cell is a value that nobody could read. */
function seriesIn(path: string): readonly Sample[] {
  const text = textOf(path, true);
  if (text === undefined) return [];
  const [head = '', ...rows] = text.trimEnd().split('\n');
  const columns = head.split(',');
  const known = new Set<string>(SAMPLE_COLUMNS);
  if (!columns.includes('atMs')) throw invalid(path, 1, 'it has no column atMs');
  return rows.map((row, at) => {
    const cells = row.split(',');
    if (cells.length !== columns.length) {
      throw invalid(path, at + 2, `${cells.length} cells where the first line has ${columns.length}`);
    }
    const sample: Record<string, number> = {};
    columns.forEach((column, index) => {
      const cell = cells[index] ?? '';
      if (!known.has(column) || cell === '') return;
      const value = Number(cell);
      if (!Number.isFinite(value))
        throw invalid(path, at + 2, `${column} must be a number, not ${cell.slice(0, 40)}`);
      sample[column] = value;
    });
    if (sample['atMs'] === undefined) throw invalid(path, at + 2, 'atMs is missing');
    return sample as unknown as Sample;
  });
}

/** Undefined for a file that is not there and need not be. */
function textOf(path: string, optional = false): string | undefined {
  try {
    const { size } = statSync(path);
    if (size > LARGEST_FILE_BYTES)
      throw new Error(`${path}: ${size} bytes are more than ${LARGEST_FILE_BYTES}`);
    return readFileSync(path, 'utf8');
  } catch (cause) {
    if (optional && cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined;
    throw new UserError('input_unreadable', `cannot read the run: ${errorText(cause)}`, { cause });
  }
}

function jsonOf(text: string, path: string, line?: number): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw invalid(path, line, `not JSON: ${errorText(cause)}`);
  }
}

function invalid(path: string, line: number | undefined, reason: string): UserError {
  return new UserError('input_invalid', `${path}${line === undefined ? '' : `, line ${line}`}: ${reason}`);
}

function reasonOf({ issues }: z.ZodError): string {
  const [first] = issues;
  return first === undefined ? 'it does not fit' : `${first.path.join('.') || 'the line'}: ${first.message}`;
}
