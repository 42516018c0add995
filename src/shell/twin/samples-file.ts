/** Reads measured steps from a CSV file, and says of each line that does not fit where it is and why. */

import type { StepSample } from '../../core/engine/fit.js';
import { UserError } from '../shared/errors.js';
import { nearest, shown } from '../shared/options.js';
import { readTextFile } from '../shared/text-file.js';

/** A measured step and the line it stands on, from 1. */
export interface SampleLine extends StepSample {
  readonly line: number;
}

const COLUMNS = ['tokens', 'pairs', 'context', 'ms'] as const;
type Column = (typeof COLUMNS)[number];

const MOST_SAMPLES = 50_000;
const LARGEST_FILE_BYTES = 8 * 1024 * 1024;
const MOST_COMPLAINTS = 20;

/** The samples of the file at `path`; a {@link UserError} lists the lines that are refused. */
export function readSamples(path: string): SampleLine[] {
  const lines = textOf(path).split(/\r?\n/);
  const complaints: string[] = [];
  const samples: SampleLine[] = [];
  let columns: readonly Column[] | undefined;
  for (const [at, text] of lines.entries()) {
    if (text.trim() === '' || text.startsWith('#')) continue;
    const line = at + 1;
    const cells = text.split(',').map((cell) => cell.trim());
    if (columns === undefined) {
      columns = headOf(`${path}:${line}`, cells);
      continue;
    }
    const read = sampleOf(columns, cells);
    if (typeof read === 'string') complaints.push(`${path}:${line}: ${read}`);
    else samples.push({ ...read, line });
  }
  if (columns === undefined) {
    complaints.push(`${path}: is empty; its first line must name the columns ${COLUMNS.join(',')}`);
  }
  if (samples.length > MOST_SAMPLES) {
    complaints.push(`${path}: ${samples.length} steps are more than ${MOST_SAMPLES}; take every tenth`);
  }
  if (complaints.length > 0) throw new UserError('input_invalid', said(complaints));
  return samples;
}

function textOf(path: string): string {
  return readTextFile({ path, what: 'the samples', largestBytes: LARGEST_FILE_BYTES }).replace(/^\uFEFF/, '');
}

/** Columns in any order, each once, none besides. */
function headOf(place: string, cells: readonly string[]): readonly Column[] {
  const want = `the first line must name the columns ${COLUMNS.join(',')}`;
  for (const [at, cell] of cells.entries()) {
    if (!COLUMNS.some((column) => column === cell)) {
      const near = nearest(cell, COLUMNS);
      const hint = near === undefined ? want : `did you mean ${near}?`;
      throw new UserError('input_invalid', `${place}: there is no column ${shown(cell)}; ${hint}`);
    }
    if (cells.indexOf(cell) !== at) {
      throw new UserError('input_invalid', `${place}: the column ${cell} is there twice`);
    }
  }
  const missing = COLUMNS.filter((column) => !cells.includes(column));
  if (missing.length > 0) {
    throw new UserError('input_invalid', `${place}: the column ${missing.join(' and ')} is missing; ${want}`);
  }
  return cells as readonly Column[];
}

const BOUNDS: Readonly<
  Record<Column, { readonly low: number; readonly high: number; readonly whole: boolean }>
> = {
  tokens: { low: 1, high: 2 ** 24, whole: true },
  pairs: { low: 0, high: 1e15, whole: false },
  context: { low: 0, high: 1e12, whole: true },
  ms: { low: 1e-6, high: 1e7, whole: false },
};

/** The sample, or why the line is none. */
function sampleOf(columns: readonly Column[], cells: readonly string[]): StepSample | string {
  if (cells.length !== columns.length) return `${cells.length} values for ${columns.length} columns`;
  const values = { tokens: 0, pairs: 0, context: 0, ms: 0 };
  for (const [at, column] of columns.entries()) {
    const cell = cells[at] ?? '';
    const { low, high, whole } = BOUNDS[column];
    const value = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(cell) ? Number(cell) : Number.NaN;
    if (!(value >= low && value <= high) || (whole && !Number.isInteger(value))) {
      return `${column} must be a ${whole ? 'whole ' : ''}number from ${low} to ${high}, not ${shown(cell)}`;
    }
    values[column] = value;
  }
  const { tokens, pairs, context, ms } = values;
  return { tokens, prefillPairs: pairs, decodeContext: context, ms };
}

function said(complaints: readonly string[]): string {
  const more = complaints.length - MOST_COMPLAINTS;
  const rest = more > 0 ? [`and ${more} lines more`] : [];
  return ['the samples do not fit:', ...complaints.slice(0, MOST_COMPLAINTS), ...rest].join('\n  ');
}
