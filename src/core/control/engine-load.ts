/** Room `engine`: how many executions keep an engine's own queue short, by gauges that may be old, foreign or wrong. */

/** What an engine says of its load, after a step that it has finished. */
export interface EngineLoad {
  readonly running: number;
  readonly waiting: number;
}

/** What the control itself has at the engine. */
export interface HeldThere {
  readonly used: number;
  /** Streams that have shown their first byte: they run, whatever a gauge says. */
  readonly showing: number;
}

/** `unread`: nothing was read yet; `absent`: nothing can be read; `wrong`: it disagrees with what is there. */
export type GaugeTrust = 'unread' | 'trusted' | 'absent' | 'wrong';

/** An execution that was sent so long ago is in the gauges of any step that ended since, milliseconds. */
const SEEN_AFTER_MS = 1_000;
/** A disagreement or an agreement that lasts so long is believed, milliseconds. */
const BELIEVED_AFTER_MS = 5_000;
/** From so many times the target on what is held is load enough to tell the engine's gauges from half of them. */
const TELLING = 4;
/** Looks in a row that read nothing, until what was read before is too old. */
const MOST_MISSES = 3;
/** Share of what is held by which a gauge may be lower beyond the target, before it is wrong even while it moves. */
const SLACK = 0.1;
/** The most that may be started between two looks beyond what ends. */
const MOST_STEP = 256;
/** An engine in which nobody has waited for so long, and before which nobody has, is not full, milliseconds. */
const CALM_MS = 10_000;
/** As many may be started at once on such an engine: nobody should wait for a look at an engine that idles. */
const CALM_STEP = 32;
/** Without gauges an engine that was seen full gets so many times what it ran then. */
const BLIND_SHARE = 2;

export class GaugedRoom {
  /** Executions that the engine may hold; Infinity: no limit is known. */
  limit = Number.POSITIVE_INFINITY;
  trust: GaugeTrust = 'unread';
  /** Of what is held, what was taken to wait in the engine at the last look. */
  waiting = 0;
  #step = 0;
  #misses = 0;
  /** Most that ran while the gauges showed others waiting: what fills the batch. */
  #fullAt = 0;
  /** Most that ran. */
  #ranAt = 0;
  /** When somebody last waited, in the engine or for its room. */
  #strainedAt = Number.NEGATIVE_INFINITY;
  #last: EngineLoad | undefined;
  #disagreesSince: number | undefined;
  #agreesSince: number | undefined;
  /** Since when they have agreed under load, and whether that was long enough to believe what they lack as well. */
  #provesSince: number | undefined;
  #proven = false;
  /** When the gauges last moved. */
  #movedAt = 0;
  /** Executions held and the time they were sent, oldest first: those that a gauge need not show yet. */
  readonly #young = new Map<object, number>();
  /** Most held at once since the last turn, and between the two before. */
  #peak = 0;
  #peakBefore = 0;
  #turnedAt = 0;

  /** Whether its gauges were ever read. */
  get seen(): boolean {
    return this.#last !== undefined;
  }

  took(execution: object, used: number, now: number): void {
    this.#young.set(execution, now);
    this.#age(now);
    this.#peak = Math.max(this.#peak, used);
  }

  released(execution: object): void {
    this.#young.delete(execution);
  }

  /** The engine's gauges were read, or could not be. `target`: how many may wait in the engine. */
  read(load: EngineLoad | undefined, held: HeldThere, target: number, now: number): void {
    this.#age(now);
    if (load === undefined) return this.#missed(held);
    this.#misses = 0;
    const settled = held.used - this.#young.size;
    const moved = load.running !== this.#last?.running || load.waiting !== this.#last.waiting;
    if (moved || this.#last === undefined) this.#movedAt = now;
    this.#last = load;
    this.#weigh(load, settled, target, now);
    if (this.trust === 'wrong') return this.#goBlind();
    this.#follow(load, settled, held, target, now);
    this.#turn(held.used, now);
  }

  #missed({ used }: HeldThere): void {
    this.#misses += 1;
    if (this.trust === 'trusted' && this.#misses < MOST_MISSES) return;
    this.trust = 'absent';
    this.#agreesSince = undefined;
    this.#disagreesSince = undefined;
    this.#goBlind();
    this.#peak = used;
  }

  /** No worse than no room at all, and no endless queue where it is known what fills the engine. */
  #goBlind(): void {
    this.#proven = false;
    this.limit = this.#fullAt > 0 ? BLIND_SHARE * this.#fullAt : Number.POSITIVE_INFINITY;
    this.#step = 0;
  }

  /** The engine may have more than what was sent from here, but not less, save for the newest. */
  #weigh({ running, waiting }: EngineLoad, settled: number, target: number, now: number): void {
    const short = settled - (running + waiting);
    const stuck = now - this.#movedAt >= BELIEVED_AFTER_MS;
    const disagrees = short > target + SLACK * settled || (short > 0 && stuck);
    if (disagrees) {
      this.#agreesSince = undefined;
      this.#provesSince = undefined;
      this.#disagreesSince ??= now;
      if (now - this.#disagreesSince >= BELIEVED_AFTER_MS || stuck) this.trust = 'wrong';
    } else {
      this.#disagreesSince = undefined;
      this.#agreesSince ??= now;
    }
    if (!disagrees && settled >= TELLING * target) {
      this.#provesSince ??= now;
      this.#proven ||= now - this.#provesSince >= BELIEVED_AFTER_MS;
    }
    const agrees = this.#agreesSince !== undefined && now - this.#agreesSince >= BELIEVED_AFTER_MS;
    const again = this.trust === 'wrong' ? agrees && !stuck : !disagrees;
    if (again) this.trust = 'trusted';
  }

  #follow(load: EngineLoad, settled: number, held: HeldThere, target: number, now: number): void {
    const { running, waiting } = load;
    const { used, showing } = held;
    // Whatever has been there for a while and does not run must wait, if these are the gauges of all that was sent.
    const least = this.#proven ? Math.max(0, settled - Math.max(running, showing)) : 0;
    // More than there ever was from here is others'.
    const strangers = running + waiting > Math.max(this.#peak, this.#peakBefore, used);
    this.waiting = Math.min(used, strangers ? least : Math.max(waiting, least));
    if (waiting > 0 && !strangers) this.#fullAt = Math.max(this.#fullAt, Math.min(running, used));
    this.#ranAt = Math.max(this.#ranAt, Math.min(running, used));
    const exhausted = used >= this.limit;
    if (this.waiting > 0 || exhausted) this.#strainedAt = now;
    if (this.waiting > 0) {
      this.#step = this.waiting > target ? Math.max(target, this.#step / 2) : this.#step;
      this.limit = Math.max(1, used - this.waiting + target);
      return;
    }
    const calm = now - this.#strainedAt >= CALM_MS;
    const leastStep = calm ? Math.max(target, CALM_STEP) : target;
    this.#step = Math.min(MOST_STEP, Math.max(leastStep, exhausted ? 2 * this.#step : this.#step));
    this.limit = Math.max(used + this.#step, calm ? this.#ranAt : 0);
  }

  /** Forgets the moments of those that every gauge shows by now. */
  #age(now: number): void {
    for (const [execution, at] of this.#young) {
      if (now - at < SEEN_AFTER_MS) return;
      this.#young.delete(execution);
    }
  }

  #turn(used: number, now: number): void {
    if (now - this.#turnedAt < SEEN_AFTER_MS) return;
    this.#turnedAt = now;
    this.#peakBefore = this.#peak;
    this.#peak = used;
  }
}
