/** The traces that are read, line by line: Mooncake's JSON lines, the Azure LLM inference CSV, the BurstGPT CSV. */

import { TRACE_BLOCK_TOKENS } from '../../core/drill/trace-lines.js';
import { listed, shown } from '../shared/options.js';

export const TRACE_FORMATS = ['mooncake', 'azure', 'burstgpt'] as const;
export type TraceFormat = (typeof TRACE_FORMATS)[number];

/** One line's call; its time in the trace's own zero, milliseconds. */
export interface TracedLine {
  readonly timeMs: number;
  readonly promptTokens: number;
  /** 0: the recorded call failed. */
  readonly responseTokens: number;
  readonly blocks?: readonly number[];
  /** It is no call of its own, but repeats one. */
  readonly retry?: true;
}

/** Reads a line behind the header; throws a reason. */
export type LineReader = (text: string) => TracedLine;

const MOST_TOKENS = 10_000_000;
const MOST_BLOCK = 2 ** 31 - 2;
/** 10,000 years in milliseconds. */
const LATEST_MS = 3.2e14;

/** The format whose header or first line `text` is; undefined for none. */
export function formatOf(text: string): TraceFormat | undefined {
  if (text.trimStart().startsWith('{')) return 'mooncake';
  const columns = new Set(columnsOf(text));
  if (columns.has('ContextTokens')) return 'azure';
  return columns.has('Request tokens') ? 'burstgpt' : undefined;
}

/** A reader for lines of this format; the CSV ones read `header` first. Throws a reason when that does not fit. */
export function lineReader(format: TraceFormat, header: string): LineReader {
  switch (format) {
    case 'mooncake':
      return mooncakeLine;
    case 'azure':
      return csvReader(header, AZURE);
    case 'burstgpt':
      return csvReader(header, BURSTGPT);
    default:
      return format satisfies never;
  }
}

/** Mooncake's own keys, then those that holdfast writes beside them. */
const MOONCAKE_KEYS = new Set([
  'timestamp',
  'input_length',
  'output_length',
  'hash_ids',
  'call',
  'attempt',
  'retry_of',
  'deadline',
  'left_at',
  'ending',
]);

function mooncakeLine(text: string): TracedLine {
  const line = objectIn(text);
  const unknown = Object.keys(line).find((key) => !MOONCAKE_KEYS.has(key));
  if (unknown !== undefined) throw new Error(`has a key ${shown(unknown)} that is not known`);
  const promptTokens = count(line.input_length, 'input_length');
  const blocks = blocksIn(line.hash_ids, promptTokens);
  const traced: TracedLine = {
    timeMs: moment(line.timestamp, 'timestamp', 1),
    promptTokens,
    responseTokens: count(line.output_length, 'output_length'),
  };
  if (typeof line.attempt === 'number' && line.attempt > 0) return { ...traced, retry: true };
  return blocks.length === 0 ? traced : { ...traced, blocks };
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  let line: unknown;
  try {
    line = JSON.parse(text);
  } catch {
    throw new Error(`is cut off or no JSON: ${shown(text)}`);
  }
  if (typeof line === 'object' && line !== null && !Array.isArray(line)) {
    return line as Readonly<Record<string, unknown>>;
  }
  throw new Error(`must be an object, not ${shown(line)}`);
}

function blocksIn(value: unknown, promptTokens: number): readonly number[] {
  if (value === undefined) return [];
  const fits = (id: unknown): boolean => Number.isInteger(id) && Number(id) >= 0 && Number(id) <= MOST_BLOCK;
  if (!Array.isArray(value) || !value.every(fits)) {
    throw new Error(`hash_ids must be a list of whole numbers from 0 to ${MOST_BLOCK}`);
  }
  const most = Math.ceil(promptTokens / TRACE_BLOCK_TOKENS);
  if (value.length <= most) return value as number[];
  throw new Error(
    `has ${value.length} hash_ids of ${TRACE_BLOCK_TOKENS} tokens for an input_length of ${promptTokens}, which has ${most}`,
  );
}

