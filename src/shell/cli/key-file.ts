/** The file of allowed keys while the gateway runs: followed, taken over when it fits, left alone when it does not. */

import { type AllowedKeys, readAllowedKeys } from '../gateway/allowed-keys.js';
import { UserError } from '../shared/errors.js';
import { FileWatch } from '../shared/file-watch.js';
import type { Log } from '../shared/log.js';

export interface KeyFileParts {
  readonly log: Log;
  readonly allow: (keys: AllowedKeys | undefined) => void;
}

/** The keys of the file at `path`, where there is one; a {@link UserError} when it does not fit. */
export function keysAt(path: string | undefined): AllowedKeys | undefined {
  return path === undefined ? undefined : readAllowedKeys(path);
}

export class KeyFile {
  readonly #parts: KeyFileParts;
  #path: string | undefined;
  #watch: FileWatch | undefined;

  /** The keys at `path` are in force already. */
  constructor(path: string | undefined, parts: KeyFileParts) {
    this.#parts = parts;
    this.#path = path;
    this.#follow();
  }

  /** The configuration names this file from now on, or none. */
  use(path: string | undefined): void {
    if (path === this.#path) return;
    if (!this.#take(path)) return;
    this.#path = path;
    this.#follow();
  }

  /** Somebody asked for the file to be read again. */
  asked(): void {
    if (this.#path !== undefined) this.#take(this.#path);
  }

  close(): void {
    this.#watch?.close();
  }

  #follow(): void {
    this.#watch?.close();
    const path = this.#path;
    this.#watch =
      path === undefined ? undefined : new FileWatch(path, { changed: () => void this.#take(path) });
  }

  #take(path: string | undefined): boolean {
    const { log, allow } = this.#parts;
    try {
      const keys = keysAt(path);
      allow(keys);
      log.info(keys === undefined ? 'everybody may come in' : 'the allowed keys are in force', {
        count: keys?.size,
      });
      return true;
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      log.error(`the allowed keys were not taken over, those in force stay: ${error.message}`);
      return false;
    }
  }
}
