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
  #format: TraceFormat | undefined;
  #read: LineReader | undefined;
  #latestMs = Number.NEGATIVE_INFINITY;
  /** The limit is reached; only lines that come before this moment may still belong to it. */
  #untilMs: number | undefined;
  readonly #leftOut = { failed: 0, retries: 0, tooLong: 0 };

  constructor(source: TraceSource) {
    this.#source = source;
    this.#limit = Math.min(source.limit ?? MOST_CALLS, MOST_CALLS);
  }

  /** Whether more lines may matter. */
  take({ number, text }: FileLine): boolean {
    try {
      if (this.#read === undefined) {
        this.#begin(text);
        if (this.#format !== 'mooncake') return true;
      }
      return this.#keep(this.#read?.(text));
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
    return { source: file, calls, leftOut: this.#leftOut };
  }

  #begin(text: string): void {
    this.#format = this.#source.format ?? formatOf(text);
    if (this.#format === undefined) {
      throw new Error(`is the beginning of no trace; known are ${listed(TRACE_FORMATS)}`);
    }
    this.#read = lineReader(this.#format, text);
  }

  #keep(line: TracedLine | undefined): boolean {
    if (line === undefined) {
      this.#leftOut.retries += 1;
      return true;
    }
    if (line.timeMs < this.#latestMs - SORTED_WITHIN_MS) {
      throw new Error(
        `goes back by ${Math.round((this.#latestMs - line.timeMs) / 1_000)} s; lines may be out of order by ${SORTED_WITHIN_MS / 1_000} s`,
      );
    }
    this.#latestMs = Math.max(this.#latestMs, line.timeMs);
    if (this.#untilMs !== undefined && line.timeMs > this.#untilMs) return false;
    if (line.promptTokens === 0 || line.responseTokens === 0) this.#leftOut.failed += 1;
    else if (
      line.promptTokens + line.responseTokens >
      (this.#source.mostTokens ?? Number.POSITIVE_INFINITY)
    ) {
      this.#leftOut.tooLong += 1;
    } else this.#taken.push(line);
    if (this.#taken.length > MOST_CALLS) return false;
    if (this.#taken.length === this.#limit) this.#untilMs ??= this.#latestMs + SORTED_WITHIN_MS;
    return true;
  }
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
