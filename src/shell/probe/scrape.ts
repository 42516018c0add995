/** Reads what engine and gateway say of themselves, once a second of the plan, on connections of its own. */

import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { Sample } from '../../core/drill/record.js';
import { type Family, readExposition } from '../../core/meter/exposition.js';
import type { Cancel, Clock } from '../../core/time/clock.js';
import { boundedBody } from '../shared/bounded-body.js';

/** Seconds of the plan between two looks, and the least time between them on the wall. */
const EVERY_MS = 1_000;
const LEAST_WALL_MS = 50;
/** A meter that takes longer is passed over this time, milliseconds of the wall clock. */
const PATIENCE_MS = 2_000;
/** Looks at the end of a run, while a counter still moves. */
const MOST_LAST_LOOKS = 20;
const LARGEST_METER_BYTES = 8 * 1024 * 1024;
/** Samples that are kept; a run longer than that is seen at its beginning only. */
const MOST_SAMPLES = 500_000;

/** The families that are read, and where each goes; `sum`: over labels and engines, `mean`: over engines. */
const FIELDS: readonly (readonly [name: string, field: keyof Sample, over: 'sum' | 'mean'])[] = [
  ['vllm:num_requests_running', 'running', 'sum'],
  ['vllm:num_requests_waiting', 'waiting', 'sum'],
  ['vllm:kv_cache_usage_perc', 'kvCacheUsage', 'mean'],
  ['vllm:prompt_tokens_total', 'promptTokens', 'sum'],
  ['vllm:prefix_cache_queries_total', 'prefixCacheQueries', 'sum'],
  ['vllm:prefix_cache_hits_total', 'prefixCacheHits', 'sum'],
  ['vllm:generation_tokens_total', 'generationTokens', 'sum'],
  ['holdfast_line_entries', 'line', 'sum'],
  ['twin_computed_prompt_tokens_total', 'computedPromptTokens', 'sum'],
  ['twin_hidden_prompt_tokens_total', 'hiddenPromptTokens', 'sum'],
  ['twin_executions_received_total', 'executionsCreated', 'sum'],
  ['twin_executions_finished_total', 'executionsFinished', 'sum'],
  ['twin_executions_aborted_total', 'executionsAborted', 'sum'],
];
/** The gateway's own count, where no engine tells its. */
const GATEWAY_EXECUTIONS = 'holdfast_executions_total';
const WANTED = new Set([...FIELDS.map(([name]) => name), GATEWAY_EXECUTIONS]);

/** Counters whose rise over a run is asked for. */
const RISING = {
  engineExecutions: 'twin_executions_received_total',
  gatewayExecutions: GATEWAY_EXECUTIONS,
  prefixCacheQueries: 'vllm:prefix_cache_queries_total',
} as const;
export type RisingCounter = keyof typeof RISING;

