/** How long clients wait on one attempt: what they say, and what they were seen to do. */

import { deadlineMs as assumedMs, statedMs, statedStep } from './deadline.js';
import type { AttemptFacts } from './event.js';
import { mannersOf } from './family.js';
import type { ControlOptions } from './options.js';
import { RecentMap } from './recent.js';

/** What an estimate of a deadline rests on. */
export type Basis = 'explicit' | 'announced' | 'learned' | 'assumed';

export interface Expected {
  /** From arrival to the expected disconnect, milliseconds. */
  readonly deadlineMs: number;
  readonly basis: Basis;
}

const LONGEST_GIVE_UP_MS = 3_600_000;
/** From this many departures on a deadline is learned: two stops by hand prove nothing. */
const ENOUGH_DEPARTURES = 3;
/** A deadline is what this share of clients does not wait out. */
const LOW_QUANTILE = 0.1;
const OUTCOMES_KEPT = 64;
/** With departures known, deliveries are counted in this often. */
const REVIEW_EVERY = 16;
/** Clients that outlast an assumed deadline before it is raised, and by how much beyond what they have shown. */
const ENOUGH_OUTLASTING = 3;
const OUTLASTING_MARGIN = 1.1;
/** How many times as long one is assumed to wait that will not ask again: let go too early it is lost. */
const ONLY_CHANCE = 2;
/** A learned deadline that moves by less is the same one. */
const SAME = 0.02;

interface Waits {
  /** Milliseconds: above 0 how long one waited until it left, below 0 how long one waited until it was served. */
  readonly outcomes: number[];
  seen: number;
  departures: number;
  learnedMs: number | undefined;
  /** What is assumed while nothing is learned, and how many outlasted it. */
  outlastedMs: number;
  outlasting: number;
}

export class Patience {
  readonly #options: ControlOptions;
  readonly #waits: RecentMap<string, Waits>;

  constructor(options: ControlOptions) {
    this.#options = options;
    this.#waits = new RecentMap(options.bounds.learnedKeys);
  }

