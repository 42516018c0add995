/** Whose attempt is this? Pure: from what it says and the calls it could belong to, to one decision with evidence. */

import { type Attempt, type Call, isOrphan, isReplayable } from './call.js';
import { deadlineMs } from './deadline.js';
import type { AttemptFacts } from './event.js';
import { best, type Match, matchOf, proves } from './evidence.js';
import { mannersOf } from './family.js';
import type { ControlOptions } from './options.js';
import { namesOf } from './register.js';
import type { Decision, Evidence } from './words.js';

/** An equal of a live attempt older than this is not one of several samples asked for together. */
const SIBLING_MS = 500;

/** Calls of one scope that are told apart by time alone, so that a client that never pauses is not a new one each time. */
const MOST_TOLD_APART = 64;

export interface Recognition {
  readonly decision: Decision;
  /** The call it belongs to; absent for a new one. */
  readonly call?: Call | undefined;
  readonly evidence: readonly Evidence[];
  readonly candidates: number;
  /** It proved to be that call's, not only an equal request. */
  readonly proven: boolean;
  /** Which of its names (key, traceparent) somebody who is listening brought too. */
  readonly overlaps: readonly string[];
  /** It may be the retry of a live one whose disconnect has not been seen yet. */
  readonly holdBack: boolean;
}

export interface Surroundings {
  readonly now: number;
  readonly options: ControlOptions;
  /** Whether a name (key, traceparent) has been seen on two overlapping attempts. */
  readonly overlapped: (name: string) => boolean;
  /** Equal calls have been about: a count proves a retry, but not whose. */
  readonly crowded: boolean;
}

const NOTHING = { evidence: [], proven: false, overlaps: [], holdBack: false } as const;

/** Decides for a shareable attempt; `calls` have its tenant and fingerprint. */
export function recognise(facts: AttemptFacts, calls: readonly Call[], around: Surroundings): Recognition {
  const { options, now } = around;
  if (calls.length === 0) return options.coalesce === 'off' ? notAttached(facts, [], 0) : unlike(facts, 0);
  const graceMs = typeof options.grace === 'number' ? options.grace : 0;
  const matches = sharpest(
    calls.filter((call) => mayMatter(facts, call)).map((call) => matchOf(facts, call, now, graceMs)),
  );
  const candidates = calls.length;
  if (options.coalesce === 'off') return notAttached(facts, matches, candidates);
  const found =
    adoptable(facts, matches) ??
    replayable(facts, matches, around) ??
    takeable(facts, matches, around, 'name') ??
    rejoinable(facts, matches.filter(follows), now) ??
    takeable(facts, matches, around, 'count') ??
    joinable(facts, matches, options) ??
    rejoinable(facts, matches, now);
  if (found !== undefined) return known(found, facts, candidates);
  const beside = matches.filter(({ call }) => call.listeners.size > 0);
  if (beside.length > 0) return besideLive(facts, beside, candidates, now);
  return unlike(facts, candidates);
}

/** No call that is known is its own. */
function unlike(facts: AttemptFacts, candidates: number): Recognition {
  const decision = (facts.retryCount ?? 0) >= 1 ? 'unknown_predecessor' : 'new_call';
  return { ...NOTHING, decision, candidates };
}

/** A delivered call says nothing to an attempt that brings no proof; a load test's equals are mostly such. */
function mayMatter(facts: AttemptFacts, call: Call): boolean {
  if (call.deliveredAt === undefined || call.listeners.size > 0) return true;
  return facts.key !== undefined || facts.traceparent !== undefined || (facts.retryCount ?? 0) >= 1;
}

interface Found {
  readonly decision: Decision;
  readonly match: Match;
}

function known({ decision, match }: Found, facts: AttemptFacts, candidates: number): Recognition {
  const { evidence, call } = match;
  // A count that does not follow its last one proves a retry, but not of which call.
  const proven = match.sameKey || match.sameTrace || follows(match);
  const overlaps = decision === 'take_over' ? namesShared(facts, call) : [];
  return { ...NOTHING, decision, call, evidence, candidates, proven, overlaps };
}

/** Its retry count is the next one of that call, and no key speaks against it. */
function follows({ nextCount, otherKey }: Match): boolean {
  return nextCount && !otherKey;
}

/** When something names a call outright, nothing else is considered. */
function sharpest(matches: readonly Match[]): readonly Match[] {
  const byKey = matches.filter(({ sameKey }) => sameKey);
  if (byKey.length > 0) return byKey;
  const byTrace = matches.filter(({ sameTrace }) => sameTrace);
  return byTrace.length > 0 ? byTrace : matches;
}

function notAttached(facts: AttemptFacts, matches: readonly Match[], candidates: number): Recognition {
  const named = matches.find(({ sameKey, sameTrace }) => sameKey || sameTrace);
  const retry = named !== undefined || (facts.retryCount ?? 0) >= 1;
  const evidence = named?.evidence ?? [];
  return {
    ...NOTHING,
    decision: retry ? 'retry_not_attached' : 'new_call',
    evidence,
    candidates,
    proven: retry,
  };
}

function adoptable(facts: AttemptFacts, matches: readonly Match[]): Found | undefined {
  const match = best(matches.filter((one) => isOrphan(one.call) && mayAdopt(facts, one)));
  if (match === undefined) return undefined;
  if (match.call.state === 'waiting') return { decision: 'adopt_entry', match };
  return { decision: match.call.state === 'running' ? 'adopt_execution' : 'adopt_answer', match };
}

function mayAdopt(facts: AttemptFacts, match: Match): boolean {
  if (proves(match, facts)) return true;
  if (facts.stateful) return false;
  const shown = match.call.execution?.shown === true;
  return !shown || mannersOf(facts.userAgent).reconnectsStreams;
}

