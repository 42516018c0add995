/**
 * One execution's answer, kept from its first byte so that whoever comes late hears all of it. Each reader has
 * its own place; none can hold up another or the engine. Once sealed, only what a reader still needs is kept.
 */

import { assert } from '../../core/assert.js';

const SMALLEST_PAGE_BYTES = 1024;
const LARGEST_PAGE_BYTES = 64 * 1024;

interface Page {
  readonly bytes: Buffer;
  /** Where in the answer this page begins. */
  readonly start: number;
  used: number;
}

export class Broadcast {
  #pages: Page[] = [];
  #length = 0;

  /** Bytes ever appended. */
  get length(): number {
    return this.#length;
  }

  /** Bytes of memory held. */
  get held(): number {
    return this.#pages.reduce((sum, page) => sum + page.bytes.length, 0);
  }

  append(chunk: Buffer): void {
    let from = 0;
    while (from < chunk.length) {
      const page = this.#openPage(chunk.length - from);
      const taken = chunk.copy(page.bytes, page.used, from);
      page.used += taken;
      from += taken;
      this.#length += taken;
    }
  }

  /** Up to one page of the bytes from `position` on, without copying; empty when there are none yet. */
  from(position: number): Buffer {
    const page = this.#pageAt(position);
    if (page === undefined) {
      assert(position === this.#length, 'a reader stands at bytes that are no longer kept');
      return Buffer.alloc(0);
    }
    return page.bytes.subarray(position - page.start, page.used);
  }

  /** Lets go of whole pages before `position`: no reader will come for them, and none is being written. */
  release(position: number): void {
    const kept = this.#pages.filter((page) => page.start + page.used > position);
    for (const page of this.#pages) if (page.start + page.used <= position) page.bytes.fill(0);
    this.#pages = kept;
  }

  /** Overwrites everything that is kept. No connection may still be writing any of it. */
  wipe(): void {
    for (const page of this.#pages) page.bytes.fill(0);
    this.#pages = [];
  }

  #openPage(wanted: number): Page {
    const last = this.#pages.at(-1);
    if (last !== undefined && last.used < last.bytes.length) return last;
    const size = Math.max(
      Math.min(wanted, LARGEST_PAGE_BYTES),
      (last?.bytes.length ?? 0) * 2,
      SMALLEST_PAGE_BYTES,
    );
    const page = { bytes: Buffer.alloc(Math.min(size, LARGEST_PAGE_BYTES)), start: this.#length, used: 0 };
    this.#pages.push(page);
    return page;
  }

  /** The page that holds the byte at `position`; pages are few, and readers are mostly at the last. */
  #pageAt(position: number): Page | undefined {
    return this.#pages.findLast((page) => page.start <= position && position < page.start + page.used);
  }
}
