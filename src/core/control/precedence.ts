/** The line's service by class: the higher first, a least part for each other; inside a class its own order decides. */

import type { Entry } from './call.js';
import { type Chosen, type Ready, TIER_STEP } from './order.js';
import type { Rescue } from './rescue.js';
import type { Dues, Prospect } from './tiers.js';

/** A class that waits has at least one start in so many, whoever else waits. */
export const LEAST_ONE_IN = 20;

export interface PrecedenceParts {
  /** The rank of an entry's class, 0 the highest. */
  readonly rankOf: (entry: Entry) => number;
  /** The queue of one class. */
  readonly makeQueue: () => Ready;
  /** Keeps whoever waits from being lost to a higher class; absent where the order knows no ends of attempts. */
  readonly rescue?: RescueParts | undefined;
}

export interface RescueParts {
  readonly make: () => Rescue<Entry>;
  readonly dues: (entry: Entry) => Dues;
  readonly prospect: () => Prospect;
}

interface Queue {
  readonly rank: number;
  readonly entries: Ready;
  /** Starts while it waited, less what its own of them made up for. */
  owed: number;
}

/**
 * One queue a class. A class that was passed over in nineteen starts has the twentieth; then goes whoever would be lost
 * otherwise; then the highest class. Calls that nothing is lost by postponing wait for all classes.
 */
export class ReadyByClass implements Ready {
  readonly #parts: PrecedenceParts;
  /** Those that somebody is in, the highest class first. */
  readonly #queues: Queue[] = [];
  readonly #queueOf = new Map<Entry, Queue>();
  /** From when two classes wait until nobody does: with one class alone nobody is passed over. */
  #rescue: Rescue<Entry> | undefined;

  constructor(parts: PrecedenceParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#queueOf.size;
  }

  set(entry: Entry): void {
    const rank = this.#parts.rankOf(entry);
    const before = this.#queueOf.get(entry);
    if (before !== undefined && before.rank !== rank) this.delete(entry);
    const queue = this.#queues.find((one) => one.rank === rank) ?? this.#open(rank);
    this.#queueOf.set(entry, queue);
    queue.entries.set(entry);
    if (this.#rescue !== undefined) this.#watch(this.#rescue, entry, rank);
    else if (this.#queues.length > 1) this.#watchAll();
  }

  delete(entry: Entry): void {
    const queue = this.#queueOf.get(entry);
    if (queue === undefined) return;
    this.#queueOf.delete(entry);
    queue.entries.delete(entry);
    this.#rescue?.delete(entry);
    if (queue.entries.size === 0) this.#queues.splice(this.#queues.indexOf(queue), 1);
    if (this.size === 0) this.#rescue = undefined;
  }

  served(entry: Entry): void {
    const queue = this.#queueOf.get(entry);
    if (queue === undefined) return;
    queue.entries.served?.(entry);
    for (const each of this.#queues) each.owed += 1;
    queue.owed = Math.max(0, queue.owed - LEAST_ONE_IN);
  }

  next(now: number): Chosen | undefined {
    const [highest, ...others] = this.#queues;
    if (highest === undefined) return undefined;
    if (others.length === 0) return placed(highest.entries.next(now), highest.rank);
    return this.#owed(now) ?? this.#rescued(now) ?? this.#byRank(now);
  }

  /** Of the classes that have waited long enough the one that is owed the most. */
  #owed(now: number): Chosen | undefined {
    const owed = this.#queues.filter((queue) => queue.owed >= LEAST_ONE_IN - 1);
    for (const { entries, rank } of owed.toSorted((a, b) => b.owed - a.owed)) {
      const chosen = entries.next(now);
      // Where calls for other engines ask for the same room, its turn is now as well.
      if (chosen !== undefined && chosen.tier !== 'hopeless')
        return { ...chosen, class: rank, rank: chosen.rank % TIER_STEP };
    }
    return undefined;
  }

  #rescued(now: number): Chosen | undefined {
    const { rescue } = this.#parts;
    const entry = rescue === undefined ? undefined : this.#rescue?.next(now, rescue.prospect());
    const queue = entry === undefined ? undefined : this.#queueOf.get(entry);
    if (entry === undefined || queue === undefined) return undefined;
    return { entry, tier: 'pressing', class: queue.rank, rank: entry.call.number };
  }

  #byRank(now: number): Chosen | undefined {
    let hopeless: Chosen | undefined;
    for (const { entries, rank } of this.#queues) {
      const chosen = placed(entries.next(now), rank);
      if (chosen !== undefined && chosen.tier !== 'hopeless') return chosen;
      hopeless ??= chosen;
    }
    return hopeless;
  }

  #open(rank: number): Queue {
    const queue: Queue = { rank, entries: this.#parts.makeQueue(), owed: 0 };
    const at = this.#queues.findIndex((other) => other.rank > rank);
    this.#queues.splice(at < 0 ? this.#queues.length : at, 0, queue);
    return queue;
  }

  #watchAll(): void {
    const rescue = this.#parts.rescue?.make();
    if (rescue === undefined) return;
    this.#rescue = rescue;
    for (const [entry, { rank }] of this.#queueOf) this.#watch(rescue, entry, rank);
  }

  #watch(rescue: Rescue<Entry>, entry: Entry, rank: number): void {
    const dues = this.#parts.rescue?.dues(entry);
    if (dues !== undefined) rescue.set(entry, { ...dues, rank });
  }
}

/** Tiers between the pressing and the hopeless, which are those of all classes. */
const TIERS_OF_A_CLASS = 2;
/** More classes than there can be. */
const BEHIND_ALL_CLASSES = 8;

/** The same with its class, and its rank among calls of all classes. */
function placed(chosen: Chosen | undefined, rank: number): Chosen | undefined {
  if (chosen === undefined) return undefined;
  const classes = { pressing: 0, on_time: rank, late: rank, hopeless: BEHIND_ALL_CLASSES }[
    chosen.tier ?? 'on_time'
  ];
  return { ...chosen, class: rank, rank: chosen.rank + classes * TIERS_OF_A_CLASS * TIER_STEP };
}
