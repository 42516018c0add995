/** What happens to the work of clients that leave: how long it is kept for them, learned from who comes back. */

import type { AttemptFacts } from './event.js';
import { mannersOf } from './family.js';
import type { ControlOptions } from './options.js';
import { RecentMap } from './recent.js';

/** A share of returns below this, over enough departures, means leaving on purpose. */
const LEAST_RETURN_SHARE = 0.05;
const ENOUGH_DEPARTURES = 50;
/** Beyond this many, old departures count half. */
const MEMORY_DEPARTURES = 200;
const GAPS_KEPT = 32;
const GAP_MARGIN = 1.25;
const LONGEST_LEARNED_MS = 300_000;
const RETRY_AFTER_MARGIN_MS = 2_000;

interface Profile {
  /** Departures whose sequel is known: came back, or stayed away past the horizon. */
  resolved: number;
  returned: number;
  readonly gaps: number[];
}

export class Departures {
  readonly #options: ControlOptions;
  readonly #profiles: RecentMap<string, Profile>;
  /** The longest wait each tenant was told, while it may still be waiting. */
  readonly #told: RecentMap<string, { readonly ms: number; readonly until: number }>;

  constructor(options: ControlOptions) {
    this.#options = options;
    this.#profiles = new RecentMap(options.bounds.learnedKeys);
    this.#told = new RecentMap(options.bounds.tenants);
  }

  /**
   * Milliseconds that work is kept after its client left; 0: cancel at once; Infinity: never cancel. `shown`: a
   * stream's answer bytes had reached the client, so that only proof could adopt the rest.
   */
  graceMs(facts: AttemptFacts, shown: boolean, now: number): number {
    const { grace, graceAfterFirstByteMs } = this.#options;
    if (facts.cancelOnLeave || !facts.shareable || grace === 'now') return 0;
    if (this.#leavesForGood(facts)) return 0;
    if (shown && !mayProveItself(facts)) return graceAfterFirstByteMs;
    if (grace === 'never') return Number.POSITIVE_INFINITY;
    return Math.max(grace, this.#learnedGapMs(facts), this.#retryAfterFloorMs(facts.tenant, now));
  }

  /** A client that had left came back after `gapMs`. */
  returned(facts: AttemptFacts, gapMs: number): void {
    const profile = this.#resolve(facts);
    profile.returned += 1;
    profile.gaps.push(gapMs);
    if (profile.gaps.length > GAPS_KEPT) profile.gaps.shift();
  }

  /** A client that had left did not come back within its horizon. */
  lost(facts: AttemptFacts): void {
    this.#resolve(facts);
  }

  /** A refusal told a client of the tenant to come back after `ms`. */
  toldToWait(tenant: string, ms: number, now: number): void {
    const told = this.#told.get(tenant);
    if (told !== undefined && now < told.until && ms < told.ms) return;
    this.#told.set(tenant, { ms, until: now + ms + RETRY_AFTER_MARGIN_MS });
  }

  #retryAfterFloorMs(tenant: string, now: number): number {
    const told = this.#told.get(tenant);
    return told !== undefined && now < told.until ? told.ms + RETRY_AFTER_MARGIN_MS : 0;
  }

  #leavesForGood(facts: AttemptFacts): boolean {
    if (!this.#options.learnGrace) return false;
    const profile = this.#profiles.get(profileKey(facts));
    if (profile === undefined || profile.resolved < ENOUGH_DEPARTURES) return false;
    return profile.returned < LEAST_RETURN_SHARE * profile.resolved;
  }

  #learnedGapMs(facts: AttemptFacts): number {
    if (!this.#options.learnGrace) return 0;
    const gaps = this.#profiles.get(profileKey(facts))?.gaps ?? [];
    return Math.min(LONGEST_LEARNED_MS, GAP_MARGIN * Math.max(0, ...gaps));
  }

  #resolve(facts: AttemptFacts): Profile {
    const key = profileKey(facts);
    const profile = this.#profiles.get(key) ?? { resolved: 0, returned: 0, gaps: [] };
    this.#profiles.set(key, profile);
    profile.resolved += 1;
    if (profile.resolved > MEMORY_DEPARTURES) {
      profile.resolved /= 2;
      profile.returned /= 2;
    }
    return profile;
  }
}

function profileKey(facts: AttemptFacts): string {
  return `${facts.tenant}\n${facts.route}\n${facts.userAgent}`;
}

/** A client that could bring proof when it comes back for a stream that broke off under it. */
function mayProveItself(facts: AttemptFacts): boolean {
  return facts.key !== undefined || mannersOf(facts.userAgent).reconnectsStreams;
}
