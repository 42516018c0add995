/** The search for Ĉ: which rate to try next, and when it is found, or cannot be told. Pure; others play the stages. */

import {
  type Growth,
  growthOf,
  judgedSeconds,
  type LoadStage,
  type Signal,
  type StageEvidence,
  type StageVerdict,
  servedWhenFull,
  verdictOf,
} from './growth.js';

export interface CalibrationOptions {
  /** Where to begin, calls per second. */
  readonly firstPerSecond: number;
  /** The search says that it could not tell rather than go below or above. */
  readonly lowestPerSecond: number;
  readonly highestPerSecond: number;
  /** How much the first growing rate may lie above Ĉ, as a share. */
  readonly grain: number;
  /** Each coarse rate is this many times the one before. */
  readonly coarse: number;
  /** Seconds at the head of each stage that are not judged: a few times what one call takes under full load. */
  readonly settleSeconds: number;
  /** Judged seconds of each stage at least; more where the grain asks for more calls. */
  readonly judgedSeconds: number;
  readonly mostStages: number;
  /** Seconds of load, all stages together. */
  readonly mostSeconds: number;
  readonly seed: number;
}

/** Fit for an engine over HTTP that serves some calls a second. */
export const CALIBRATION_DEFAULTS: CalibrationOptions = {
  firstPerSecond: 1,
  lowestPerSecond: 0.01,
  highestPerSecond: 1_000,
  grain: 0.03,
  coarse: 2,
  settleSeconds: 60,
  judgedSeconds: 120,
  mostStages: 40,
  mostSeconds: 7_200,
  seed: 1,
};

/** `given` over the defaults; throws a `RangeError` that names option, bounds and value. */
export function calibrationOptions(given: Partial<CalibrationOptions> = {}): CalibrationOptions {
  const options = { ...CALIBRATION_DEFAULTS, ...given };
  const bounds: readonly [keyof CalibrationOptions, number, number][] = [
    ['lowestPerSecond', 1e-4, 1e5],
    ['highestPerSecond', options.lowestPerSecond, 1e5],
    ['firstPerSecond', options.lowestPerSecond, options.highestPerSecond],
    ['grain', 0.005, 0.2],
    ['coarse', 1.1, 4],
    ['settleSeconds', 0, 86_400],
    ['judgedSeconds', 1, 86_400],
    ['mostStages', 4, 1_000],
    ['mostSeconds', 1, 1e7],
  ];
  for (const [name, low, high] of bounds) {
    const value = options[name];
    if (value >= low && value <= high) continue;
    throw new RangeError(`${name} must be a number from ${low} to ${high}, not ${value}`);
  }
  return options;
}

/** Why a capacity could not be told. */
export type Doubt =
  | 'grows_at_lowest'
  | 'never_grows'
  | 'noise'
  | 'no_signal'
  | 'gauge_not_credible'
  | 'refused'
  | 'generator_behind'
  | 'did_not_drain'
  | 'out_of_time'
  | 'stopped';

/** Each doubt in words, with what may help. */
export const DOUBTS: Readonly<Record<Doubt, string>> = {
  grows_at_lowest: 'the queue grew at the lowest rate already: begin lower, or let the engine come to rest',
  never_grows: 'the queue did not grow up to the highest rate: allow a higher one',
  noise:
    'the same rate grew a queue in one stage and none in another: make stages longer, or the grain coarser',
  no_signal: 'neither the waiting gauge nor the time to first byte could be read',
  gauge_not_credible:
    'the time to first byte grew and the waiting gauge did not: calls wait where the gauge does not look, or it stands still',
  refused:
    'the engine refused or failed calls, so that its queue says nothing: raise its cap, or lower the highest rate',
  generator_behind: 'the generator fell behind its plan, so that the rate was not what it says',
  did_not_drain: 'the engine did not come to rest after a stage: something else uses it, or it hangs',
  out_of_time: 'the stages or seconds allowed were used up',
  stopped: 'it was stopped',
};

/** One stage that was played, with what it showed. */
export interface JudgedStage {
  readonly perSecond: number;
  readonly seconds: number;
  readonly settleSeconds: number;
  readonly seed: number;
  readonly calls: number;
  readonly failed: number;
  readonly signal: Signal | null;
  readonly growth: Growth | null;
  readonly verdict: StageVerdict;
  /** Calls finished per second while some waited all the time; null where nobody can say. */
  readonly servedPerSecond: number | null;
}

