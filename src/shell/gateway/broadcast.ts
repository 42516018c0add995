/**
 * One execution's answer, kept from its first byte so that whoever comes late hears all of it. Each reader has
 * its own place; none can hold up another or the engine. Once sealed, only what a reader still needs is kept.
 */

import { assert } from '../../core/assert.js';

const SMALLEST_PAGE_BYTES = 1024;
const LARGEST_PAGE_BYTES = 64 * 1024;
/** A chunk from here on that begins a page is kept as it is, unless it would hold on to more than twice its bytes. */
const LEAST_KEPT_BYTES = 512;
const NOTHING: Buffer = Buffer.alloc(0);

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

  /** Takes `chunk` over, which nobody may write to from now on. */
  append(chunk: Buffer): void {
    let from = 0;
    while (from < chunk.length) {
      let page = this.#pages.at(-1);
      if (page === undefined || page.used === page.bytes.length) {
        if (from === 0 && isWorthKeeping(chunk)) return this.#keep(chunk);
        page = this.#openPage(chunk.length - from, page);
      }
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
      return NOTHING;
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

  #keep(chunk: Buffer): void {
    this.#pages.push({ bytes: chunk, start: this.#length, used: chunk.length });
    this.#length += chunk.length;
  }

  #openPage(wanted: number, last: Page | undefined): Page {
    const size = Math.max(
      Math.min(wanted, LARGEST_PAGE_BYTES),
      (last?.bytes.length ?? 0) * 2,
      SMALLEST_PAGE_BYTES,
    );
    const bytes = Buffer.allocUnsafeSlow(Math.min(size, LARGEST_PAGE_BYTES));
    const page = { bytes, start: this.#length, used: 0 };
    this.#pages.push(page);
    return page;
  }

  /** The page that holds the byte at `position`; pages are few, and readers are mostly at the last. */
  #pageAt(position: number): Page | undefined {
    return this.#pages.findLast((page) => page.start <= position && position < page.start + page.used);
  }
}

function isWorthKeeping(chunk: Buffer): boolean {
  return chunk.length >= LEAST_KEPT_BYTES && chunk.length * 2 >= chunk.buffer.byteLength;
}
