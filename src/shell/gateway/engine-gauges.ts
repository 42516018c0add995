/** Reads what an engine says of its own load, every so often: how many requests run in it and how many wait. */

import type { Pool } from 'undici';
import type { EngineLoad } from '../../core/control/engine-load.js';
import { readExposition } from '../../core/meter/exposition.js';
import type { Cancel, Clock } from '../../core/time/clock.js';
import { boundedBody } from '../shared/bounded-body.js';

/** Nothing was read. */
export interface Miss {
  /** For the log. */
  readonly why: string;
  /** It was reached and works, and what it said is not what is asked for. */
  readonly answers: boolean;
}

export interface GaugeParts {
  /** The engine's connections; its meter is `/metrics` at the root of that server, whatever path its API has. */
  readonly engine: { readonly url: string; readonly pool: Pool };
  readonly clock: Clock;
  /** From the end of one look to the next, milliseconds of the clock; asked after each. */
  readonly everyMs: () => number;
  /** A look that takes longer is a miss, milliseconds of the wall clock. */
  readonly patienceMs?: number;
  readonly saw: (gauges: EngineLoad) => void;
  readonly missed: (miss: Miss) => void;
}

const PATIENCE_MS = 2_000;
const LARGEST_METER_BYTES = 8 * 1024 * 1024;
const RUNNING = 'vllm:num_requests_running';
const WAITING = 'vllm:num_requests_waiting';
/** Whoever answers so, or above, is not working, or stands before an engine that is not. */
const SERVER_ERROR = 500;

export class GaugeWatch {
  readonly #parts: GaugeParts;
  #timer: Cancel | undefined;
  readonly #closing = new AbortController();

  constructor(parts: GaugeParts) {
    this.#parts = parts;
  }

  /** Looks at once, and then again and again; a slow meter is asked less often, never twice at once. */
  begin(): void {
    void this.#look();
  }

  /** Says nothing any more. */
  close(): void {
    this.#closing.abort();
    this.#timer?.();
  }

  async #look(): Promise<void> {
    const { saw, missed, clock, everyMs } = this.#parts;
    const { signal } = this.#closing;
    const seen = await this.#read();
    if (signal.aborted) return;
    if ('why' in seen) missed(seen);
    else saw(seen);
    // What was seen may have closed it.
    if (!signal.aborted) this.#timer = clock.after(everyMs(), () => void this.#look());
  }

  async #read(): Promise<EngineLoad | Miss> {
    const { pool, url: at } = this.#parts.engine;
    const url = new URL('/metrics', at).href;
    const timeout = this.#parts.patienceMs ?? PATIENCE_MS;
    try {
      const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(timeout)]);
      const { statusCode, body } = await pool.request({
        path: '/metrics',
        method: 'GET',
        signal,
        headersTimeout: timeout,
        bodyTimeout: timeout,
      });
      if (statusCode !== 200) {
        await body.dump();
        return { why: `${url} answered ${statusCode}`, answers: statusCode < SERVER_ERROR };
      }
      const bytes = await boundedBody(body, LARGEST_METER_BYTES);
      if (bytes === undefined)
        return { why: `${url} has more than ${LARGEST_METER_BYTES} bytes`, answers: true };
      const gauges = gaugesOf(bytes.toString('utf8'));
      return gauges ?? { why: `${url} has no ${RUNNING} and ${WAITING}`, answers: true };
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error);
      return { why: `${url} could not be read: ${said}`, answers: false };
    }
  }
}

/** The gauges in a meter's text, each summed over its series; undefined unless both are there and are counts. */
export function gaugesOf(text: string): EngineLoad | undefined {
  const wanted = text.split('\n').filter((line) => line.startsWith(RUNNING) || line.startsWith(WAITING));
  const families = readExposition(wanted.join('\n'));
  const sum = (name: string): number | undefined => {
    const values = families.flatMap(({ samples }) => samples.filter((each) => each.name === name));
    return values.length === 0 ? undefined : values.reduce((total, { value }) => total + value, 0);
  };
  const running = sum(RUNNING);
  const waiting = sum(WAITING);
  return isCount(running) && isCount(waiting) ? { running, waiting } : undefined;
}

function isCount(value: number | undefined): value is number {
  return value !== undefined && Number.isInteger(value) && value >= 0;
}
