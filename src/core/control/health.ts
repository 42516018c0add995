/** How one engine has been doing, by what its executions met: open, at rest, or trying itself out again. */

import type { Execution } from './call.js';
import type { HealthOptions } from './options.js';
import type { Failure } from './words.js';

/** So many connections broken in a row, and no answer between them, make an engine rest. */
const BREAKS_TO_REST = 3;
/** Whoever says nothing for this long has taken the work: a refusal is quick, milliseconds. */
const SILENT_PROOF_MS = 1_000;
/** An engine that has rested may have one execution unproven, and one more for each that was; after so many, any. */
const PROOFS_TO_TRUST = 16;
/** Away for no longer than this was a blip, after which its share is whole at once, milliseconds. */
const BLIP_MS = 2_000;
/** What an engine's share begins at when it comes back. */
const LEAST_SHARE = 0.1;

export class Health {
  readonly #options: () => HealthOptions;
  /** Rests since the last proof. */
  #rests = 0;
  #restsUntil = 0;
  #awaySince = 0;
  /** When it came back from more than a blip; its share grows from then on. */
  #backAt = Number.NEGATIVE_INFINITY;
  #breaks = 0;
  /** Proofs since the last rest; Infinity: trusted. */
  #proofs = Number.POSITIVE_INFINITY;
  /** What was started since the last rest and has shown nothing yet, with the moment when silence is proof. */
  readonly #unproven = new Map<Execution, number>();
  /** Executions that were started to see whether the engine is back. */
  probes = 0;

  /** `options` are asked each time, since they may change. */
  constructor(options: () => HealthOptions) {
    this.#options = options;
  }

  /** Nothing may be started before it is over. */
  get restsUntil(): number {
    return this.#restsUntil;
  }

  /** It has rested, and nothing has shown since that it is back. */
  get away(): boolean {
    return this.#rests > 0;
  }

  /** Whether one more execution may be started. */
  opensTo(now: number): boolean {
    return (
      now >= this.#restsUntil && (this.#proofs >= PROOFS_TO_TRUST || this.#unproven.size <= this.#proofs)
    );
  }

  /** The part of its room that it is given at `now`, (0, 1]. */
  share(now: number): number {
    const { slowStartMs } = this.#options();
    const since = now - this.#backAt;
    return since >= slowStartMs ? 1 : Math.max(LEAST_SHARE, since / slowStartMs);
  }

  /** The next moment at which time alone changes anything, after `now`; Infinity when none will. */
  nextAt(now: number): number {
    let at = this.#restsUntil > now ? this.#restsUntil : Number.POSITIVE_INFINITY;
    for (const provenAt of this.#unproven.values()) at = Math.min(at, provenAt);
    return at;
  }

  started(execution: Execution, now: number): void {
    if (this.#proofs >= PROOFS_TO_TRUST) return;
    if (this.away) this.probes += 1;
    this.#unproven.set(execution, now + SILENT_PROOF_MS);
  }

  /** The engine answered, or took the work; true when that brings it back. */
  proved(execution: Execution, now: number): boolean {
    if (!this.#unproven.delete(execution)) return false;
    this.#proofs += 1;
    if (!this.away) return false;
    this.#rests = 0;
    if (now - this.#awaySince > BLIP_MS) this.#backAt = now;
    return true;
  }

  /** A whole answer came. */
  finished(): void {
    this.#breaks = 0;
  }

  /** Silence that has lasted long enough by `now` is a proof; true when it brings the engine back. */
  passTime(now: number): boolean {
    let back = false;
    for (const [execution, provenAt] of this.#unproven) {
      if (provenAt <= now) back = this.proved(execution, now) || back;
    }
    return back;
  }

  /** The execution is over without having shown anything. */
  ended(execution: Execution): void {
    this.#unproven.delete(execution);
  }

  /**
   * An execution failed at `now`. Returns for how many milliseconds the engine rests from now on, when this made it
   * rest; one that rests already is not made to rest longer by what it had been given before.
   */
  failed(
    execution: Execution,
    failure: Failure,
    retryAfterMs: number | undefined,
    now: number,
  ): number | undefined {
    const probe = this.#unproven.delete(execution);
    const broke = failure === 'reset' || failure === 'truncated' || failure === 'malformed';
    if (broke) this.#breaks += 1;
    const bad =
      failure === 'refused' ||
      failure === 'unavailable' ||
      (broke && (probe || this.#breaks >= BREAKS_TO_REST));
    if (!bad || now < this.#restsUntil) return undefined;
    const { restMs, longestRestMs } = this.#options();
    const doubled = Math.min(longestRestMs, restMs * 2 ** Math.min(30, this.#rests));
    const told =
      retryAfterMs === undefined ? undefined : Math.min(longestRestMs, Math.max(restMs, retryAfterMs));
    if (!this.away) this.#awaySince = now;
    this.#rests += 1;
    this.#breaks = 0;
    this.#proofs = 0;
    this.#unproven.clear();
    this.#restsUntil = now + (told ?? doubled);
    return this.#restsUntil - now;
  }
}
