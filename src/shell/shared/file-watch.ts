/**
 * Tells when a file has changed, however it was changed: written in place, replaced by a rename as editors do,
 * swapped behind a symbolic link as Kubernetes does with a ConfigMap, or on a file system that tells nothing.
 */

import { type FSWatcher, watch } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** A file is looked at when its folder has been quiet for so long, so that no half of it is read. */
const QUIET_MS = 200;
/** A folder that is never quiet must not hide a change. */
const LONGEST_WAIT_MS = 2_000;
/** Looked at in any case, since not every file system tells of changes. */
const POLL_MS = 5_000;

export interface FileWatchParts {
  /** Also called once when the watch has begun, for what changed since the file was read. */
  readonly changed: () => void;
  /** Called once when the folder cannot be watched; the file is still looked at now and then. */
  readonly unwatchable?: (error: unknown) => void;
  /** As Node's own; tests hand in one that fails. */
  readonly watch?: typeof watch;
  readonly pollMs?: number;
}

export class FileWatch {
  readonly #path: string;
  readonly #parts: FileWatchParts;
  readonly #poll: NodeJS.Timeout;
  #watchers: FSWatcher[] = [];
  #folders = '';
  #quiet: NodeJS.Timeout | undefined;
  #hintedAt: number | undefined;
  #seen: string | undefined;
  #complained = false;
  #closed = false;
  /** One look at a time, in order. */
  #looking: Promise<void> = Promise.resolve();

  /** `close` ends it. Holds no process up. */
  constructor(path: string, parts: FileWatchParts) {
    this.#path = path;
    this.#parts = parts;
    this.#look(false);
    this.#poll = setInterval(() => this.#look(true), parts.pollMs ?? POLL_MS).unref();
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#poll);
    clearTimeout(this.#quiet);
    this.#unwatch();
  }

  /** Something has happened in a folder of the file. */
  #hint(): void {
    if (this.#closed) return;
    const now = performance.now();
    this.#hintedAt ??= now;
    if (now - this.#hintedAt > LONGEST_WAIT_MS) return;
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => {
      this.#hintedAt = undefined;
      this.#look(false);
    }, QUIET_MS).unref();
  }

  #look(patient: boolean): void {
    this.#looking = this.#looking.then(() => this.#lookNow(patient));
  }

  /** `patient`: a change that nobody told of may still be under way, so it waits for quiet first. */
  async #lookNow(patient: boolean): Promise<void> {
    const [signature, folders] = await Promise.all([signatureOf(this.#path), foldersOf(this.#path)]);
    if (this.#closed) return;
    this.#watchFolders(folders);
    if (signature === this.#seen) return;
    if (patient) this.#hint();
    else {
      this.#seen = signature;
      this.#parts.changed();
    }
  }

  #watchFolders(folders: readonly string[]): void {
    const names = folders.join('\n');
    if (names === this.#folders) return;
    this.#unwatch();
    this.#folders = names;
    try {
      for (const folder of folders) {
        const watcher = (this.#parts.watch ?? watch)(folder, { persistent: false }, () => this.#hint());
        watcher.on('error', (error) => this.#failed(error));
        this.#watchers.push(watcher);
      }
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error: unknown): void {
    if (!this.#complained) this.#parts.unwatchable?.(error);
    this.#complained = true;
    this.#unwatch();
  }

  #unwatch(): void {
    for (const watcher of this.#watchers) watcher.close();
    this.#watchers = [];
    this.#folders = '';
  }
}

/** What changes whenever the file does. */
async function signatureOf(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeMs } = await stat(path);
    return [dev, ino, size, mtimeMs].join(' ');
  } catch {
    return 'missing';
  }
}

/** Where the file is named, and where it is. */
async function foldersOf(path: string): Promise<readonly string[]> {
  const named = dirname(path);
  try {
    return [...new Set([named, dirname(await realpath(path))])];
  } catch {
    return [named];
  }
}