export type CalibrationResult = {
  readonly grain: number;
  readonly stages: readonly JudgedStage[];
  /** Seconds of load. */
  readonly seconds: number;
} & (
  | {
      readonly verdict: 'found';
      /** Ĉ: the highest rate below every growing one at which the queue did not grow. */
      readonly capacity: number;
      /** The lowest rate at which it grew. */
      readonly grows: number;
      readonly signal: Signal;
      /** Calls a second that an engine with a queue at all times finishes; null where no stage showed it. */
      readonly servedPerSecond: number | null;
    }
  | { readonly verdict: 'could_not_tell'; readonly reason: Doubt }
);

/** After so many plays of one rate their majority decides: a rate on the very threshold is right either way. */
const MOST_PLAYS = 5;
/** Plays by which one verdict has to lead at the two rates that decide. */
const LEAD = 2;
const FAILED_SHARE = 0.01;
/** Growth so plain that a stage may end early: multiples of the threshold. */
const PLAIN = 4;

/** What is known of one rate. */
interface Tried {
  readonly perSecond: number;
  grows: number;
  steady: number;
  unclear: number;
  readonly excesses: number[];
}

export class CapacitySearch {
  readonly #options: CalibrationOptions;
  readonly #stages: JudgedStage[] = [];
  readonly #tried: Tried[] = [];
  #seconds = 0;
  #signal: Signal | undefined;
  #doubt: Doubt | undefined;

  constructor(options: CalibrationOptions) {
    this.#options = options;
  }

  /** Stages heard of, in order. */
  get stages(): readonly JudgedStage[] {
    return this.#stages;
  }