export class Scraper {
  readonly samples: Sample[] = [];
  readonly #meters: readonly string[];
  readonly #agent = new Agent({
    headersTimeout: PATIENCE_MS,
    bodyTimeout: PATIENCE_MS,
    connect: { timeout: PATIENCE_MS },
  });
  /** Meters that have answered; a sum without one of them would be no sum. */
  readonly #answered = new Set<string>();
  readonly #rises = new Map<string, { last: number; rise: number }>();
  #timer: Cancel | undefined;
  #looking: Promise<void> = Promise.resolve();
  #stopped = false;

  /** Each of `urls` has a `/metrics`, or has none, which is fine. */
  constructor(urls: readonly URL[]) {
    this.#meters = [...new Set(urls.map(meterOf))];
  }

  /** The sample that all rises count from: the run has not begun. */
  async first(): Promise<void> {
    await this.#take(0);
  }

  /** One sample a second of the plan, `timeScale` of which pass in a second of the wall clock, until {@link stop}. */
  begin(clock: Clock, timeScale: number): void {
    const everyMs = Math.max(EVERY_MS, LEAST_WALL_MS * timeScale);
    const look = async (): Promise<void> => {
      await this.#take(clock.now());
      // The next look waits for this one: a slow meter is asked less often, never twice at once.
      if (!this.#stopped) arm();
    };
    const arm = (): void => {
      this.#timer = clock.after(everyMs, () => {
        this.#looking = look();
      });
    };
    arm();
  }

  /**
   * Takes the last sample, once the counters stand still: a busy server reads its last requests after their clients
   * have left. Lets its connections go.
   */
  async stop(now: () => number): Promise<void> {
    this.#stopped = true;
    this.#timer?.();
    await this.#looking;
    for (let look = 0, before = ''; look < MOST_LAST_LOOKS; look += 1) {
      if (look > 0) await sleep(LEAST_WALL_MS);
      await this.#take(now());
      const said = JSON.stringify([...this.#rises]);
      if (said === before) break;
      before = said;
    }
    await this.#agent.destroy();
  }

  /** How much a counter rose over the run, all meters together; undefined where none has it. */
  rise(counter: RisingCounter): number | undefined {
    const rises = this.#meters.flatMap((url) => this.#rises.get(`${url} ${RISING[counter]}`)?.rise ?? []);
    return rises.length === 0 ? undefined : rises.reduce((sum, rise) => sum + rise, 0);
  }

  async #take(atMs: number): Promise<void> {
    if (this.samples.length >= MOST_SAMPLES) return;
    const read = await Promise.all(this.#meters.map((url) => this.#read(url)));
    const meters: (readonly Family[])[] = [];
    for (const [at, url] of this.#meters.entries()) {
      const families = read[at];
      if (families === undefined) continue;
      this.#answered.add(url);
      this.#follow(url, families);
      meters.push(families);
    }
    if (meters.length > 0 && meters.length === this.#answered.size) this.samples.push(sampleOf(atMs, meters));
  }

  /** A counter that fell began anew: its server was started again. */
  #follow(url: string, families: readonly Family[]): void {
    for (const name of Object.values(RISING)) {
      const values = valuesOf(families, name);
      if (values.length === 0) continue;
      const value = sumOf(values);
      const known = this.#rises.get(`${url} ${name}`) ?? { last: value, rise: 0 };
      const rise = known.rise + (value < known.last ? value : value - known.last);
      this.#rises.set(`${url} ${name}`, { last: value, rise });
    }
  }

  /** Undefined where there is no meter now. */
  async #read(url: string): Promise<readonly Family[] | undefined> {
    try {
      const { statusCode, body } = await request(url, {
        dispatcher: this.#agent,
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      if (statusCode !== 200) {
        await body.dump();
        return undefined;
      }
      const bytes = await boundedBody(body, LARGEST_METER_BYTES);
      return bytes === undefined ? undefined : readExposition(wantedLines(bytes.toString('utf8')));
    } catch {
      return undefined;
    }
  }
}

/** One moment's sample from the families of all meters. */
export function sampleOf(atMs: number, meters: readonly (readonly Family[])[]): Sample {
  const values: Record<string, number> = {};
  for (const [name, field, over] of FIELDS) {
    const found = meters.flatMap((families) => valuesOf(families, name));
    if (found.length > 0) values[field] = over === 'sum' ? sumOf(found) : sumOf(found) / found.length;
  }
  const gateways = meters.flatMap((families) => valuesOf(families, GATEWAY_EXECUTIONS));
  if (values['executionsCreated'] === undefined && gateways.length > 0) {
    values['executionsCreated'] = sumOf(gateways);
  }
  return { atMs, ...values };
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function valuesOf(families: readonly Family[], name: string): readonly number[] {
  return families.flatMap(({ samples }) =>
    samples.filter((each) => each.name === name).map(({ value }) => value),
  );
}

/** Most of a meter is histograms that nobody asked for. */
function wantedLines(text: string): string {
  return text
    .split('\n')
    .filter((line) => WANTED.has(line.slice(0, line.search(/[{ ]/))))
    .join('\n');
}

/** `/metrics` is asked for at the server's root, whatever path its API has. */
function meterOf(url: URL): string {
  return new URL('/metrics', url.origin).href;
}
