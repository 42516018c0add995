/** Who has to start now, whatever goes before it otherwise, because somebody would not be answered in the end. */

import { Agenda } from '../time/agenda.js';
import { DueOrder } from './due-order.js';
import { carefulPaceMs, isSamePace, lastChanceMs, reserveMs } from './reserve.js';
import type { Dues, Prospect } from './tiers.js';

/** What is known of an item; the rank of its class, 0 the highest. */
type Held = Pick<Dues, 'deadlineAt' | 'giveUpAt' | 'late'> & { readonly rank: number };

/**
 * Items of several ranks by the end of their last attempt. As long as all of them can be answered before that, nobody is
 * to be lost by going after others: when they would only just all make it, they go by that end. When not all can be, the
 * fewest that are too many are given up here, of the lowest rank first, and have to take their turn.
 */
export class Rescue<T> {
  readonly #held = new Map<T, Held>();
  readonly #savable = new DueOrder<T>();
  /** Those of them that have been put off, or may be: more time is kept free for each, by what has to go before it. */
  readonly #careful = new DueOrder<T>();
  /** Those by rank, and by the end of their last attempt. */
  readonly #byRank = new Map<number, Agenda<T>>();
  /** Those given up, the one with the most time left first. */
  readonly #givenUp = new Agenda<T>();

  get size(): number {
    return this.#held.size;
  }

  set(item: T, held: Held): void {
    this.delete(item);
    this.#held.set(item, held);
    this.#count(item, held);
  }

  delete(item: T): void {
    const known = this.#held.get(item);
    if (known === undefined) return;
    this.#held.delete(item);
    this.#givenUp.delete(item);
    this.#uncount(item, known.rank);
  }

  /** Who has to start at `now`; undefined while nobody has to. */
  next(now: number, prospect: Prospect): T | undefined {
    const { serviceMs, paceMs: seenMs } = prospect;
    if (!isSamePace(seenMs, this.#savable.paceMs)) this.#savable.paceMs = seenMs;
    const { paceMs } = this.#savable;
    this.#careful.paceMs = carefulPaceMs(paceMs, prospect);
    // Whoever is next starts now: the pace is the time until the one after it.
    const beginning = now + serviceMs - paceMs;
    for (let miss = this.#savable.firstMissing(beginning); miss !== undefined; ) {
      this.#giveUp(this.#lowestUntil(this.#savable.dueOf(miss) ?? 0) ?? miss);
      miss = this.#savable.firstMissing(beginning);
    }
    this.#takeBack(beginning);
    // If somebody else went, they would begin a pace later.
    if (this.#savable.latestBeginning - lastChanceMs(prospect) < beginning + paceMs)
      return this.#savable.first();
    const careful = this.#careful.latestBeginning - reserveMs(0, prospect) < now + paceMs;
    return careful ? this.#careful.first() : undefined;
  }

  /** Of those whose last attempt ends by `until`, one of the lowest rank, and of that rank the one nearest its end. */
  #lowestUntil(until: number): T | undefined {
    let lowest = -1;
    for (const [rank, items] of this.#byRank) if (items.nextAt() <= until && rank > lowest) lowest = rank;
    return this.#byRank.get(lowest)?.peek();
  }

  #giveUp(item: T): void {
    const { giveUpAt, rank } = this.#held.get(item) as Held;
    this.#uncount(item, rank);
    this.#givenUp.set(item, -giveUpAt);
  }

  /** The one with the most time left, if there is time for it after all. */
  #takeBack(beginning: number): void {
    const item = this.#givenUp.peek();
    const known = item === undefined ? undefined : this.#held.get(item);
    if (item === undefined || known === undefined) return;
    this.#savable.set(item, known.giveUpAt);
    const fits = this.#savable.latestBeginning >= beginning + this.#savable.paceMs;
    this.#savable.delete(item);
    if (!fits) return;
    this.#givenUp.delete(item);
    this.#count(item, known);
  }

  #count(item: T, { deadlineAt, giveUpAt, late, rank }: Held): void {
    const its = this.#byRank.get(rank) ?? new Agenda<T>();
    this.#byRank.set(rank, its);
    its.set(item, giveUpAt);
    this.#savable.set(item, giveUpAt);
    // With that much kept free, whoever has one attempt alone would always have to go.
    if (late || giveUpAt > deadlineAt) this.#careful.set(item, giveUpAt);
  }

  #uncount(item: T, rank: number): void {
    this.#byRank.get(rank)?.delete(item);
    this.#savable.delete(item);
    this.#careful.delete(item);
  }
}