  /**
   * A deadline in so many words is believed; else the shortest of what is announced and what was learned. `attempts`: as
   * many as its client is expected to make for the call.
   */
  expected(facts: AttemptFacts, attempts = Number.POSITIVE_INFINITY): Expected {
    const { leastDeadlineMs, learnDeadlines } = this.#options;
    if (facts.explicitDeadlineMs !== undefined) {
      return { deadlineMs: Math.max(leastDeadlineMs, facts.explicitDeadlineMs), basis: 'explicit' };
    }
    const waits = learnDeadlines ? this.#waits.get(waitsKey(facts)) : undefined;
    const learned = waits?.learnedMs;
    const announced = statedMs(facts);
    if (learned !== undefined && learned <= (announced ?? Number.POSITIVE_INFINITY)) {
      return { deadlineMs: Math.max(leastDeadlineMs, learned), basis: 'learned' };
    }
    if (announced !== undefined) {
      return { deadlineMs: Math.max(leastDeadlineMs, announced), basis: 'announced' };
    }
    const assumed = assumedMs(facts, this.#options) * (attempts === 1 && learnDeadlines ? ONLY_CHANCE : 1);
    return { deadlineMs: Math.max(assumed, waits?.outlastedMs ?? 0), basis: 'assumed' };
  }

  /**
   * The moment after which an answer is worth nothing: of `attempts` those that are left, each a deadline long, and their
   * part of the back-offs of the client's family, none once the last attempt is there. Back-offs mostly grow, so that this
   * is rather too early. `attempt`: number of the one that arrived, from 1. At most an hour on.
   */
  lastEndsAt(
    facts: AttemptFacts,
    { attempt, attempts, arrivedAt }: { attempt: number; attempts: number; arrivedAt: number },
  ): number {
    const left = Math.max(1, attempts - attempt + 1);
    const gaps = attempts > 1 ? (left - 1) / (attempts - 1) : 0;
    const wait =
      left * this.expected(facts, attempts).deadlineMs + gaps * mannersOf(facts.userAgent).backoffMs;
    return arrivedAt + Math.min(wait, LONGEST_GIVE_UP_MS);
  }

  /** An attempt left before a byte of its answer, after `ageMs`; says whether the estimate has moved. */
  left(facts: AttemptFacts, ageMs: number): boolean {
    const waits = this.#noted(facts, Math.max(1, ageMs));
    return waits.departures >= ENOUGH_DEPARTURES && learn(waits);
  }

  /** An attempt waited `ageMs` and was served; says whether the estimate has moved. */
  served(facts: AttemptFacts, ageMs: number): boolean {
    const waits = this.#noted(facts, -Math.max(1, ageMs));
    if (waits.departures < ENOUGH_DEPARTURES) return this.#outlast(waits, facts, ageMs);
    return waits.seen % REVIEW_EVERY === 0 && learn(waits);
  }

  /** An attempt is still there after `ageMs`; says whether the estimate has moved. */
  waits(facts: AttemptFacts, ageMs: number): boolean {
    const waits = this.#waitsOf(facts);
    return waits.departures < ENOUGH_DEPARTURES && this.#outlast(waits, facts, ageMs);
  }

  #outlast(waits: Waits, facts: AttemptFacts, ageMs: number): boolean {
    const assumed = Math.max(assumedMs(facts, this.#options), waits.outlastedMs);
    if (ageMs < assumed) return false;
    waits.outlasting += 1;
    if (waits.outlasting < ENOUGH_OUTLASTING) return false;
    waits.outlasting = 0;
    waits.outlastedMs = OUTLASTING_MARGIN * ageMs;
    return true;
  }

  #noted(facts: AttemptFacts, outcome: number): Waits {
    const waits = this.#waitsOf(facts);
    const at = waits.seen % OUTCOMES_KEPT;
    if ((waits.outcomes[at] ?? 0) > 0) waits.departures -= 1;
    if (outcome > 0) waits.departures += 1;
    waits.outcomes[at] = outcome;
    waits.seen += 1;
    return waits;
  }

  #waitsOf(facts: AttemptFacts): Waits {
    const key = waitsKey(facts);
    const known = this.#waits.get(key);
    if (known !== undefined) return known;
    const fresh = {
      outcomes: [],
      seen: 0,
      departures: 0,
      learnedMs: undefined,
      outlastedMs: 0,
      outlasting: 0,
    };
    this.#waits.set(key, fresh);
    return fresh;
  }
}

function learn(waits: Waits): boolean {
  const before = waits.learnedMs;
  const quantile = lowQuantile(waits.outcomes);
  if (quantile === undefined) return false;
  if (before !== undefined && Math.abs(quantile - before) <= SAME * before) return false;
  waits.learnedMs = quantile;
  return true;
}

/**
 * The age by which a share of `LOW_QUANTILE` would have left if nobody had been served: the product-limit estimate of
 * Kaplan and Meier, in which whoever was served has shown to wait for at least that long. Undefined: none is reached.
 */
export function lowQuantile(outcomes: readonly number[]): number | undefined {
  const sorted = outcomes.toSorted((a, b) => Math.abs(a) - Math.abs(b));
  let staying = 1;
  for (let at = 0; at < sorted.length; at += 1) {
    const age = sorted[at] as number;
    if (age < 0) continue;
    staying *= 1 - 1 / (sorted.length - at);
    if (staying <= 1 - LOW_QUANTILE + 1e-9) return age;
  }
  return undefined;
}

/** Clients of one program that announce different deadlines wait for different lengths: told apart by what they say. */
function waitsKey(facts: AttemptFacts): string {
  const { tenant, userAgent, model } = facts;
  return `${tenant}\n${userAgent}\n${model}\n${statedStep(facts) ?? ''}`;
}
