/** The reference model's recognition: every known call of the scope is looked at, every time, in plain order. */

import type { AttemptFacts } from '../../src/core/control/event.js';
import { mannersOf } from '../../src/core/control/family.js';
import type { ControlOptions } from '../../src/core/control/options.js';
import type { Decision, Evidence } from '../../src/core/control/words.js';
import {
  type Attempt,
  backAt,
  better,
  type Call,
  contradicts,
  countFits,
  countProves,
  deadlineOf,
  evidenceOf,
  hasKey,
  hasTrace,
  lastOf,
  listeners,
  names,
  proves,
  provesThis,
  replayable,
  same,
  scopeOf,
  shown,
  working,
} from './reference-words.js';

export interface Recognition {
  readonly decision: Decision;
  readonly call: Call | undefined;
  readonly evidence: readonly Evidence[];
  readonly candidates: number;
  readonly proof: boolean;
  /** The live equals that it has no right to. */
  readonly beside: readonly Call[];
}

export interface Known {
  readonly now: number;
  readonly options: ControlOptions;
  readonly calls: readonly Call[];
  /** Scopes of which two calls were known at once, until none is. */
  readonly crowded: ReadonlySet<string>;
  /** Keys and traceparents seen on two overlapping attempts. */
  readonly overlapping: ReadonlySet<string>;
}

/** The keys and traceparents that both bring, each within its scope. */
export function sharedNames(a: AttemptFacts, b: AttemptFacts): string[] {
  const shared = [];
  if (same(a.key, b.key)) shared.push(JSON.stringify([scopeOf(a), 'key', a.key]));
  if (same(a.traceparent, b.traceparent))
    shared.push(JSON.stringify([scopeOf(a), 'traceparent', a.traceparent]));
  return shared;
}

function plausible(known: Known, call: Call, facts: AttemptFacts): boolean {
  const graceMs = typeof known.options.grace === 'number' ? known.options.grace : 0;
  const gap = known.now - call.looseAt;
  return gap <= Math.max(mannersOf(facts.userAgent).largestGapMs * 1.5, graceMs);
}

function rank(known: Known, call: Call, facts: AttemptFacts): boolean[] {
  const last = lastOf(call).facts;
  return [
    !contradicts(call, facts.key),
    hasKey(call, facts.key),
    hasTrace(call, facts.traceparent),
    countFits(call, facts),
    same(facts.session, last.session),
    facts.userAgent === last.userAgent && facts.address === last.address,
    plausible(known, call, facts),
  ];
}

function best(known: Known, calls: readonly Call[], facts: AttemptFacts): Call | undefined {
  return calls.toSorted(
    (a, b) => better(rank(known, a, facts), rank(known, b, facts)) || a.looseAt - b.looseAt,
  )[0];
}

/** May the attempt have what the call has in hand, given what its listeners have seen of it? */
function mayAdopt(call: Call, facts: AttemptFacts): boolean {
  if (facts.stateful && !proves(call, facts)) return false;
  if (!shown(call)) return true;
  return proves(call, facts) || mannersOf(facts.userAgent).reconnectsStreams;
}

function mayReplay(known: Known, call: Call, facts: AttemptFacts): boolean {
  if (facts.noStore || call.deliveredAt === undefined || call.state !== 'answered' || !replayable(call))
    return false;
  if (known.now - call.deliveredAt > known.options.replayDeliveredMs) return false;
  const last = lastOf(call).facts;
  if (same(facts.key, last.key) || same(facts.traceparent, last.traceparent)) return true;
  return countProves(call, facts) && !known.crowded.has(scopeOf(facts));
}

/** A name takes over from the listener that brought it, unless it was seen on two at once; a count when it is overdue. */
function mayTakeOver(known: Known, call: Call, facts: AttemptFacts, by: 'name' | 'count'): boolean {
  if (!replayable(call) || !working(call) || listeners(call).length !== 1) return false;
  const listener = listeners(call)[0] as Attempt;
  const ageMs = known.now - listener.at;
  const bears = sharedNames(facts, listener.facts);
  const fresh = !bears.some((name) => known.overlapping.has(name));
  if (by === 'name') return bears.length > 0 && fresh && ageMs >= known.options.lateMergeMs;
  const overdue = ageMs >= deadlineOf(listener.facts, known.options);
  const { userAgent, session } = listener.facts;
  const alike = facts.userAgent === userAgent && facts.session === session;
  return bears.length === 0 && countProves(call, facts) && alike && overdue;
}

