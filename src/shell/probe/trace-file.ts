/** Reads a recorded trace as calls to play: streamed, sorted within a bound, and every complaint with file and line. */

import { MOST_CALLS } from '../../core/drill/planning.js';
import type { Trace, TraceCall } from '../../core/drill/trace.js';
import { UserError } from '../shared/errors.js';
import { errorText } from '../shared/log.js';
import { listed } from '../shared/options.js';
import { type FileLine, fileLines } from './file-lines.js';
import {
  formatOf,
  type LineReader,
  lineReader,
  TRACE_FORMATS,
  type TracedLine,
  type TraceFormat,
} from './trace-formats.js';

export interface TraceSource {
  readonly file: string;
  /** Recognised by the first line where it is left out. */
  readonly format?: TraceFormat | undefined;
  /** Seconds of the trace in one second of the run (1). */
  readonly speed?: number | undefined;
  /** The first so many calls (all). */
  readonly limit?: number | undefined;
  /** Calls of more prompt and response tokens together are left out (none). */
  readonly mostTokens?: number | undefined;
}

/** How far a line may lie behind the latest one before it, milliseconds of the trace: our own traces are by ending. */
const SORTED_WITHIN_MS = 600_000;

/** Throws a {@link UserError} with file, line and reason for whatever does not fit. */
export function readTraceFile(source: TraceSource): Trace {
  const lines = complained(source.file, fileLines(source.file));
  const reading = new Reading(source);
  for (const line of lines) {
    if (line.text.trim() === '') continue;
    if (!reading.take(line)) break;
  }
  return reading.end();
}

class Reading {
  readonly #source: TraceSource;
  readonly #limit: number;
  readonly #taken: TracedLine[] = [];
  #read: LineReader | undefined;
  #latestMs = Number.NEGATIVE_INFINITY;
  /** The limit is reached; only lines that come before this moment may still belong to it. */
  #untilMs: number | undefined;
  readonly #leftOut: { readonly timeMs: number; readonly why: keyof Trace['leftOut'] }[] = [];

  constructor(source: TraceSource) {
    this.#source = source;
    this.#limit = Math.min(source.limit ?? MOST_CALLS, MOST_CALLS);
  }

  /** Whether more lines may matter. */
  take({ number, text }: FileLine): boolean {
    try {
      if (this.#read !== undefined) return this.#keep(this.#read(text));
      const format = this.#source.format ?? formatOf(text);
      if (format === undefined) {
        throw new Error(`is the beginning of no trace; known are ${listed(TRACE_FORMATS)}`);
      }
      this.#read = lineReader(format, text);
      return format === 'mooncake' ? this.#keep(this.#read(text)) : true;
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : errorText(cause);
      throw broken(this.#source.file, `line ${number}: ${reason}`, cause);
    }
  }

  end(): Trace {
    const { file, limit, speed = 1 } = this.#source;
    const inOrder = this.#taken.toSorted((a, b) => a.timeMs - b.timeMs).slice(0, this.#limit);
    const first = inOrder[0];
    if (first === undefined) {
      throw broken(file, 'it has no call to play');
    }
    if (limit === undefined && this.#taken.length > MOST_CALLS) {
      throw broken(file, `it has more than ${MOST_CALLS} calls; take fewer of them with a limit`);
    }
    const calls = inOrder.map((line) => playedCall(line, first.timeMs, speed));
    const lastMs = limit === undefined ? Number.POSITIVE_INFINITY : (inOrder.at(-1)?.timeMs ?? 0);
    const leftOut = { failed: 0, retries: 0, tooLong: 0 };
    for (const { timeMs, why } of this.#leftOut) if (timeMs <= lastMs) leftOut[why] += 1;
    return { source: file, calls, leftOut };
  }

  #keep(line: TracedLine): boolean {
    const { timeMs } = line;
    if (timeMs < this.#latestMs - SORTED_WITHIN_MS) {
      const backSeconds = Math.round((this.#latestMs - timeMs) / 1_000);
      const allowed = SORTED_WITHIN_MS / 1_000;
      throw new Error(`goes back by ${backSeconds} s; lines may be out of order by ${allowed} s`);
    }
    this.#latestMs = Math.max(this.#latestMs, timeMs);
    if (this.#untilMs !== undefined && timeMs > this.#untilMs) return false;
    const why = leftOutFor(line, this.#source.mostTokens);
    if (why === undefined) this.#taken.push(line);
    else this.#leftOut.push({ timeMs, why });
    if (this.#taken.length > MOST_CALLS) return false;
    if (this.#taken.length === this.#limit) this.#untilMs ??= this.#latestMs + SORTED_WITHIN_MS;
    return true;
  }
}

function leftOutFor(
  { retry, promptTokens, responseTokens }: TracedLine,
  mostTokens = Number.POSITIVE_INFINITY,
): keyof Trace['leftOut'] | undefined {
  if (retry === true) return 'retries';
  if (promptTokens === 0 || responseTokens === 0) return 'failed';
  return promptTokens + responseTokens > mostTokens ? 'tooLong' : undefined;
}

function playedCall(line: TracedLine, firstMs: number, speed: number): TraceCall {
  const { timeMs, promptTokens, responseTokens, blocks } = line;
  const call = { atMs: (timeMs - firstMs) / speed, promptTokens, responseTokens };
  return blocks === undefined ? call : { ...call, blocks };
}

function* complained(file: string, lines: Iterable<FileLine>): Iterable<FileLine> {
  try {
    yield* lines;
  } catch (cause) {
    if (cause instanceof UserError) throw cause;
    throw new UserError('input_unreadable', `cannot read the trace ${file}: ${errorText(cause)}`, { cause });
  }
}

function broken(file: string, why: string, cause?: unknown): UserError {
  return new UserError('input_invalid', `${file} is no trace to play: ${why}`, { cause });
}
