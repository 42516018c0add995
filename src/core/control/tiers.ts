/** The order `deadline`: whoever can still be on time first, the late when they have to be, the hopeless last. */

import { Agenda } from '../time/agenda.js';
import { DueOrder } from './due-order.js';
import { isSamePace, reserveMs } from './reserve.js';

/** Where something stands. `pressing`: late, and some late one would be lost if on-time ones went first. */
export type Tier = 'pressing' | 'on_time' | 'late' | 'hopeless';

/** What the order goes by, of one call in line; moments in milliseconds on the control's clock. */
export interface Dues {
  /** When its first attempt ends. */
  readonly deadlineAt: number;
  /** When its last attempt ends. */
  readonly giveUpAt: number;
  /** Its first attempt has ended: it cannot be on time any more. */
  readonly late: boolean;
  readonly tenant: string;
  /** The tenant's share relative to others', > 0. */
  readonly weight: number;
}

/** How fast what is in line will be served; milliseconds. */
export interface Prospect {
  /** Between two starts while the engines have all they may hold; 0 while unknown. */
  readonly paceMs: number;
  /** From start to answer, as most executions take. */
  readonly serviceMs: number;
  /** … as hardly any takes longer. */
  readonly longestMs: number;
  /** ≥ 1: how many times the time of an execution that hardly any exceeds is kept free for the late. */
  readonly margin: number;
}

interface Share<T> {
  weight: number;
  /** Its items that are taken to be on time, and of those the ones that would come again, by deadline. */
  readonly onTime: DueOrder<T>;
  readonly patient: DueOrder<T>;
}

/**
 * Items in three tiers. While all that are taken to be on time can be, they are served nearest deadline first. When they
 * cannot, the fewest that are too many are let go at once, those nearest their deadline, so that the others have time in
 * hand: first of the tenant that has the most on time for its weight. Late ones are served by give-up time, and go first
 * when they would not all make it otherwise; those that cannot make it even so are hopeless and wait for an idle moment.
 */
export class Tiers<T> {
  readonly #dues = new Map<T, Dues>();
  readonly #shares = new Map<string, Share<T>>();
  readonly #onTime = new DueOrder<T>();
  readonly #late = new DueOrder<T>();
  /** Of the late ones those that were let go before their deadline, by that. */
  readonly #early = new DueOrder<T>();
  /** By give-up time. */
  readonly #hopeless = new Agenda<T>();

  get size(): number {
    return this.#dues.size;
  }

  has(item: T): boolean {
    return this.#dues.has(item);
  }

  tierOf(item: T, now: number, prospect: Prospect): Tier | undefined {
    if (this.#onTime.has(item)) return 'on_time';
    if (this.#late.has(item)) return this.#presses(now, prospect) ? 'pressing' : 'late';
    return this.#hopeless.has(item) ? 'hopeless' : undefined;
  }

  /** Puts it in line, or anew when something about it has changed. */
  set(item: T, dues: Dues): void {
    const known = this.#dues.get(item);
    const postponed = known !== undefined && !this.#onTime.has(item);
    if (known !== undefined && known.tenant !== dues.tenant) this.delete(item);
    this.#dues.set(item, dues);
    if (dues.late) {
      this.#forget(item, dues);
      this.#late.set(item, dues.giveUpAt);
    } else if (!postponed) this.#count(item, dues);
    else {
      this.#hopeless.delete(item);
      this.#late.set(item, dues.giveUpAt);
      this.#early.set(item, dues.deadlineAt);
    }
  }

  delete(item: T): void {
    const dues = this.#dues.get(item);
    if (dues === undefined) return;
    this.#forget(item, dues);
    this.#dues.delete(item);
  }

  /** Who is next, after everybody has been put where they belong at `now`. */
  next(now: number, prospect: Prospect): T | undefined {
    this.#sort(now, prospect);
    if (this.#presses(now, prospect)) return this.#late.first();
    return this.#onTime.first() ?? this.#late.first() ?? this.#hopeless.peek();
  }

  /** Whether the late, served one after another from `now` on, would only just all make it. */
  #presses(now: number, prospect: Prospect): boolean {
    const workMs = this.#late.paceMs * this.#late.work;
    return this.#late.size > 0 && this.#late.latestBeginning - reserveMs(workMs, prospect) <= now;
  }

  #sort(now: number, { serviceMs, paceMs: seenMs }: Prospect): void {
    const paceMs = this.#takeUp(seenMs);
    // Whoever is next starts now: the pace is the time until the one after it.
    const beginning = now + serviceMs - paceMs;
    for (let miss = this.#onTime.firstMissing(beginning); miss !== undefined; ) {
      this.#letGo(this.#surplus(miss));
      miss = this.#onTime.firstMissing(beginning);
    }
    this.#takeBack(beginning);
    while (this.#late.latestBeginning < beginning) {
      const first = this.#late.first();
      if (first === undefined) return;
      this.#late.delete(first);
      this.#early.delete(first);
      this.#hopeless.set(first, this.#dues.get(first)?.giveUpAt ?? 0);
    }
  }

  /** The pace to go by. */
  #takeUp(seenMs: number): number {
    const { paceMs } = this.#onTime;
    if (isSamePace(seenMs, paceMs)) return paceMs;
    this.#onTime.paceMs = seenMs;
    this.#late.paceMs = seenMs;
    if (seenMs < paceMs) this.#hopeAgain();
    return seenMs;
  }

