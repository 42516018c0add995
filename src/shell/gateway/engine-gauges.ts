/** Reads what each engine says of its own load, every so often: how many requests run in it and how many wait. */

import { Agent, request } from 'undici';
import { readExposition } from '../../core/meter/exposition.js';
import type { Cancel, Clock } from '../../core/time/clock.js';
import { boundedBody } from '../shared/bounded-body.js';

/** An engine's load by its own gauges, its data-parallel ranks together. */
export interface EngineGauges {
  readonly running: number;
  readonly waiting: number;
}

export interface GaugeParts {
  /** Where each engine serves; its meter is `/metrics` at the root of that server, whatever path its API has. */
  readonly engines: readonly { readonly name: string; readonly url: string }[];
  readonly clock: Clock;
  /** From the end of one look to the next, milliseconds of the clock. */
  readonly everyMs: number;
  /** A look that takes longer is a miss, milliseconds of the wall clock. */
  readonly patienceMs?: number;
  readonly saw: (engine: string, gauges: EngineGauges) => void;
  /** Nothing could be read, or not what is asked for; `why` is for the log. */
  readonly missed: (engine: string, why: string) => void;
}

const PATIENCE_MS = 2_000;
const LARGEST_METER_BYTES = 8 * 1024 * 1024;
/** vLLM's server closes an idle connection after 5 s. */
const KEEP_ALIVE_MS = 4_000;
const RUNNING = 'vllm:num_requests_running';
const WAITING = 'vllm:num_requests_waiting';

export class GaugeWatch {
  readonly #parts: GaugeParts;
  readonly #agent: Agent;
  readonly #timers = new Map<string, Cancel>();
  #closed = false;

  constructor(parts: GaugeParts) {
    this.#parts = parts;
    const timeout = parts.patienceMs ?? PATIENCE_MS;
    this.#agent = new Agent({
      connections: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      headersTimeout: timeout,
      bodyTimeout: timeout,
      connect: { timeout },
    });
  }

  /** Looks at once, and then again and again; a slow meter is asked less often, never twice at once. */
  begin(): void {
    for (const { name, url } of this.#parts.engines) void this.#look(name, new URL('/metrics', url).href);
  }

  /** Says nothing any more, and lets its connections go. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const cancel of this.#timers.values()) cancel();
    await this.#agent.destroy();
  }

  async #look(name: string, url: string): Promise<void> {
    const seen = await this.#read(url);
    if (this.#closed) return;
    const again = this.#parts.clock.after(this.#parts.everyMs, () => void this.#look(name, url));
    this.#timers.set(name, again);
    if (typeof seen === 'string') this.#parts.missed(name, seen);
    else this.#parts.saw(name, seen);
  }

  async #read(url: string): Promise<EngineGauges | string> {
    try {
      const signal = AbortSignal.timeout(this.#parts.patienceMs ?? PATIENCE_MS);
      const { statusCode, body } = await request(url, { dispatcher: this.#agent, signal });
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
export function gaugesOf(text: string): EngineGauges | undefined {
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
  return value !== undefined && Number.isFinite(value) && value >= 0;
}
