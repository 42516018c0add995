/** The gateway's own line: where calls wait for room, in the order that the policy gives, within bounds. */

import { Agenda } from '../time/agenda.js';
import type { Entry } from './call.js';
import type { Group, Member } from './fleet.js';
import type { ControlBounds, ControlOptions } from './options.js';
import { type Chosen, type OrderParts, type Ready, readyOf } from './order.js';
import { ReadyByClass } from './precedence.js';
import { Rescue } from './rescue.js';
import { ReadyByShare, type Share } from './shares.js';

/** Entries for the same engines that may start. */
interface Queue {
  readonly group: Group;
  readonly entries: Ready;
}

export interface LineParts extends OrderParts {
  readonly shareOf: (entry: Entry) => Share;
  /** The rank of an entry's class, 0 the highest. */
  readonly rankOf: (entry: Entry) => number;
}

export class Line {
  readonly #shares: ControlOptions['shares'];
  readonly #order: ControlOptions['order'];
  readonly #classes: number;
  readonly #parts: LineParts;
  readonly #bounds: ControlBounds;
  readonly #displaces: boolean;
  /** Entries that may start, by the engines that they may go to, so that those of others do not hold them up. */
  readonly #ready = new Map<string, Queue>();
  /** All of them, and among them those that are held back for a moment. */
  readonly #entries = new Set<Entry>();
  readonly #held = new Set<Entry>();
  /** Entries that nobody listens to, oldest first. */
  readonly #unheard = new Agenda<Entry>();
  #bytes = 0;
  #unheardBytes = 0;

  constructor(options: ControlOptions, parts: LineParts) {
    this.#shares = options.shares;
    this.#order = options.order;
    this.#classes = options.classes.length;
    this.#parts = parts;
    this.#bounds = options.bounds;
    this.#displaces = options.order === 'newest-first';
  }

  get size(): number {
    return this.#entries.size;
  }

  [Symbol.iterator](): Iterator<Entry> {
    return this.#entries[Symbol.iterator]();
  }

  get bytes(): number {
    return this.#bytes;
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
    this.#entries.add(entry);
    this.#bytes += entry.bytes;
    if (entry.notBefore > now) this.#held.add(entry);
    else this.#makeReady(entry);
  }

  /** Lets a held entry start from now on. */
  release(entry: Entry): void {
    if (this.#held.delete(entry)) this.#makeReady(entry);
  }

  /** Whether anybody listens to the entry. */
  heard(entry: Entry, heard: boolean): void {
    this.review(entry);
    if (heard) this.#forgetUnheard(entry);
    else if (!this.#unheard.has(entry)) {
      this.#unheard.set(entry, entry.call.number);
      this.#unheardBytes += entry.bytes;
    }
  }

  /** The entry, which is still in line, starts. */
  served(entry: Entry): void {
    this.#ready.get(entry.group.key)?.entries.served?.(entry);
  }

  remove(entry: Entry): void {
    this.#entries.delete(entry);
    this.#bytes -= entry.bytes;
    this.#held.delete(entry);
    this.#dropReady(entry);
    this.#forgetUnheard(entry);
  }

  #forgetUnheard(entry: Entry): void {
    if (!this.#unheard.has(entry)) return;
    this.#unheard.delete(entry);
    this.#unheardBytes -= entry.bytes;
  }

  /** Something about the entry's call has changed. */
  review(entry: Entry): void {
    if (this.#entries.has(entry) && !this.#held.has(entry)) this.#makeReady(entry);
  }

  /** Whether some entry waits for engines that are `open`. */
  hasReady(open: (group: Group) => boolean): boolean {
    for (const { group } of this.#ready.values()) if (open(group)) return true;
    return false;
  }

  /** The engines that some entry waits for. */
  waitedFor(): ReadonlySet<Member> {
    const engines = new Set<Member>();
    for (const { group } of this.#ready.values()) for (const member of group.members) engines.add(member);
    return engines;
  }

  /** The entry that starts next, of those whose engines are `open`; it stays in line until removed. */
  next(open: (group: Group) => boolean, now: number): Chosen | undefined {
    let first: Chosen | undefined;
    for (const { group, entries } of this.#ready.values()) {
      const chosen = open(group) ? entries.next(now) : undefined;
      if (chosen !== undefined && chosen.rank < (first?.rank ?? Number.POSITIVE_INFINITY)) first = chosen;
    }
    return first;
  }

  #makeReady(entry: Entry): void {
    const { group } = entry;
    const queue = this.#ready.get(group.key) ?? { group, entries: this.#readyFor(group) };
    this.#ready.set(group.key, queue);
    queue.entries.set(entry);
  }

  /** Tenant by weight, then class, then order. */
  #readyFor(group: Group): Ready {
    if (this.#shares === 'off') return this.#ofTenant(group, this.#parts);
    const { shareOf, dues, prospect } = this.#parts;
    const within = (part: () => number): OrderParts['prospect'] => {
      // A tenant is served at its part of the pace, and sees who of its own can be on time at that.
      return (engines) => {
        const { paceMs, ...rest } = prospect(engines);
        return { ...rest, paceMs: paceMs / part() };
      };
    };
    return new ReadyByShare({
      shareOf,
      makeQueue: (part) => this.#ofTenant(group, { dues, prospect: within(part) }),
      mostTenants: this.#bounds.tenants,
    });
  }

  #ofTenant(group: Group, parts: OrderParts): Ready {
    const makeQueue = (): Ready => readyOf(this.#order, group, parts);
    if (this.#classes <= 1) return makeQueue();
    const rescue = {
      make: () => new Rescue<Entry>(),
      dues: parts.dues,
      prospect: () => parts.prospect(group),
    };
    const { rankOf } = this.#parts;
    return new ReadyByClass({
      rankOf,
      makeQueue,
      rescue: this.#order === 'deadline' ? rescue : undefined,
    });
  }

  #dropReady(entry: Entry): void {
    const queue = this.#ready.get(entry.group.key);
    queue?.entries.delete(entry);
    if (queue?.entries.size === 0) this.#ready.delete(entry.group.key);
  }
}
