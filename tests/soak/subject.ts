/** The gateway of a soak: a real process, whose memory is read after a collection that its debugger port asks for. */

import { existsSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'undici';
import { stringify } from 'yaml';
import { type Family, readExposition, valueOf } from '../../src/core/meter/exposition.js';
import { within } from '../support/promised.js';
import { type Served, served } from '../support/served.js';

/** Memory and handles at one moment, and what the meter says of it. */
export interface Sample {
  /** Since the load began. */
  readonly seconds: number;
  readonly residentBytes: number;
  /** V8's heap and what is outside of it, after a collection. */
  readonly liveBytes: number;
  /** Open files, where the system tells them. */
  readonly handles: number | undefined;
  readonly attempts: number;
  readonly gauges: Readonly<Record<string, number>>;
}

/** What must be 0 when nobody asks for anything any more. */
export const GAUGES = [
  'holdfast_attempts_open',
  'holdfast_running_executions',
  'holdfast_line_entries',
  'holdfast_line_bytes',
  'holdfast_orphans',
  'holdfast_replay_bytes',
  'holdfast_retained_answers',
  'holdfast_retained_bytes',
  'holdfast_request_body_bytes',
] as const;
/** Calls are remembered for a minute and more after that. */
export const REMEMBERED = 'holdfast_calls_open';

/** Small bounds and short memories, so that what has a maximum reaches it before the readings count. */
export const SETTINGS = {
  upstream_timeouts: { first_byte: '3s', idle: '3s' },
  request_bytes: '2MiB',
  reader_bytes: '512KiB',
  drain: '5s',
  control: {
    room: 10,
    grace: '2s',
    grace_after_first_byte: '500ms',
    retain: '8s',
    retain_keyed: '12s',
    replay_delivered: '2s',
    default_deadline: '5s',
    // One engine that is made to fail is still the only one.
    unavailable: 'pass',
    health: { rest: '1ms', longest_rest: '1ms', slow_start: '0ms' },
    bounds: {
      line_entries: 8,
      line_wait: '8s',
      replay_bytes: '512KiB',
      live_replay_bytes: '8MiB',
      retained_bytes: '8MiB',
      learned_keys: 200,
    },
  },
};

/** Memory in the process itself, and what it holds open. */
interface Inside {
  readonly live: number;
  readonly resident: number;
}
const INSIDE = `(() => {
  const { heapUsed, external, rss } = process.memoryUsage();
  return { live: heapUsed + external, resident: rss };
})()`;

export class Subject {
  readonly served: Served;
  readonly #debugger: WebSocket;
  readonly #waiting = new Map<number, (result: unknown) => void>();
  #asked = 0;

  private constructor(gateway: Served, socket: WebSocket) {
    this.served = gateway;
    this.#debugger = socket;
    socket.addEventListener('message', ({ data }) => {
      const { id, result } = JSON.parse(String(data)) as { id: number; result: unknown };
      this.#waiting.get(id)?.(result);
      this.#waiting.delete(id);
    });
  }

  /** `nodeFlags` go to the gateway's Node. */
  static async start(upstream: string, nodeFlags: readonly string[] = []): Promise<Subject> {
    const config = join(mkdtempSync(join(tmpdir(), 'holdfast-soak-')), 'holdfast.yaml');
    writeFileSync(config, stringify({ ...SETTINGS, upstreams: [{ url: upstream }] }));
    const gateway = await served(['--config', config], ['--inspect=127.0.0.1:0', ...nodeFlags]);
    const [address] = /ws:\/\/\S+/.exec(gateway.log()) ?? [];
    if (address === undefined) throw new Error(`no debugger port: ${gateway.log()}`);
    const socket = new WebSocket(address);
    await within(
      'the debugger port',
      new Promise((resolve) => socket.addEventListener('open', () => resolve(undefined))),
    );
    return new Subject(gateway, socket);
  }

  async families(): Promise<readonly Family[]> {
    const answer = await fetch(`${this.served.url}/metrics`, { headers: { connection: 'close' } });
    return readExposition(await answer.text());
  }

  async sample(sinceMs: number): Promise<Sample> {
    await this.#ask('HeapProfiler.collectGarbage', {});
    const { result } = (await this.#ask('Runtime.evaluate', { expression: INSIDE, returnByValue: true })) as {
      result: { value: Inside };
    };
    const families = await this.families();
    const read = (name: string): number => valueOf(families, name) ?? Number.NaN;
    return {
      seconds: (performance.now() - sinceMs) / 1_000,
      residentBytes: result.value.resident,
      liveBytes: result.value.live,
      handles: this.#handles(),
      attempts: read('holdfast_attempts_total'),
      gauges: Object.fromEntries([...GAUGES, REMEMBERED].map((name) => [name, read(name)])),
    };
  }

  async stop(): Promise<number | null> {
    this.#debugger.close();
    return this.served.stop();
  }

  #handles(): number | undefined {
    const folder = `/proc/${this.served.child.pid}/fd`;
    return existsSync(folder) ? readdirSync(folder).length : undefined;
  }

  #ask(method: string, params: unknown): Promise<unknown> {
    this.#asked += 1;
    const id = this.#asked;
    const answer = new Promise((resolve) => this.#waiting.set(id, resolve));
    this.#debugger.send(JSON.stringify({ id, method, params }));
    return within(method, answer);
  }
}
