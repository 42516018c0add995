/** Entitlements handed over: an equal request took a call's work without proof, and that call may still come. */

import type { AttemptFacts } from './event.js';
import { RecentMap } from './recent.js';
import { scopeOf } from './register.js';

const MOST_PER_SCOPE = 16;

interface Claim {
  readonly key: string | undefined;
  /** The retry count that the robbed call's next attempt would carry. */
  readonly count: number | undefined;
  readonly userAgent: string;
  readonly until: number;
}

export class Claims {
  readonly #byScope: RecentMap<string, Claim[]>;

  /** `most`: scopes with claims, ≥ 1; at the bound the least recently used goes. */
  constructor(most: number) {
    this.#byScope = new RecentMap(most);
  }

  /** The call whose last attempt said `lost` has been robbed; false: it could never show it, so nothing is kept. */
  give(lost: AttemptFacts, until: number): boolean {
    if (lost.key === undefined && lost.retryCount === undefined) return false;
    const claims = this.#byScope.get(scopeOf(lost)) ?? [];
    const count = lost.retryCount === undefined ? undefined : lost.retryCount + 1;
    claims.push({ key: lost.key, count, userAgent: lost.userAgent, until });
    if (claims.length > MOST_PER_SCOPE) claims.shift();
    this.#byScope.set(scopeOf(lost), claims);
    return true;
  }

  /** Whether the attempt holds a claim; it is used up by asking. */
  take(facts: AttemptFacts, now: number): boolean {
    const claims = this.#byScope.get(scopeOf(facts));
    if (claims === undefined) return false;
    const open = claims.filter(({ until }) => until > now);
    const index = open.findIndex((claim) => fits(claim, facts));
    if (index >= 0) open.splice(index, 1);
    if (open.length === 0) this.#byScope.delete(scopeOf(facts));
    else this.#byScope.set(scopeOf(facts), open);
    return index >= 0;
  }
}

function fits({ key, count, userAgent }: Claim, facts: AttemptFacts): boolean {
  if (key !== undefined) return facts.key === key;
  return facts.retryCount === count && facts.userAgent === userAgent;
}
