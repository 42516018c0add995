/** How much work beyond its calls' entitlements the engine is given: a share of first attempts in a window. */

import { WindowCount } from '../time/window.js';
import type { ControlOptions } from './options.js';
import { RecentMap } from './recent.js';

/** Share of Ĉ that is granted when no first attempts are there to earn it. */
const FLOOR_SHARE_OF_CAPACITY = 0.02;

interface Windows {
  readonly firsts: WindowCount;
  readonly granted: WindowCount;
}

export interface BudgetState {
  /** First attempts in the window. */
  readonly firsts: number;
  readonly granted: number;
  /** Grants that the window allows in all. */
  readonly allowance: number;
}

/** Windows of the gateway and of each tenant; a grant needs both. An evicted tenant counts on in the gateway's. */
export class Budget {
  readonly #options: ControlOptions;
  readonly #gateway: Windows;
  readonly #tenants: RecentMap<string, Windows>;

  constructor(options: ControlOptions) {
    this.#options = options;
    this.#gateway = this.#windows();
    this.#tenants = new RecentMap(options.bounds.tenants);
  }

  /** A first attempt: it earns its share. */
  first(tenant: string, now: number): void {
    this.#gateway.firsts.add(now);
    this.#of(tenant).firsts.add(now);
  }

  /** Takes a grant if both windows allow one more. */
  take(tenant: string, now: number): boolean {
    if (!this.#allows(this.#gateway, now) || !this.#allows(this.#of(tenant), now)) return false;
    this.count(tenant, now);
    return true;
  }

  /** Counts work that was given without asking. */
  count(tenant: string, now: number): void {
    this.#gateway.granted.add(now);
    this.#of(tenant).granted.add(now);
  }

  /** The state of one tenant's windows, or of the gateway's. */
  state(now: number, tenant?: string): BudgetState {
    const windows = tenant === undefined ? this.#gateway : this.#of(tenant);
    return {
      firsts: windows.firsts.total(now),
      granted: windows.granted.total(now),
      allowance: this.#allowance(windows, now),
    };
  }

  #allowance(windows: Windows, now: number): number {
    const { capacity, budget } = this.#options;
    const { ratio, floor, windowMs } = budget;
    const least = capacity === undefined ? floor : (FLOOR_SHARE_OF_CAPACITY * capacity * windowMs) / 1_000;
    return Math.max(ratio * windows.firsts.total(now), least);
  }

  #allows(windows: Windows, now: number): boolean {
    // Ten times 0.1 must be 1: a hair's breadth of rounding is not a refusal.
    return windows.granted.total(now) + 1 <= this.#allowance(windows, now) + 1e-9;
  }

  #of(tenant: string): Windows {
    const known = this.#tenants.get(tenant);
    if (known !== undefined) return known;
    const fresh = this.#windows();
    this.#tenants.set(tenant, fresh);
    return fresh;
  }

  #windows(): Windows {
    const { windowMs } = this.#options.budget;
    return { firsts: new WindowCount(windowMs), granted: new WindowCount(windowMs) };
  }
}
