/** In which order entries start: those that may, and which of them is next. */

import { unreachable } from '../assert.js';
import { Agenda } from '../time/agenda.js';
import type { Entry } from './call.js';
import type { Group } from './fleet.js';
import type { ControlOptions } from './options.js';
import { type Dues, type Prospect, type Tier, Tiers } from './tiers.js';

/** Where an entry stood when it was chosen; the orders by age have no tiers. */
export interface Chosen {
  readonly entry: Entry;
  readonly tier: Tier | undefined;
  /** The rank of its class, 0 the highest; absent where there are no classes. */
  readonly class?: number;
  /** Between two queues the lower one goes first. */
  readonly rank: number;
}

/** Entries that may start. */
export interface Ready {
  readonly size: number;
  /** Puts an entry in, or anew when something about its call has changed. */
  set(entry: Entry): void;
  delete(entry: Entry): void;
  /** The entry, which is still in, starts: told where it matters who had how much. */
  served?(entry: Entry): void;
  /** Who starts next; it stays until deleted. */
  next(now: number): Chosen | undefined;
}

/** What the order `deadline` goes by. */
export interface OrderParts {
  readonly dues: (entry: Entry) => Dues;
  readonly prospect: (group: Group) => Prospect;
}

/** The entries for one group of engines, in the order of the option; with `deadline` as in `Tiers`. */
export function readyOf(order: ControlOptions['order'], group: Group, parts: OrderParts): Ready {
  switch (order) {
    case 'deadline':
      return new ReadyByDeadline(group, parts);
    case 'oldest-first':
      return new ReadyByRank(({ call }) => call.number);
    case 'newest-first':
      return new ReadyByRank(({ call }) => -call.number);
    default:
      return unreachable(order);
  }
}

/** A rank that is fixed while the entry waits; a call keeps the seniority of its first attempt. */
class ReadyByRank implements Ready {
  readonly #entries = new Agenda<Entry>();
  readonly #rank: (entry: Entry) => number;

  constructor(rank: (entry: Entry) => number) {
    this.#rank = rank;
  }

  get size(): number {
    return this.#entries.size;
  }

  set(entry: Entry): void {
    this.#entries.set(entry, this.#rank(entry));
  }

  delete(entry: Entry): void {
    this.#entries.delete(entry);
  }

  next(): Chosen | undefined {
    const entry = this.#entries.peek();
    return entry === undefined ? undefined : { entry, tier: undefined, rank: this.#entries.nextAt() };
  }
}

const TIER_RANKS: Readonly<Record<Tier, number>> = { pressing: 0, on_time: 1, late: 2, hopeless: 3 };
/** Above every number of a call. */
export const TIER_STEP = 2 ** 48;

class ReadyByDeadline implements Ready {
  readonly #tiers = new Tiers<Entry>();
  readonly #group: Group;
  readonly #parts: OrderParts;

  constructor(group: Group, parts: OrderParts) {
    this.#group = group;
    this.#parts = parts;
  }

  get size(): number {
    return this.#tiers.size;
  }

  set(entry: Entry): void {
    this.#tiers.set(entry, this.#parts.dues(entry));
  }

  delete(entry: Entry): void {
    this.#tiers.delete(entry);
  }

  next(now: number): Chosen | undefined {
    const prospect = this.#parts.prospect(this.#group);
    const entry = this.#tiers.next(now, prospect);
    const tier = entry === undefined ? undefined : this.#tiers.tierOf(entry, now, prospect);
    if (entry === undefined || tier === undefined) return undefined;
    return { entry, tier, rank: TIER_RANKS[tier] * TIER_STEP + entry.call.number };
  }
}