/** Deadlines within one power of two seconds are alike enough to share an execution. */
const bucket = (known: Known, facts: AttemptFacts): number =>
  Math.floor(Math.log2(deadlineOf(facts, known.options) / 1_000));

function mayJoin(known: Known, call: Call, facts: AttemptFacts): boolean {
  if (!replayable(call) || call.state === 'answered' || listeners(call).length === 0 || facts.stateful)
    return false;
  return bucket(known, lastOf(call).facts) === bucket(known, facts);
}

/** Without proof: the same client, and no key on either side. */
function mayRejoin(call: Call, facts: AttemptFacts): boolean {
  const keyed = facts.key !== undefined || call.attempts.some((attempt) => attempt.facts.key !== undefined);
  return proves(call, facts) || (!keyed && facts.userAgent === lastOf(call).facts.userAgent);
}

const ADOPTIONS = { waiting: 'adopt_entry', running: 'adopt_execution', answered: 'adopt_answer' } as const;

/** Without proof nobody takes what a call is owed while its client must still be waiting; except of very many. */
function inTime(known: Known, owed: readonly Call[], facts: AttemptFacts): readonly Call[] {
  const waiting = owed.filter((call) => known.now < backAt(call) && !proves(call, facts));
  return waiting.length >= 64 ? owed : owed.filter((call) => !waiting.includes(call));
}

/** What the attempt is, among the calls of its scope. */
export function recognise(known: Known, attempt: Attempt): Recognition {
  const { facts } = attempt;
  const scope = scopeOf(facts);
  const inScope = known.calls.filter((call) => scopeOf(call.facts) === scope && call.facts.shareable);
  const keyed = inScope.filter((call) => hasKey(call, facts.key));
  const traced = inScope.filter((call) => hasTrace(call, facts.traceparent));
  // A key, or else a traceparent, names calls: if any bears it, the attempt is of one of those or of none.
  const equals = [keyed, traced].find((named) => named.length > 0) ?? inScope;
  const alone = !facts.shareable || known.options.coalesce === 'off';
  const found = (decision: Decision, call?: Call, beside: readonly Call[] = []): Recognition => ({
    decision,
    call,
    evidence: call === undefined ? [] : evidenceOf(call, facts, plausible(known, call, facts)),
    candidates: facts.shareable ? inScope.length : 0,
    proof: call !== undefined && provesThis(call, facts),
    beside,
  });
  if (!facts.shareable) return found('new_call_not_shared');
  if (alone) {
    const retry = (facts.retryCount ?? 0) >= 1 || inScope.some((call) => names(call, facts));
    return found(retry ? 'retry_not_attached' : 'new_call');
  }
  const rejoined = (some: readonly Call[]): Recognition | undefined => {
    const owing = some.filter((call) => call.entitlement >= 1);
    const owed = best(known, inTime(known, owing, facts), facts);
    if (owed !== undefined) return found('rejoin_owed', owed);
    const used = some.filter((call) => call.entitlement < 1);
    const spent = best(known, used, facts);
    return spent && found('rejoin_spent', spent);
  };
  const live = equals.filter((call) => listeners(call).length > 0);
  const orphans = equals.filter((call) => working(call) && listeners(call).length === 0 && replayable(call));
  const orphan = best(
    known,
    orphans.filter((call) => mayAdopt(call, facts)),
    facts,
  );
  if (orphan !== undefined) return found(ADOPTIONS[orphan.state as keyof typeof ADOPTIONS], orphan);
  const delivered = best(
    known,
    equals.filter((call) => mayReplay(known, call, facts)),
    facts,
  );
  if (delivered !== undefined) return found('replay_delivered', delivered);
  const taken = (by: 'name' | 'count'): Call | undefined => {
    const open = live.filter((call) => mayTakeOver(known, call, facts, by));
    return best(known, open, facts);
  };
  const named = taken('name');
  if (named !== undefined) return found('take_over', named);
  const idle = equals.filter((call) => call.state === 'idle' && mayRejoin(call, facts));
  const own = rejoined(idle.filter((call) => countProves(call, facts)));
  if (own !== undefined) return own;
  const counted = taken('count');
  if (counted !== undefined) return found('take_over', counted);
  const joinable =
    known.options.coalesce === 'identical' ? live.filter((call) => mayJoin(known, call, facts)) : [];
  const joined = best(known, joinable, facts);
  if (joined !== undefined) return found('join_identical', joined);
  const any = rejoined(idle);
  if (any !== undefined) return any;
  if (live.length > 0) return found('new_call_beside_live', undefined, live);
  return found((facts.retryCount ?? 0) >= 1 ? 'unknown_predecessor' : 'new_call');
}
