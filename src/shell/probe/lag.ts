/** How far the generator itself is behind: what it does late is no fault of the server's. */

import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { quantile } from '../../core/drill/outcome.js';
import type { GeneratorLag, Quantiles } from '../../core/drill/run.js';

/** How often the event loop is looked at, milliseconds. */
const RESOLUTION_MS = 5;

/** Of the wall clock: how late 99 % of the attempts may at most be handed to their sockets, unless a bound is stated. */
export const LATEST_SEND_MS = 50;
/** Of the plan: how late 99 % of the sends, and of the looks at the event loop, may at most be. */
export const MOST_LAG_SECONDS = 0.2;

export class LagMeter {
  readonly #loop: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  readonly #sends: number[] = [];

  constructor() {
    this.#loop.enable();
  }

  sentLate(ms: number): void {
    this.#sends.push(ms);
  }

  /** Ends the measurement. */
  stop(): GeneratorLag {
    this.#loop.disable();
    const sends = this.#sends.toSorted((a, b) => a - b);
    const most = sends.at(-1) ?? 0;
    const loop = (ms: number): number => rounded(Math.max(0, ms / 1e6 - RESOLUTION_MS));
    const send = (q: number): number => rounded(sends.length === 0 ? 0 : quantile(sends, q));
    const loopMs: Quantiles =
      this.#loop.count === 0
        ? { p50: 0, p99: 0, most: 0 }
        : {
            p50: loop(this.#loop.percentile(50)),
            p99: loop(this.#loop.percentile(99)),
            most: loop(this.#loop.max),
          };
    return { sendMs: { p50: send(0.5), p99: send(0.99), most: rounded(most) }, loopMs };
  }
}

/**
 * Why a run with this lag proves nothing, in sentences; none where the generator kept up. `mostLagSeconds`: the bound
 * in seconds of the plan, in place of the two above.
 */
export function invalidBy(
  { sendMs, loopMs }: GeneratorLag,
  timeScale: number,
  mostLagSeconds?: number,
): readonly string[] {
  const loopBoundMs = ((mostLagSeconds ?? MOST_LAG_SECONDS) * 1_000) / timeScale;
  const sendBoundMs = mostLagSeconds === undefined ? Math.min(LATEST_SEND_MS, loopBoundMs) : loopBoundMs;
  const said: string[] = [];
  if (sendMs.p99 > sendBoundMs) {
    said.push(
      `the generator fell behind: 1 % of the attempts went out ${sendMs.p99} ms late or more, above ${rounded(sendBoundMs)} ms`,
    );
  }
  if (loopMs.p99 > loopBoundMs) {
    said.push(
      `the generator fell behind: 1 % of the time its event loop was ${loopMs.p99} ms late or more, above ${rounded(loopBoundMs)} ms`,
    );
  }
  return said;
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
