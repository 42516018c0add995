/** The reference model's rooms by gauges: what an engine may hold, told anew from everything that ever happened to it. */

import type { EngineLoad, GaugeTrust } from '../../src/core/control/engine-load.js';

/** Something was started on the engine, which then held so many; or its gauges were read, or could not be. */
export type Happening =
  | { readonly kind: 'started'; readonly held: number }
  | {
      readonly kind: 'look';
      readonly at: number;
      readonly load: EngineLoad | undefined;
      /** What it held, what of it for a second at least, and what of it has shown that it runs. */
      readonly held: number;
      readonly settled: number;
      readonly shown: number;
    };

type Look = Extract<Happening, { kind: 'look' }>;

/** What is to be thought of the engine. */
export interface Judgement {
  readonly limit: number;
  readonly trust: GaugeTrust;
  readonly seen: boolean;
}

const PATIENCE_MS = 5_000;
const CALM_MS = 10_000;

/** `target`: how many may wait in the engine. */
export function judge(happened: readonly Happening[], target: number): Judgement {
  const story = new Story(target);
  for (const each of happened) {
    if (each.kind === 'started') story.peaks[0] = Math.max(story.peaks[0], each.held);
    else if (each.load === undefined) story.missed(each);
    else story.seen(each, each.load);
  }
  const { limit, trust, last } = story;
  return { limit, trust, seen: last !== undefined };
}

class Story {
  limit = Number.POSITIVE_INFINITY;
  trust: GaugeTrust = 'unread';
  last: EngineLoad | undefined;
  /** Most held since about a second ago, and in the second before. */
  readonly peaks: [now: number, before: number] = [0, 0];
  readonly #target: number;
  #step = 0;
  #inVain = 0;
  /** Most that ran while others waited, and at all. */
  #full = 0;
  #ran = 0;
  #turnedAt = 0;
  #movedAt = 0;
  #restlessAt = Number.NEGATIVE_INFINITY;
  /** Under load they have said what can be since then, and for long enough that they must be of all that is held. */
  #provenFrom: number | undefined;
  #proven = false;
  /** Since when the gauges say what can be, or what cannot. */
  #since: { readonly fits: boolean; readonly at: number } | undefined;

  constructor(target: number) {
    this.#target = target;
  }

  missed({ held }: Look): void {
    this.#inVain += 1;
    if (this.trust === 'trusted' && this.#inVain < 3) return;
    this.trust = 'absent';
    this.#since = undefined;
    this.#goBlind();
    this.peaks[0] = held;
  }

  seen(look: Look, load: EngineLoad): void {
    const { at, held } = look;
    this.#inVain = 0;
    if (this.last === undefined || this.last.running !== load.running || this.last.waiting !== load.waiting)
      this.#movedAt = at;
    this.last = load;
    this.#believe(look, load);
    if (this.trust === 'wrong') return this.#goBlind();
    this.#size(look, load);
    if (at - this.#turnedAt < 1_000) return;
    this.#turnedAt = at;
    this.peaks[1] = this.peaks[0];
    this.peaks[0] = held;
  }

  #goBlind(): void {
    this.limit = this.#full === 0 ? Number.POSITIVE_INFINITY : 2 * this.#full;
    this.#step = 0;
    this.#proven = false;
  }

  #believe({ at, settled }: Look, { running, waiting }: EngineLoad): void {
    const lacks = settled - running - waiting;
    const still = at - this.#movedAt >= PATIENCE_MS;
    const fits = lacks <= this.#target + settled / 10 && (lacks <= 0 || !still);
    if (this.#since?.fits !== fits) this.#since = { fits, at };
    if (!fits) this.#provenFrom = undefined;
    else if (settled >= 4 * this.#target) {
      this.#provenFrom ??= at;
      if (at - this.#provenFrom >= PATIENCE_MS) this.#proven = true;
    }
    const lasts = at - this.#since.at >= PATIENCE_MS;
    if (!fits && (lasts || still)) this.trust = 'wrong';
    else if (fits && (this.trust !== 'wrong' || (lasts && !still))) this.trust = 'trusted';
  }

  #size({ at, held, settled, shown }: Look, { running, waiting }: EngineLoad): void {
    const surely = this.#proven ? Math.max(0, settled - Math.max(running, shown)) : 0;
    const foreign = running + waiting > Math.max(...this.peaks, held);
    const wait = Math.min(held, foreign ? surely : Math.max(surely, waiting));
    if (waiting > 0 && !foreign) this.#full = Math.max(this.#full, Math.min(held, running));
    this.#ran = Math.max(this.#ran, Math.min(held, running));
    const usedUp = held >= this.limit;
    if (wait > 0 || usedUp) this.#restlessAt = at;
    if (wait > 0) {
      if (wait > this.#target) this.#step = Math.max(this.#target, this.#step / 2);
      this.limit = Math.max(1, held - wait + this.#target);
      return;
    }
    const calm = at - this.#restlessAt >= CALM_MS;
    const grown = usedUp ? this.#step * 2 : this.#step;
    this.#step = Math.min(256, Math.max(grown, this.#target, calm ? 32 : 0));
    this.limit = Math.max(held + this.#step, calm ? this.#ran : 0);
  }
}
