/** How often the clients of each program ask, learned from who comes back, and how many calls are staked on it at once. */

import { statedStep } from './deadline.js';
import type { AttemptFacts } from './event.js';
import { mannersOf } from './family.js';
import type { ControlOptions } from './options.js';
import { RecentMap } from './recent.js';

/** Nobody is counted on for more attempts than this. */
const MOST_ATTEMPTS = 32;
/** Of a program's calls that wait, the share staked at once on an attempt that none was seen to make: all may be lost. */
const EXPLORING = 0.005;
/** From so many returns on all are counted on, as long as no more than this share of clients did not come back. */
const ENOUGH_RETURNED = 2;
const LOST_SHARE = 0.02;
/** A family is counted on for what it is known to ask until so many, and this share, were seen not to come back. */
const ENOUGH_LOST = 3;
const FAMILY_LOST_SHARE = 0.1;
/** Beyond this many, old outcomes count half. */
const MEMORY_OUTCOMES = 200;
/** Those that were not counted on are looked at again when this many times as many may be. */
const GROWTH = 1.25;

/** What came after so many attempts. */
interface Level {
  returned: number;
  lost: number;
  /** Calls that are counted on to come back after it. */
  staked: number;
  /** Calls that might have been, had there been fewer, and how many were allowed when they were looked at. */
  turnedAway: boolean;
  allowed: number;
}

interface Stake {
  /** Number of its latest attempt, and of the last that it is counted on for; from 1. */
  readonly attempt: number;
  attempts: number;
}

interface Program<T> {
  /** Attempts that its family is known to make; 1: none is known. */
  readonly known: number;
  /** By number of attempts. */
  readonly levels: Map<number, Level>;
  /** Calls that wait or were lost a short while ago, in the order of their latest attempts. */
  readonly stakes: Map<T, Stake>;
}

/**
 * A call that waits past the end of an attempt is lost if that was its last. So past the attempts that a program was seen
 * to make, only a few of its calls are counted on to come back, those whose attempts end first; once they have, all are.
 * A lost one keeps its part of the stake until it is known to be lost, and then weighs against the level.
 */
export class Returns<T> {
  readonly #options: ControlOptions;
  readonly #programs: RecentMap<string, Program<T>>;
  readonly #programOf = new Map<T, Program<T>>();

  constructor(options: ControlOptions) {
    this.#options = options;
    this.#programs = new RecentMap(options.bounds.learnedKeys);
  }

