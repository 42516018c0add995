/** The clients of a soak: each plays one scene after the other, and knows its own answers from everybody else's. */

import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../src/core/chance/random.js';
import { FAULTS, sign, type Wish } from './engine.js';

const KIB = 1024;
/** Nothing that a client of a soak asks for may take longer, milliseconds. */
const PATIENCE_MS = 30_000;
const TENANTS = 12;
/** Between scenes: long beside what a scene takes, so that the load is about the same however busy the machine is. */
const THINK_MS = [100, 500] as const;

/** How a client reads: where it leaves, and whether it dawdles. */
interface Manner {
  readonly leaveAfterMs?: number;
  readonly leaveAtByte?: number;
  readonly pauseMs?: number;
}

interface Answer {
  /** 0: none came. */
  readonly status: number;
  /** `whole`: to its end; `left`: the client went; `broken`: the other side did. */
  readonly end: 'whole' | 'left' | 'broken';
  readonly start: string;
}

interface Ask {
  readonly nonce: string;
  readonly stream: boolean;
  readonly promptBytes: number;
  readonly wish: Wish;
  readonly headers: Readonly<Record<string, string>>;
}

/** What has been seen so far. */
export interface Tally {
  readonly scenes: Record<string, number>;
  readonly statuses: Record<string, number>;
  /** What must never be: somebody else's answer, a request that nobody ever answers. */
  readonly broken: string[];
}

export function emptyTally(): Tally {
  return { scenes: {}, statuses: {}, broken: [] };
}

type Scene = (client: Client) => Promise<void>;

/** One lane: a seeded client that goes from scene to scene until it is told to stop. */
export class Client {
  readonly random: Random;
  readonly #url: string;
  readonly #tally: Tally;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 4, timeout: 0 });
  readonly #tenant: string;
  #asked = 0;

  constructor(url: string, random: Random, tally: Tally) {
    this.#url = url;
    this.random = random;
    this.#tally = tally;
    this.#tenant = `Bearer tenant-${random.integer(1, TENANTS)}`;
  }

  async run(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const [name, scene] = pick(this.random);
      this.#tally.scenes[name] = (this.#tally.scenes[name] ?? 0) + 1;
      await scene(this);
      await sleep(this.random.integer(...THINK_MS));
    }
    this.#agent.destroy();
  }

  /** A request like no other one, unless `more` says what it has in common. */
  ask(more: Partial<Ask> = {}): Ask {
    this.#asked += 1;
    const wish = {
      fault: 'none',
      waitMs: this.random.integer(0, 60),
      pieces: 12,
      gapMs: 4,
      pieceBytes: 24,
    } as const;
    const nonce = `${this.random.uint32()}-${this.#asked}`;
    return { nonce, stream: false, promptBytes: 200, wish, headers: {}, ...more };
  }

  async send(ask: Ask, manner: Manner = {}): Promise<Answer> {
    const { nonce, stream, wish } = ask;
    const body = JSON.stringify({ model: 'soak', nonce, stream, wish, prompt: 'x'.repeat(ask.promptBytes) });
    const answer = await this.#exchange('POST', '/v1/chat/completions', ask.headers, body, manner);
    const { status, end, start } = answer;
    if (end !== 'left') this.#count(`${status} ${end}`);
    if (status === 200 && end === 'whole' && !start.includes(sign(nonce)))
      this.#tally.broken.push(`somebody else’s answer: ${start.slice(0, 200)}`);
    return answer;
  }

  async pass(): Promise<void> {
    const { status, end } = await this.#exchange('GET', '/v1/models', {}, '', {});
    this.#count(`models ${status} ${end}`);
  }

  #count(what: string): void {
    this.#tally.statuses[what] = (this.#tally.statuses[what] ?? 0) + 1;
  }

  #exchange(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body: string,
    manner: Manner,
  ): Promise<Answer> {
    return new Promise((resolve) => {
      let answer: Answer = { status: 0, end: 'broken', start: '' };
      const timers: NodeJS.Timeout[] = [];
      const after = (ms: number, fire: () => void): void => void timers.push(setTimeout(fire, ms));
      const asked = request(this.#url + path, {
        method,
        agent: this.#agent,
        headers: { authorization: this.#tenant, 'content-type': 'application/json', ...headers },
      });
      const leave = (): void => {
        answer = { ...answer, end: 'left' };
        asked.destroy();
      };
      after(PATIENCE_MS, () => {
        this.#tally.broken.push(`nothing for ${PATIENCE_MS} ms after ${body.slice(0, 300)}`);
        leave();
      });
      if (manner.leaveAfterMs !== undefined) after(manner.leaveAfterMs, leave);
      asked.on('error', () => {});
      asked.once('close', () => {
        timers.forEach(clearTimeout);
        resolve(answer);
      });
      asked.once('response', (response) => {
        answer = { ...answer, status: response.statusCode ?? 0 };
        let seen = 0;
        response.on('data', (piece: Buffer) => {
          if (seen < 4 * KIB) answer = { ...answer, start: answer.start + piece.toString('latin1') };
          seen += piece.length;
          if (seen >= (manner.leaveAtByte ?? Number.POSITIVE_INFINITY)) leave();
          if (manner.pauseMs === undefined) return;
          response.pause();
          after(manner.pauseMs, () => response.resume());
        });
        response.once('end', () => {
          if (answer.end !== 'left') answer = { ...answer, end: 'whole' };
        });
        response.on('error', () => {});
      });
      asked.end(body);
    });
  }
}

