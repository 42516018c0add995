/** What ties an attempt to a call, gathered and ranked. */

import type { Call } from './call.js';
import type { AttemptFacts } from './event.js';
import { mannersOf } from './family.js';
import { keyName, traceName } from './register.js';
import type { Evidence } from './words.js';

const GAP_MARGIN = 1.5;

/** One call seen from one attempt. Tenant and fingerprint are equal already. */
export interface Match {
  readonly call: Call;
  readonly evidence: readonly Evidence[];
  readonly sameKey: boolean;
  readonly sameTrace: boolean;
  /** Its retry count is the call's last one plus one. */
  readonly nextCount: boolean;
  readonly sameUserAgent: boolean;
  readonly sameSession: boolean;
  /** The call's latest attempt brought that name itself, not only an earlier one. */
  readonly namesLast: boolean;
  /** Both carry keys and they differ. */
  readonly otherKey: boolean;
}

/** `graceMs`: a gap up to this long is plausible for any client. */
export function matchOf(facts: AttemptFacts, call: Call, now: number, graceMs: number): Match {
  const last = call.last;
  const knows = (name: string | undefined): boolean => name !== undefined && call.names.has(name);
  const sameKey = knows(keyName(facts));
  const sameTrace = knows(traceName(facts));
  const count = facts.retryCount ?? 0;
  const nextCount = count >= 1 && count === (last.retryCount ?? 0) + 1;
  const sameSession = facts.session !== undefined && facts.session === last.session;
  const sameUserAgent = facts.userAgent === last.userAgent;
  const sameAddress = facts.address === last.address;
  const gapMs = now - call.vacatedAt;
  const plausible = Math.max(mannersOf(facts.userAgent).largestGapMs * GAP_MARGIN, graceMs);
  const evidence: Evidence[] = [];
  if (sameKey) evidence.push('key');
  if (sameTrace) evidence.push('traceparent');
  if (nextCount) evidence.push('retry_count');
  if (sameSession) evidence.push('session');
  if (sameUserAgent) evidence.push('user_agent');
  if (sameAddress) evidence.push('address');
  if (gapMs >= 0 && gapMs <= plausible) evidence.push('gap');
  evidence.push('fingerprint');
  const namesLast =
    (sameKey && facts.key === last.key) || (sameTrace && facts.traceparent === last.traceparent);
  const otherKey = facts.key !== undefined && call.keyed && !sameKey;
  return { call, evidence, sameKey, sameTrace, nextCount, sameUserAgent, sameSession, namesLast, otherKey };
}

/** Whether the attempt proves that it is the call's: by a name, or by counting itself a retry. */
export function proves(match: Match, facts: AttemptFacts): boolean {
  return match.sameKey || match.sameTrace || ((facts.retryCount ?? 0) >= 1 && !match.otherKey);
}

/** Lexicographic weight of the evidence: a stronger kind outweighs all weaker ones together. */
function weight(match: Match): number {
  const has = (kind: Evidence): number => (match.evidence.includes(kind) ? 1 : 0);
  const near = has('user_agent') & has('address');
  const fits = match.otherKey ? 0 : 64;
  return (
    fits +
    (has('key') * 32 +
      has('traceparent') * 16 +
      has('retry_count') * 8 +
      has('session') * 4 +
      near * 2 +
      has('gap'))
  );
}

/** The best match; among equals the one that has waited longest, then the older call. */
export function best(matches: readonly Match[]): Match | undefined {
  let found: Match | undefined;
  for (const match of matches) if (found === undefined || better(match, found)) found = match;
  return found;
}

function better(a: Match, b: Match): boolean {
  const byWeight = weight(a) - weight(b);
  if (byWeight !== 0) return byWeight > 0;
  const byWait = a.call.vacatedAt - b.call.vacatedAt;
  if (byWait !== 0) return byWait < 0;
  return a.call.number < b.call.number;
}