  /** Attempts that a call which waits in its attempt number `attempt`, from 1, is counted on for, until `release`. */
  stake(call: T, facts: AttemptFacts, attempt: number): number {
    if (!this.#options.learnDeadlines) return this.expected(facts, attempt);
    const program = this.#program(facts);
    const known = this.#programOf.get(call) === program ? program.stakes.get(call) : undefined;
    if (known?.attempt === attempt) return known.attempts;
    this.release(call);
    const stake: Stake = { attempt, attempts: attempt };
    program.stakes.set(call, stake);
    this.#programOf.set(call, program);
    stake.attempts = take(program, attempt);
    return stake.attempts;
  }

  /** The same of a call that does not wait: nothing is staked. */
  expected(facts: AttemptFacts, attempt: number): number {
    if (!this.#options.learnDeadlines) return Math.max(attempt, mannersOf(facts.userAgent).attempts);
    const program = this.#program(facts);
    let attempts = attempt;
    while (attempts < MOST_ATTEMPTS && allowed(program, attempts, false) >= 1) attempts += 1;
    return attempts;
  }

  /** The call waits no more, or nobody comes back for it. */
  release(call: T): void {
    const program = this.#programOf.get(call);
    const stake = program?.stakes.get(call);
    if (program === undefined || stake === undefined) return;
    this.#programOf.delete(call);
    program.stakes.delete(call);
    for (let at = stake.attempt; at < stake.attempts; at += 1) levelOf(program, at).staked -= 1;
  }

  /** Whether a client that is counted on for so many attempts may well make more, going by what is known. */
  mayGoOn(facts: AttemptFacts, attempts: number): boolean {
    if (!this.#options.learnDeadlines || attempts < 2) return false;
    const program = this.#program(facts);
    return program.known === 1 && levelOf(program, Math.min(attempts, MOST_ATTEMPTS)).lost === 0;
  }

  /** A client asked again after `attempts`; says of which calls more is expected now. */
  returned(facts: AttemptFacts, attempts: number): readonly T[] {
    if (attempts < 1 || attempts >= MOST_ATTEMPTS) return [];
    const program = this.#program(facts);
    for (let at = 1; at < attempts; at += 1) levelOf(program, at).returned ||= 1;
    const level = levelOf(program, attempts);
    level.returned += 1;
    fade(level);
    const grown = allowed(program, attempts, true) >= Math.max(level.allowed + 1, GROWTH * level.allowed);
    return level.turnedAway && grown ? deal(program) : [];
  }

  /** A client did not come back after `attempts`; says of which calls less is expected now. */
  lost(facts: AttemptFacts, attempts: number): readonly T[] {
    if (attempts < 1 || attempts >= MOST_ATTEMPTS) return [];
    const program = this.#program(facts);
    const level = levelOf(program, attempts);
    level.lost += 1;
    fade(level);
    return level.staked > allowed(program, attempts, true) ? deal(program) : [];
  }

  #program(facts: AttemptFacts): Program<T> {
    const { tenant, userAgent } = facts;
    const key = `${tenant}\n${userAgent}\n${statedStep(facts) ?? ''}`;
    const program = this.#programs.get(key);
    if (program !== undefined) return program;
    const fresh = { known: mannersOf(userAgent).attempts, levels: new Map(), stakes: new Map() };
    this.#programs.set(key, fresh);
    return fresh;
  }
}

function levelOf<T>({ levels }: Program<T>, attempts: number): Level {
  const level = levels.get(attempts);
  if (level !== undefined) return level;
  const fresh = { returned: 0, lost: 0, staked: 0, turnedAway: false, allowed: 0 };
  levels.set(attempts, fresh);
  return fresh;
}

function fade(level: Level): void {
  if (level.returned + level.lost <= MEMORY_OUTCOMES) return;
  level.returned /= 2;
  level.lost /= 2;
}

/**
 * Calls that may be counted on at once to come back after so many attempts. `own`: those whose attempt is that one, which
 * are the first to show whether anybody does; never their first, since who waits past that shows it anyway.
 */
function allowed<T>(program: Program<T>, attempts: number, own: boolean): number {
  const level = levelOf(program, attempts);
  if (attempts < program.known ? !disproved(level) : proved(level)) return Number.POSITIVE_INFINITY;
  const explorers = EXPLORING * program.stakes.size;
  const exploring = own && attempts > 1 && program.known === 1 ? explorers : 0;
  return Math.floor((Math.max(1, explorers) * level.returned + exploring) / (level.lost + 1));
}

function proved({ returned, lost }: Level): boolean {
  return returned >= ENOUGH_RETURNED && lost <= LOST_SHARE * (returned + lost);
}

function disproved({ returned, lost }: Level): boolean {
  return lost >= ENOUGH_LOST && lost > FAMILY_LOST_SHARE * (returned + lost);
}

/** Counts on one more call in that attempt for as many as is allowed. */
function take<T>(program: Program<T>, attempt: number): number {
  let attempts = attempt;
  while (attempts < MOST_ATTEMPTS) {
    const level = levelOf(program, attempts);
    if (level.staked >= allowed(program, attempts, attempts === attempt)) {
      level.turnedAway = true;
      break;
    }
    level.staked += 1;
    attempts += 1;
  }
  return attempts;
}

/** Deals anew, first to those whose attempt ends first; says for whom it changed. */
function deal<T>(program: Program<T>): readonly T[] {
  for (const [attempts, level] of program.levels) {
    level.staked = 0;
    level.turnedAway = false;
    level.allowed = allowed(program, attempts, true);
  }
  const changed: T[] = [];
  for (const [call, stake] of program.stakes) {
    const attempts = take(program, stake.attempt);
    if (attempts === stake.attempts) continue;
    stake.attempts = attempts;
    changed.push(call);
  }
  return changed;
}