interface CsvShape {
  readonly columns: readonly string[];
  readonly time: string;
  readonly timeMs: (text: string, column: string) => number;
  readonly prompt: string;
  readonly response: string;
}

const AZURE: CsvShape = {
  columns: ['TIMESTAMP', 'ContextTokens', 'GeneratedTokens'],
  time: 'TIMESTAMP',
  timeMs: dateMs,
  prompt: 'ContextTokens',
  response: 'GeneratedTokens',
};

const BURSTGPT: CsvShape = {
  columns: [
    'Timestamp',
    'Session ID',
    'Elapsed time',
    'Model',
    'Request tokens',
    'Response tokens',
    'Total tokens',
    'Log Type',
  ],
  time: 'Timestamp',
  timeMs: (text, column) => moment(numberIn(text), column, 1_000),
  prompt: 'Request tokens',
  response: 'Response tokens',
};

function csvReader(header: string, { columns, time, timeMs, prompt, response }: CsvShape): LineReader {
  const names = columnsOf(header);
  const unknown = names.find((name) => !columns.includes(name));
  if (unknown !== undefined) {
    throw new Error(
      `has a column ${shown(unknown)} that is not known; the columns are ${columns.join(', ')}`,
    );
  }
  const missing = [time, prompt, response].filter((name) => !names.includes(name));
  if (missing.length > 0) throw new Error(`has no column ${listed(missing.map(shown))}`);
  const [timeAt, promptAt, responseAt] = [time, prompt, response].map((name) => names.indexOf(name));
  return (text) => {
    const cells = columnsOf(text);
    if (cells.length !== names.length) {
      throw new Error(`has ${cells.length} of ${names.length} columns: ${shown(text)}`);
    }
    const cell = (at: number | undefined): string => cells[at ?? 0] ?? '';
    return {
      timeMs: timeMs(cell(timeAt), time),
      promptTokens: count(numberIn(cell(promptAt)), prompt),
      responseTokens: count(numberIn(cell(responseAt)), response),
    };
  };
}

/** None of these files has a comma inside a cell. */
function columnsOf(text: string): readonly string[] {
  return text
    .replace(/^\uFEFF/, '')
    .split(',')
    .map((cell) => cell.trim().replace(/^"(.*)"$/, '$1'));
}

function numberIn(text: string): number | string {
  return /^-?\d{1,15}(?:\.\d{1,15})?$/.test(text) ? Number(text) : text;
}

function count(value: unknown, name: string): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MOST_TOKENS)
    return value;
  throw new Error(`${name} must be a whole number from 0 to ${MOST_TOKENS}, not ${shown(value)}`);
}

function moment(value: unknown, name: string, unitMs: number): number {
  if (typeof value === 'number' && value >= 0 && value * unitMs <= LATEST_MS) return value * unitMs;
  throw new Error(`${name} must be a time from 0, not ${shown(value)}`);
}

const DATE = /^(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(\.\d{1,9})?(?:Z|([+-])(\d\d):?(\d\d))?$/;

/** A moment as Azure writes it: `2023-11-16 18:15:46.6805900`, with a zone or without, then of UTC. */
function dateMs(text: string, name: string): number {
  const parts = DATE.exec(text);
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = (parts ?? [])
    .slice(1, 7)
    .map(Number);
  const ms = Date.UTC(year, month - 1, day, hour, minute, second);
  const date = new Date(ms);
  // A 31st of February would roll over.
  const real = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && hour < 24 && minute < 60;
  if (parts === null || !real) {
    throw new Error(`${name} must be a moment such as 2023-11-16 18:15:46.68, not ${shown(text)}`);
  }
  const zone = Number(parts[9] ?? 0) * 60 + Number(parts[10] ?? 0);
  return ms + 1_000 * Number(parts[7] ?? 0) - (parts[8] === '-' ? -zone : zone) * 60_000;
}
