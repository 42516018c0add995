/** The line's service shared among the tenants that wait, by weight; inside a tenant its own order decides. */

import { Agenda } from '../time/agenda.js';
import type { Entry } from './call.js';
import type { Chosen, Ready } from './order.js';
import { RecentMap } from './recent.js';

/** Whose an entry is, and its share relative to others', > 0. */
export interface Share {
  readonly tenant: string;
  readonly weight: number;
}

export interface ShareParts {
  readonly shareOf: (entry: Entry) => Share;
  /** The queue of one tenant; `part`: the part of the service that it has at the moment, (0, 1]. */
  readonly makeQueue: (part: () => number) => Ready;
  /** Tenants whose turn is remembered while none of theirs waits. */
  readonly mostTenants: number;
}

interface Queue {
  readonly entries: Ready;
  weight: number;
  /** On the virtual clock. */
  turn: number;
}

/**
 * Fair queueing by start times (Goyal, Vin and Cheng, 1996): a clock of served work that each tenant is at, one call
 * moving its tenant by 1 ÷ weight, and whoever is furthest behind is next. A tenant that comes back begins where the
 * others are, or where it was when that is later. A call that nothing is lost by postponing waits for all tenants.
 */
export class ReadyByShare implements Ready {
  readonly #parts: ShareParts;
  readonly #queues = new Map<string, Queue>();
  readonly #turns = new Agenda<Queue>();
  readonly #tenantOf = new Map<Entry, string>();
  /** Where each tenant's turn was when it was last served. */
  readonly #lastTurns: RecentMap<string, number>;
  #clock = 0;
  /** Of the tenants that wait. */
  #weights = 0;

  constructor(parts: ShareParts) {
    this.#parts = parts;
    this.#lastTurns = new RecentMap(parts.mostTenants);
  }

  get size(): number {
    return this.#tenantOf.size;
  }

  set(entry: Entry): void {
    const { tenant, weight } = this.#parts.shareOf(entry);
    const before = this.#tenantOf.get(entry);
    if (before !== undefined && before !== tenant) this.delete(entry);
    const queue = this.#queues.get(tenant) ?? this.#open(tenant);
    this.#weights += weight - queue.weight;
    queue.weight = weight;
    this.#tenantOf.set(entry, tenant);
    queue.entries.set(entry);
  }

  delete(entry: Entry): void {
    const tenant = this.#tenantOf.get(entry);
    const queue = tenant === undefined ? undefined : this.#queues.get(tenant);
    if (tenant === undefined || queue === undefined) return;
    this.#tenantOf.delete(entry);
    queue.entries.delete(entry);
    if (queue.entries.size > 0) return;
    this.#queues.delete(tenant);
    this.#turns.delete(queue);
    this.#weights = this.#queues.size === 0 ? 0 : this.#weights - queue.weight;
  }

  served(entry: Entry): void {
    const tenant = this.#tenantOf.get(entry);
    const queue = tenant === undefined ? undefined : this.#queues.get(tenant);
    if (tenant === undefined || queue === undefined) return;
    queue.entries.served?.(entry);
    this.#clock = Math.max(this.#clock, queue.turn);
    queue.turn += 1 / queue.weight;
    this.#turns.set(queue, queue.turn);
    this.#lastTurns.set(tenant, queue.turn);
  }

  next(now: number): Chosen | undefined {
    const first = this.#turns.peek()?.entries.next(now);
    if (first?.tier !== 'hopeless' || this.#queues.size === 1) return first;
    let best = first;
    let least = Number.POSITIVE_INFINITY;
    for (const { entries, turn } of this.#queues.values()) {
      const chosen = turn < least ? entries.next(now) : undefined;
      if (chosen === undefined || chosen.tier === 'hopeless') continue;
      best = chosen;
      least = turn;
    }
    return best;
  }

  #open(tenant: string): Queue {
    const turn = Math.max(this.#clock, this.#lastTurns.get(tenant) ?? 0);
    const queue: Queue = {
      entries: this.#parts.makeQueue(() => queue.weight / this.#weights),
      weight: 0,
      turn,
    };
    this.#queues.set(tenant, queue);
    this.#turns.set(queue, turn);
    return queue;
  }
}
