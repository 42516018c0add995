/** The gateway's own line: where calls wait for room, in the order that the policy gives, within bounds. */

import { Agenda } from '../time/agenda.js';
import type { Entry } from './call.js';
import type { ControlBounds, ControlOptions } from './options.js';
import { type Order, orderOf } from './order.js';

export class Line {
  readonly #order: Order;
  readonly #bounds: ControlBounds;
  readonly #displaces: boolean;
  /** Entries that may start, by the order's rank. */
  readonly #ready = new Agenda<Entry>();
  /** Entries held back for a moment. */
  readonly #held = new Set<Entry>();
  /** Entries that nobody listens to, oldest first. */
  readonly #unheard = new Agenda<Entry>();
  #bytes = 0;
  #unheardBytes = 0;

  constructor(options: ControlOptions) {
    this.#order = orderOf(options.order);
    this.#bounds = options.bounds;
    this.#displaces = options.order === 'newest-first';
  }

  get size(): number {
    return this.#ready.size + this.#held.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether some entry could start now. */
  get hasReady(): boolean {
    return this.#ready.size > 0;
  }

  /** What stands in the way of one more entry with a body of `bytes`, if anything. */
  obstacle(bytes: number): 'refused_line_full' | 'refused_line_bytes' | undefined {
    if (this.size >= this.#bounds.lineEntries) return 'refused_line_full';
    if (this.#bytes + bytes > this.#bounds.lineBytes) return 'refused_line_bytes';
    return undefined;
  }

  /** The entry that has to go for a newcomer with a body of `bytes`, when the order lets one go and it helps. */
  displaceable(bytes: number): Entry | undefined {
    const left = this.size - this.#unheard.size;
    const helps =
      left < this.#bounds.lineEntries && this.#bytes - this.#unheardBytes + bytes <= this.#bounds.lineBytes;
    return this.#displaces && helps ? this.#unheard.peek() : undefined;
  }

  add(entry: Entry, now: number): void {
    this.#bytes += entry.bytes;
    if (entry.notBefore > now) this.#held.add(entry);
    else this.#ready.set(entry, this.#order(entry));
  }

  /** Lets a held entry start from now on. */
  release(entry: Entry): void {
    if (this.#held.delete(entry)) this.#ready.set(entry, this.#order(entry));
  }

  /** Whether anybody listens to the entry. */
  heard(entry: Entry, heard: boolean): void {
    if (heard) this.#forgetUnheard(entry);
    else if (!this.#unheard.has(entry)) {
      this.#unheard.set(entry, entry.call.number);
      this.#unheardBytes += entry.bytes;
    }
  }

  remove(entry: Entry): void {
    this.#bytes -= entry.bytes;
    this.#held.delete(entry);
    this.#ready.delete(entry);
    this.#forgetUnheard(entry);
  }

  #forgetUnheard(entry: Entry): void {
    if (!this.#unheard.has(entry)) return;
    this.#unheard.delete(entry);
    this.#unheardBytes -= entry.bytes;
  }

  /** The entry that starts next; it stays in line until removed. */
  next(): Entry | undefined {
    return this.#ready.peek();
  }
}