  /** At a faster pace some that could not make it may: counts them as late until that is known. */
  #hopeAgain(): void {
    const single: T[] = [];
    for (let item = this.#hopeless.peek(); item !== undefined; item = this.#hopeless.peek()) {
      const { giveUpAt = 0, deadlineAt = 0 } = this.#dues.get(item) ?? {};
      this.#hopeless.delete(item);
      if (giveUpAt > deadlineAt) this.#late.set(item, giveUpAt);
      else single.push(item);
    }
    for (const item of single) this.#hopeless.set(item, this.#dues.get(item)?.giveUpAt ?? 0);
  }

  /**
   * Whose going helps the one that misses its deadline most: somebody's of those before it, of the tenant that has the
   * most on time for its weight; the one nearest its deadline, and rather one that would come again.
   */
  #surplus(miss: T): T {
    const until = this.#onTime.dueOf(miss) ?? 0;
    let largest: Share<T> | undefined;
    for (const share of this.#shares.values()) {
      if (share.onTime.firstDue > until) continue;
      if (largest === undefined || share.onTime.size / share.weight > largest.onTime.size / largest.weight) {
        largest = share;
      }
    }
    const patient = (largest?.patient.firstDue ?? Number.POSITIVE_INFINITY) <= until;
    return (patient ? largest?.patient : largest?.onTime)?.first() ?? miss;
  }

  #letGo(item: T): void {
    const dues = this.#dues.get(item);
    if (dues === undefined) return;
    this.#forget(item, dues);
    if (dues.giveUpAt > dues.deadlineAt) this.#late.set(item, dues.giveUpAt);
    else this.#hopeless.set(item, dues.giveUpAt);
    this.#early.set(item, dues.deadlineAt);
  }

  /** Counts one that was let go early as on time again if all can be; the one with the most time left. */
  #takeBack(beginning: number): void {
    while (this.#early.firstDue < beginning) this.#early.delete(this.#early.first() as T);
    const last = this.#early.last();
    const dues = last === undefined ? undefined : this.#dues.get(last);
    if (last === undefined || dues === undefined) return;
    this.#onTime.set(last, dues.deadlineAt);
    const fits = this.#onTime.latestBeginning >= beginning + this.#onTime.paceMs;
    this.#onTime.delete(last);
    if (!fits) return;
    this.#forget(last, dues);
    this.#count(last, dues);
  }

  #count(item: T, { tenant, weight, deadlineAt, giveUpAt }: Dues): void {
    const share = this.#shares.get(tenant) ?? {
      weight,
      onTime: new DueOrder<T>(),
      patient: new DueOrder<T>(),
    };
    this.#shares.set(tenant, share);
    share.weight = weight;
    share.onTime.set(item, deadlineAt);
    if (giveUpAt > deadlineAt) share.patient.set(item, deadlineAt);
    else share.patient.delete(item);
    this.#onTime.set(item, deadlineAt);
  }

  #forget(item: T, { tenant }: Dues): void {
    const share = this.#shares.get(tenant);
    if (share?.onTime.delete(item) === true) {
      share.patient.delete(item);
      if (share.onTime.size === 0) this.#shares.delete(tenant);
    }
    this.#onTime.delete(item);
    this.#late.delete(item);
    this.#early.delete(item);
    this.#hopeless.delete(item);
  }
}