  /** The next stage to play, from rest; or the result. */
  next(): LoadStage | CalibrationResult {
    if (this.#doubt !== undefined) return this.#result(this.#doubt);
    const rate = this.#rate();
    if (typeof rate === 'string') return this.#result(rate);
    if (rate === undefined) return this.#result(undefined);
    const stage = this.#stage(rate);
    const { mostStages, mostSeconds } = this.#options;
    const over = this.#stages.length >= mostStages || this.#seconds + stage.seconds > mostSeconds;
    return over ? this.#result('out_of_time') : stage;
  }

  /** Whether growth is so plain that the stage may end here. `evidence`: what came of it so far. */
  enough(stage: LoadStage, evidence: StageEvidence): boolean {
    if (evidence.seconds - stage.settleSeconds < (stage.seconds - stage.settleSeconds) / 2) return false;
    const signal = this.#signal ?? 'waiting';
    const growth = growthOf(stage, evidence, signal, this.#options.grain);
    if (growth === undefined || growth.excess < PLAIN * growth.threshold) return false;
    return verdictOf(growth, this.#options.grain) === 'grows';
  }

  /** Takes what a stage of {@link next} showed. */
  hear(stage: LoadStage, evidence: StageEvidence): JudgedStage {
    const judged = this.#judge(stage, evidence);
    this.#stages.push(judged);
    this.#seconds += evidence.seconds;
    if (this.#doubt !== undefined) return judged;
    const known = this.#tried.find(({ perSecond }) => perSecond === stage.perSecond);
    const fresh = { perSecond: stage.perSecond, grows: 0, steady: 0, unclear: 0, excesses: [] };
    const tried: Tried = known ?? fresh;
    if (known === undefined) this.#tried.push(tried);
    tried[judged.verdict] += 1;
    tried.excesses.push(judged.growth?.excess ?? 0);
    if (noisy(tried, this.#options.grain)) this.#doubt = 'noise';
    return judged;
  }

  #judge(stage: LoadStage, evidence: StageEvidence): JudgedStage {
    const { grain } = this.#options;
    const failed = evidence.calls.filter(({ finishedMs }) => finishedMs === undefined).length;
    const gauge = growthOf(stage, evidence, 'waiting', grain);
    const bytes = growthOf(stage, evidence, 'first-byte', grain);
    const signal = this.#signal ?? (gauge === undefined ? 'first-byte' : 'waiting');
    const growth = signal === 'waiting' ? gauge : bytes;
    const verdict = growth === undefined ? 'unclear' : verdictOf(growth, grain);
    if (evidence.trouble !== undefined) this.#doubt = evidence.trouble;
    else if (failed > FAILED_SHARE * evidence.calls.length) this.#doubt = 'refused';
    else if (growth === undefined) this.#doubt = 'no_signal';
    else if (verdict === 'steady' && bytes !== undefined && plainly(bytes, grain)) {
      this.#doubt = 'gauge_not_credible';
    }
    if (growth !== undefined) this.#signal = signal;
    const { perSecond, settleSeconds, seed } = stage;
    return {
      perSecond,
      settleSeconds,
      seed,
      seconds: evidence.seconds,
      calls: evidence.calls.length,
      failed,
      signal: growth === undefined ? null : signal,
      growth: growth ?? null,
      verdict,
      servedPerSecond: servedWhenFull(stage, evidence) ?? null,
    };
  }

  /** The rate to play; undefined when Ĉ is found. A steady rate above a growing one counts for nothing. */
  #rate(): number | undefined | Doubt {
    const { firstPerSecond, lowestPerSecond, highestPerSecond, grain, coarse } = this.#options;
    const undecided = this.#tried.find((tried) => tried.grows === tried.steady);
    if (undecided !== undefined) return undecided.perSecond;
    if (this.#tried.length === 0) return firstPerSecond;
    const { lower, upper } = this.#bracket();
    if (upper === undefined) {
      const highest = lower?.perSecond ?? 0;
      return highest >= highestPerSecond ? 'never_grows' : Math.min(coarse * highest, highestPerSecond);
    }
    if (lower === undefined) {
      const lowest = upper.perSecond;
      return lowest <= lowestPerSecond ? 'grows_at_lowest' : Math.max(lowest / coarse, lowestPerSecond);
    }
    if (upper.perSecond > lower.perSecond * (1 + grain)) {
      return Math.sqrt(lower.perSecond * upper.perSecond);
    }
    return [lower, upper].find((tried) => !leads(tried))?.perSecond;
  }

  #bracket(): { readonly lower: Tried | undefined; readonly upper: Tried | undefined } {
    const byRate = this.#tried.toSorted((a, b) => a.perSecond - b.perSecond);
    const upper = byRate.find(({ grows, steady }) => grows > steady);
    const below = upper === undefined ? byRate : byRate.slice(0, byRate.indexOf(upper));
    return { lower: below.findLast(({ grows, steady }) => steady > grows), upper };
  }

  #stage(perSecond: number): LoadStage {
    const { settleSeconds, judgedSeconds: least, grain, seed } = this.#options;
    const judged = Math.max(least, judgedSeconds(perSecond, grain));
    return { perSecond, settleSeconds, seconds: settleSeconds + judged, seed: seed + this.#stages.length };
  }

  #result(doubt: Doubt | undefined): CalibrationResult {
    const told = { grain: this.#options.grain, stages: this.#stages, seconds: this.#seconds };
    if (doubt !== undefined) return { ...told, verdict: 'could_not_tell', reason: doubt };
    const { lower, upper } = this.#bracket();
    if (lower === undefined || upper === undefined || this.#signal === undefined) {
      return { ...told, verdict: 'could_not_tell', reason: 'no_signal' };
    }
    const full = this.#stages.filter(({ servedPerSecond }) => servedPerSecond !== null);
    const longest = full.reduce<JudgedStage | undefined>(
      (most, each) => (most === undefined || each.calls > most.calls ? each : most),
      undefined,
    );
    return {
      ...told,
      verdict: 'found',
      capacity: lower.perSecond,
      grows: upper.perSecond,
      signal: this.#signal,
      servedPerSecond: longest?.servedPerSecond ?? null,
    };
  }
}

function leads({ grows, steady, excesses }: Tried): boolean {
  return Math.abs(grows - steady) >= LEAD || excesses.length >= MOST_PLAYS;
}

/** Plays that cannot decide, or that lie further apart than the grain. */
function noisy({ grows, steady, unclear, excesses }: Tried, grain: number): boolean {
  if (excesses.length < MOST_PLAYS || Math.abs(grows - steady) >= LEAD) return false;
  if (grows === steady || unclear >= LEAD) return true;
  const mean = excesses.reduce((sum, excess) => sum + excess, 0) / excesses.length;
  const squares = excesses.reduce((sum, excess) => sum + (excess - mean) ** 2, 0);
  return Math.sqrt(squares / (excesses.length - 1)) > grain;
}

function plainly(growth: Growth, grain: number): boolean {
  return growth.excess >= PLAIN * growth.threshold && verdictOf(growth, grain) === 'grows';
}
