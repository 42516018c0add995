/** Where log lines go: a bounded buffer before a sink that may stall or fail, so that nobody waits for a reader of the log. */

import { fstatSync, write, writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';

/** Lines that no reader has taken yet, in bytes; beyond it lines are lost, and counted. */
export const LOG_BUFFER_BYTES = 4 * 1024 * 1024;
/** One write takes no more than this, in bytes: what fails is lost whole. */
const WRITE_BYTES = 64 * 1024;
/** From one write to the next, lines gather so long: a write for every request would wake a thread and the event loop. */
const GATHER_MS = 20;
/** A sink that has failed is tried again after this, milliseconds. */
const AGAIN_MS = 250;
const STDERR = 2;

/** Takes text without waiting for whoever reads it. */
export interface LogSink {
  /** One write at a time; `done` is called once, later, with what went wrong. */
  write(text: string, done: (error?: Error | null) => void): void;
  /** Hands over what it can at once, for a process that ends. */
  flush(text: string): void;
}

export class LogOutput implements DestinationStream {
  readonly #sink: LogSink;
  readonly #mostBytes: number;
  #lines: string[] = [];
  #bytes = 0;
  #writing = false;
  #lost = 0;
  #unsaid = 0;
  /** Until then nothing is written. */
  #pause: NodeJS.Timeout | undefined;

  constructor(sink: LogSink, mostBytes: number = LOG_BUFFER_BYTES) {
    this.#sink = sink;
    this.#mostBytes = mostBytes;
  }

  /** Lines that no reader will ever see. */
  get lost(): number {
    return this.#lost;
  }

  write(line: string): void {
    const bytes = Buffer.byteLength(line);
    if (this.#bytes + bytes > this.#mostBytes) return this.#lose(1);
    this.#lines.push(line);
    this.#bytes += bytes;
    this.#next();
  }

  /** Before the process ends. */
  flush(): void {
    clearTimeout(this.#pause);
    this.#pause = undefined;
    if (this.#lines.length === 0) return;
    const text = this.#lines.join('');
    this.#lines = [];
    this.#bytes = 0;
    try {
      this.#sink.flush(text);
    } catch {
      // Nobody is left to be told.
    }
  }

  #keep(line: string): void {
    this.#lines.push(line);
    this.#bytes += Buffer.byteLength(line);
  }

  #next(): void {
    if (this.#writing || this.#pause !== undefined || this.#lines.length === 0) return;
    const [text, count] = this.#batch();
    this.#writing = true;
    this.#sink.write(text, (error) => {
      this.#writing = false;
      if (error === undefined || error === null) this.#written();
      else this.#failed(count);
    });
  }

  /** Whole lines, at least one. */
  #batch(): readonly [text: string, count: number] {
    let bytes = 0;
    let count = 0;
    for (const line of this.#lines) {
      if (count > 0 && bytes + line.length > WRITE_BYTES) break;
      bytes += line.length;
      count += 1;
    }
    const text = this.#lines.splice(0, count).join('');
    this.#bytes -= Buffer.byteLength(text);
    return [text, count];
  }

  #written(): void {
    if (this.#unsaid > 0) {
      const line = { level: 'warn', time: new Date().toISOString(), count: this.#unsaid };
      this.#unsaid = 0;
      this.#keep(`${JSON.stringify({ ...line, msg: 'log lines were lost: nobody took them in time' })}\n`);
    }
    if (this.#bytes >= WRITE_BYTES) this.#next();
    else this.#nextAfter(GATHER_MS);
  }

  #failed(count: number): void {
    this.#lose(count);
    this.#nextAfter(AGAIN_MS);
  }

  #nextAfter(ms: number): void {
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      this.#next();
    }, ms).unref();
  }

  #lose(count: number): void {
    this.#lost += count;
    this.#unsaid += count;
  }
}

/** stderr, which is a pipe, a file or a terminal; nothing that goes wrong with it ends the process. */
export function standardError(): LogSink {
  return isPipe() ? pipeSink() : fileSink();
}

function isPipe(): boolean {
  try {
    const stat = fstatSync(STDERR);
    return stat.isFIFO() || stat.isSocket();
  } catch {
    return false;
  }
}

/** On POSIX, Node writes what a pipe takes at once and the rest when it takes more. */
function pipeSink(): LogSink {
  // Each write hears of its own failure.
  process.stderr.on('error', () => {});
  return {
    write: (text, done) => void process.stderr.write(text, done),
    flush: (text) => void process.stderr.write(text),
  };
}

/** In the thread pool, at most one at a time: a disk may be slow, a terminal stopped. */
function fileSink(): LogSink {
  return {
    write: (text, done) => {
      const bytes = Buffer.from(text);
      const from = (at: number): void =>
        write(STDERR, bytes, at, (error, written) => {
          if (error === null && at + written < bytes.length) from(at + written);
          else done(error);
        });
      from(0);
    },
    flush: (text) => void writeSync(STDERR, text),
  };
}
