/** Writes the scheduler's trace to a file: little is held, nothing reordered, and a full disk ends the trace alone. */

import { closeSync, openSync, writeSync } from 'node:fs';
import { type TraceEvent, traceLine } from '../../core/engine/trace.js';
import { UserError } from '../shared/errors.js';
import { errorText } from '../shared/log.js';

/** What may be lost when the process is killed, in characters. */
const HELD_CHARACTERS = 64 * 1024;
/** Real time after which even a little is written, for those who follow the file. */
const FLUSH_MS = 1_000;

export class TraceFile {
  readonly #path: string;
  readonly #warn: (message: string) => void;
  readonly #timer: NodeJS.Timeout;
  #file: number | undefined;
  #held = '';

  /** Empties or makes the file; `warn` hears once why no more is written. */
  constructor(path: string, warn: (message: string) => void) {
    this.#path = path;
    this.#warn = warn;
    try {
      this.#file = openSync(path, 'w');
    } catch (cause) {
      throw new UserError('output_unwritable', `cannot write the trace: ${errorText(cause)}`, { cause });
    }
    this.#timer = setInterval(() => this.flush(), FLUSH_MS).unref();
  }

  readonly sink = (event: TraceEvent): void => {
    if (this.#file === undefined) return;
    this.#held += `${traceLine(event)}\n`;
    if (this.#held.length >= HELD_CHARACTERS) this.flush();
  };

  /** Writes what is held before it returns. */
  flush(): void {
    if (this.#file === undefined || this.#held === '') return;
    const bytes = Buffer.from(this.#held, 'utf8');
    this.#held = '';
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at);
    } catch (error) {
      this.#warn(
        `the trace ends here, the twin goes on: ${this.#path} cannot be written: ${errorText(error)}`,
      );
      this.#let();
    }
  }

  close(): void {
    clearInterval(this.#timer);
    this.flush();
    this.#let();
  }

  #let(): void {
    const file = this.#file;
    this.#file = undefined;
    this.#held = '';
    if (file === undefined) return;
    try {
      closeSync(file);
    } catch (error) {
      // Some file systems say only now that the disk is full.
      this.#warn(`the end of the trace may be missing: ${this.#path}: ${errorText(error)}`);
    }
  }
}
