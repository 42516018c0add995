/** Reads what each engine says of its own load, every so often: how many requests run in it and how many wait. */

import type { Pool } from 'undici';
import type { EngineLoad } from '../../core/control/engine-load.js';
import { readExposition } from '../../core/meter/exposition.js';
import type { Cancel, Clock } from '../../core/time/clock.js';
import { boundedBody } from '../shared/bounded-body.js';

export interface GaugedEngine {
  readonly name: string;
  readonly url: string;
  readonly pool: Pool;
}

export interface GaugeParts {
  /** The connections of each engine; its meter is `/metrics` at the root of that server, whatever path its API has. */
  readonly engines: readonly GaugedEngine[];
  readonly clock: Clock;
  /** From the end of one look to the next, milliseconds of the clock. */
  readonly everyMs: () => number;
  /** A look that takes longer is a miss, milliseconds of the wall clock. */
  readonly patienceMs?: number;
  readonly saw: (engine: string, gauges: EngineLoad) => void;
  /** Nothing could be read, or not what is asked for; `why` is for the log. */
  readonly missed: (engine: string, why: string) => void;
}

const PATIENCE_MS = 2_000;
const LARGEST_METER_BYTES = 8 * 1024 * 1024;
const RUNNING = 'vllm:num_requests_running';
const WAITING = 'vllm:num_requests_waiting';

export class GaugeWatch {
  readonly #parts: GaugeParts;
  readonly #timers = new Map<string, Cancel>();
  readonly #closing = new AbortController();

  constructor(parts: GaugeParts) {
    this.#parts = parts;
  }

  /** Looks at once, and then again and again; a slow meter is asked less often, never twice at once. */
  begin(): void {
    for (const engine of this.#parts.engines) void this.#look(engine);
  }

  /** Says nothing any more. */
  close(): void {
    this.#closing.abort();
    for (const cancel of this.#timers.values()) cancel();
  }

  async #look(engine: GaugedEngine): Promise<void> {
    const { name } = engine;
    const seen = await this.#read(engine);
    if (this.#closing.signal.aborted) return;
    const again = this.#parts.clock.after(this.#parts.everyMs(), () => void this.#look(engine));
    this.#timers.set(name, again);
    if (typeof seen === 'string') this.#parts.missed(name, seen);
    else this.#parts.saw(name, seen);
  }

  async #read({ pool, url: at }: GaugedEngine): Promise<EngineLoad | string> {
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
        return `${url} answered ${statusCode}`;
      }
      const bytes = await boundedBody(body, LARGEST_METER_BYTES);
      if (bytes === undefined) return `${url} has more than ${LARGEST_METER_BYTES} bytes`;
      return gaugesOf(bytes.toString('utf8')) ?? `${url} has no ${RUNNING} and ${WAITING}`;
    } catch (error) {
      return `${url} could not be read: ${error instanceof Error ? error.message : String(error)}`;
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