function replayable(
  facts: AttemptFacts,
  matches: readonly Match[],
  { now, options, crowded }: Surroundings,
): Found | undefined {
  const fit = (match: Match): boolean =>
    now < (match.call.deliveredAt ?? Number.NEGATIVE_INFINITY) + options.replayDeliveredMs &&
    match.call.state === 'answered' &&
    isReplayable(match.call) &&
    (match.namesLast || (follows(match) && !crowded));
  const match = facts.noStore ? undefined : best(matches.filter(fit));
  return match === undefined ? undefined : { decision: 'replay_delivered', match };
}

/** A live one that this attempt may take over, `by` its name or by counting on from it. */
function takeable(
  facts: AttemptFacts,
  matches: readonly Match[],
  around: Surroundings,
  by: 'name' | 'count',
): Found | undefined {
  const rights = by === 'name' ? takesOverByName : takesOverByCount;
  const match = best(
    matches.filter((one) => {
      const [listener] = one.call.listeners;
      const live = listener !== undefined && one.call.listeners.size === 1;
      if (!live || one.call.deliveredAt !== undefined || !isReplayable(one.call)) return false;
      return rights(facts, one, listener, around);
    }),
  );
  return match === undefined ? undefined : { decision: 'take_over', match };
}

function takesOverByName(
  facts: AttemptFacts,
  match: Match,
  listener: Attempt,
  { now, options, overlapped }: Surroundings,
): boolean {
  const fresh = !sharedNames(facts, listener).some(overlapped);
  const age = now - listener.arrivedAt;
  return namesListener(facts, match, listener) && fresh && age >= options.lateMergeMs;
}

function takesOverByCount(
  facts: AttemptFacts,
  match: Match,
  listener: Attempt,
  { now, options }: Surroundings,
): boolean {
  const named = namesListener(facts, match, listener);
  const counts = !named && follows(match) && sameClient(facts, listener);
  return counts && now - listener.arrivedAt >= deadlineMs(listener.facts, options);
}

/** The listener itself brought that key or traceparent, not only an earlier attempt of the call. */
function namesListener(facts: AttemptFacts, { sameKey, sameTrace }: Match, listener: Attempt): boolean {
  return (sameKey || sameTrace) && sharedNames(facts, listener).length > 0;
}

function sharedNames(facts: AttemptFacts, listener: Attempt): readonly string[] {
  const theirs = namesOf(listener.facts);
  return namesOf(facts).filter((name) => theirs.includes(name));
}

function namesShared(facts: AttemptFacts, call: Call): readonly string[] {
  return [...call.listeners].flatMap((listener) => sharedNames(facts, listener));
}

function sameClient(facts: AttemptFacts, listener: Attempt): boolean {
  return facts.userAgent === listener.facts.userAgent && facts.session === listener.facts.session;
}

function joinable(
  facts: AttemptFacts,
  matches: readonly Match[],
  options: ControlOptions,
): Found | undefined {
  if (options.coalesce !== 'identical' || facts.stateful) return undefined;
  const bucket = deadlineBucket(facts, options);
  const fit = ({ call }: Match): boolean =>
    (call.state === 'waiting' || call.state === 'running') &&
    call.listeners.size > 0 &&
    isReplayable(call) &&
    deadlineBucket(call.last, options) === bucket;
  const match = best(matches.filter(fit));
  return match === undefined ? undefined : { decision: 'join_identical', match };
}

/** Requests are identical only if they can wait about equally long: within a factor of two. */
function deadlineBucket(facts: AttemptFacts, options: ControlOptions): number {
  return Math.floor(Math.log2(deadlineMs(facts, options) / 1_000));
}

function rejoinable(facts: AttemptFacts, matches: readonly Match[], now: number): Found | undefined {
  const idle = matches.filter(({ call }) => call.state === 'idle').filter((one) => mayRejoin(facts, one));
  const owing = idle.filter(({ call }) => call.entitlement >= 1);
  const inTime = owing.filter((one) => !comesTooEarly(facts, one, now));
  const owed = best(owing.length - inTime.length < MOST_TOLD_APART ? inTime : owing);
  if (owed !== undefined) return { decision: 'rejoin_owed', match: owed };
  const spent = best(idle.filter(({ call }) => call.entitlement < 1));
  return spent === undefined ? undefined : { decision: 'rejoin_spent', match: spent };
}

/** There is nothing to take from an idle call, so only whoever is likely to be its client belongs to it. */
function mayRejoin(facts: AttemptFacts, match: Match): boolean {
  return proves(match, facts) || (match.sameUserAgent && !match.call.keyed && facts.key === undefined);
}

/**
 * What brings no proof is not the client that was turned away or failed just now: that one still waits. It would take
 * the execution that the call is owed; where none is owed there is nothing to take.
 */
function comesTooEarly(facts: AttemptFacts, match: Match, now: number): boolean {
  return now < match.call.mayReturnAt && !proves(match, facts);
}

function besideLive(
  facts: AttemptFacts,
  matches: readonly Match[],
  candidates: number,
  now: number,
): Recognition {
  const evidence = best(matches)?.evidence ?? [];
  const overlaps = matches.flatMap(({ call }) => namesShared(facts, call));
  const listeners = matches.flatMap(({ call }) => [...call.listeners]);
  const youngest = Math.max(...listeners.map(({ arrivedAt }) => arrivedAt));
  const answered = listeners.every(({ handedAt }) => handedAt !== undefined);
  const holdBack = !answered && now - youngest > SIBLING_MS;
  return { ...NOTHING, decision: 'new_call_beside_live', evidence, candidates, overlaps, holdBack };
}