/** Comes back for what it left, as an SDK does: a moment later, with the same body. */
async function again(client: Client, ask: Ask, attempt = 1): Promise<void> {
  await sleep(client.random.integer(20, 400));
  const headers = { ...ask.headers, 'x-stainless-retry-count': String(attempt) };
  const { status, end } = await client.send({ ...ask, headers: attempt % 2 === 1 ? headers : ask.headers });
  if (attempt < 3 && end !== 'left' && (status === 429 || status >= 500))
    await again(client, ask, attempt + 1);
}

const LONG: Wish = { fault: 'none', waitMs: 150, pieces: 30, gapMs: 10, pieceBytes: 40 };

const SCENES: readonly (readonly [weight: number, name: string, scene: Scene])[] = [
  [20, 'answer', async (client) => void (await client.send(client.ask()))],
  [14, 'stream', async (client) => void (await client.send(client.ask({ stream: true })))],
  [
    6,
    'large prompt',
    async (client) => {
      const promptBytes = client.random.integer(32, 600) * KIB;
      await client.send(client.ask({ promptBytes, stream: client.random.uniform() < 0.5 }));
    },
  ],
  [
    14,
    'leaves and comes back',
    async (client) => {
      const ask = client.ask({ wish: LONG, stream: client.random.uniform() < 0.5 });
      const { end } = await client.send(ask, { leaveAfterMs: client.random.integer(5, 140) });
      if (end === 'left') await again(client, ask);
    },
  ],
  [
    8,
    'leaves in the middle and comes back with its key',
    async (client) => {
      const headers = { 'idempotency-key': `key-${client.random.uint32()}` };
      const ask = client.ask({ wish: LONG, stream: true, headers });
      await client.send(ask, { leaveAtByte: client.random.integer(100, 1_500) });
      await again(client, ask);
    },
  ],
  [
    6,
    'leaves for good',
    async (client) => {
      const stream = client.random.uniform() < 0.5;
      await client.send(client.ask({ wish: LONG, stream }), { leaveAfterMs: client.random.integer(5, 400) });
    },
  ],
  [
    4,
    'says that it leaves for good',
    async (client) => {
      const ask = client.ask({ wish: LONG, headers: { 'x-holdfast-cancel-on-leave': 'true' } });
      await client.send(ask, { leaveAfterMs: client.random.integer(5, 100) });
    },
  ],
  [
    3,
    'reads slowly',
    async (client) => {
      const wish: Wish = { fault: 'none', waitMs: 5, pieces: 60, gapMs: 0, pieceBytes: 32 * KIB };
      const leaves = client.random.uniform() < 0.3 ? { leaveAtByte: 600 * KIB } : {};
      await client.send(client.ask({ wish, stream: true }), {
        pauseMs: client.random.integer(2, 25),
        ...leaves,
      });
    },
  ],
  [
    8,
    'meets a fault',
    async (client) => {
      const fault = FAULTS[client.random.integer(1, FAULTS.length - 1)] ?? 'busy';
      const wish: Wish = { ...LONG, fault, waitMs: client.random.integer(0, 50) };
      const ask = client.ask({ wish, stream: client.random.uniform() < 0.5 });
      await client.send(ask, fault === 'hang' ? { leaveAfterMs: client.random.integer(200, 5_000) } : {});
    },
  ],
  [5, 'passes through', (client) => client.pass()],
];
const WEIGHT = SCENES.reduce((sum, [weight]) => sum + weight, 0);

function pick(random: Random): readonly [string, Scene] {
  let at = random.uniform() * WEIGHT;
  for (const [weight, name, scene] of SCENES) {
    at -= weight;
    if (at < 0) return [name, scene];
  }
  throw new Error('the weights do not add up');
}
