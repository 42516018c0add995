/** The load of the comparison, in a process of its own: sends distinct requests and checks every answer for being whole. */

import { exponential } from '../../src/core/chance/distributions.js';
import { Random } from '../../src/core/chance/random.js';
import { quantile } from '../../src/core/drill/outcome.js';
import { Connection, type Exchange } from './connection.js';
import type { Asked, ClosedLoop, Hold, Job, OpenLoop, Reply, Spread, Taken } from './job.js';
import { nowMs, tick } from './ticker.js';
import { markerOf, requestText, wordsDue } from './workload.js';

/** Connections of an open loop; beyond them requests wait, and their wait counts. */
const MOST_CONNECTIONS = 512;
/** Streams of a hold that are being opened at once. */
const OPENING_AT_ONCE = 64;
/** How long after its window a job waits for answers that are still out, milliseconds. */
const SETTLE_MS = 20_000;
const MOST_SAID = 3;
/** After a request without a whole answer, before the next one of its connection. */
const PAUSE_MS = 50;

/** Over all jobs, so that no two requests of a run are alike. */
let requests = 0;
let held: Connection[] = [];

class Requests {
  readonly #asked: Asked;
  readonly #head: string;
  readonly #after: Buffer;

  constructor(asked: Asked) {
    const { target, path, headers, answer, bodyBytes } = asked;
    this.#asked = asked;
    const text = requestText(answer, bodyBytes);
    const all = { host: `${target.host}:${target.port}`, ...headers, 'content-length': bodyBytes };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    this.#after = Buffer.from(text.after, 'latin1');
    this.#head = `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text.before}`;
  }

  next(plannedMs: number, first?: () => void): Exchange {
    requests += 1;
    const marker = markerOf(this.#asked.answer, requests);
    return {
      kind: this.#asked.answer,
      marker,
      start: this.#head + marker,
      rest: this.#after,
      plannedMs,
      sentMs: Number.NaN,
      firstMs: Number.NaN,
      endMs: Number.NaN,
      fault: undefined,
      wordsInside: 0,
      ...(first === undefined ? {} : { first }),
    };
  }
}

function reply(message: Reply): void {
  process.send?.(message);
}

function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  return { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) };
}

function takenOf(inside: readonly Exchange[], faults: readonly string[], seconds: number): Taken {
  const since = (of: (exchange: Exchange) => number): Spread =>
    spread(inside.map((exchange) => of(exchange) - exchange.plannedMs));
  return {
    answers: inside.length,
    whole: inside.length,
    faults: faults.length,
    said: [...new Set(faults)].slice(0, MOST_SAID),
    seconds,
    firstMs: since(({ firstMs }) => firstMs),
    endMs: since(({ endMs }) => endMs),
    lateMs: since(({ sentMs }) => sentMs),
  };
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** Resolves once `open()` is 0, or after the settling time. */
async function settled(open: () => number): Promise<void> {
  const until = nowMs() + SETTLE_MS;
  while (open() > 0 && nowMs() < until) await after(5);
}

async function closedLoop({ asked, connections, warmMs, ms }: ClosedLoop): Promise<Taken> {
  const texts = new Requests(asked);
  const inside: Exchange[] = [];
  const faults: string[] = [];
  const outstanding = new Set<Exchange>();
  const from = nowMs() + warmMs;
  const to = from + ms;
  let [words, open] = [0, connections];
  const broken = (exchange: Exchange, reason: string): void => {
    faults.push(reason);
    words -= exchange.wordsInside;
  };
  const next = (connection: Connection): void => {
    if (nowMs() >= to) {
      open -= 1;
      return;
    }
    const exchange = texts.next(nowMs());
    outstanding.add(exchange);
    connection.send(exchange);
  };
  const done = (connection: Connection, exchange: Exchange): void => {
    outstanding.delete(exchange);
    if (exchange.fault === undefined) {
      if (exchange.endMs >= from && exchange.endMs < to) inside.push(exchange);
      next(connection);
      return;
    }
    broken(exchange, exchange.fault);
    // A contender that refuses everything is not asked as fast as it refuses.
    setTimeout(next, PAUSE_MS, connection);
  };
  const heard = (exchange: Exchange, count: number): void => {
    const now = nowMs();
    if (now < from || now >= to) return;
    words += count;
    exchange.wordsInside += count;
  };
  const all = Array.from({ length: connections }, () => {
    const connection: Connection = new Connection(asked.target, (each) => done(connection, each), heard);
    return connection;
  });
  for (const connection of all) next(connection);
  await after(warmMs);
  reply({ kind: 'opened' });
  await after(ms);
  reply({ kind: 'closed' });
  await settled(() => open);
  for (const exchange of outstanding) broken(exchange, 'no answer before the end');
  for (const connection of all) connection.close();
  return { ...takenOf(inside, faults, ms / 1_000), answers: words / wordsDue(asked.answer) };
}

async function openLoop({ asked, ratePerSecond, seed, warmMs, ms }: OpenLoop): Promise<Taken> {
  const texts = new Requests(asked);
  const [inside, faults, idle, all] = [
    [] as Exchange[],
    [] as string[],
    [] as Connection[],
    [] as Connection[],
  ];
  const began = nowMs() + 20;
  const [from, to] = [began + warmMs, began + warmMs + ms];
  const moments = arrivals(new Random(seed, 'arrivals'), ratePerSecond, began, to);
  let [next, open] = [0, moments.length];
  const waiting: number[] = [];
  const send = (plannedMs: number): void => {
    let connection = idle.pop();
    if (connection === undefined && all.length >= MOST_CONNECTIONS) {
      waiting.push(plannedMs);
      return;
    }
    connection ??= opened();
    connection.send(texts.next(plannedMs));
  };
  const opened = (): Connection => {
    const connection: Connection = new Connection(asked.target, (exchange) => {
      open -= 1;
      if (exchange.fault !== undefined) faults.push(exchange.fault);
      else if (exchange.plannedMs >= from) inside.push(exchange);
      idle.push(connection);
      const due = waiting.shift();
      if (due !== undefined) send(due);
    });
    all.push(connection);
    return connection;
  };
  const sendDue = (): void => {
    const now = nowMs();
    for (; next < moments.length && (moments[next] ?? 0) <= now; next += 1) send(moments[next] ?? 0);
  };
  const stop = tick(moments, sendDue);
  await after(from - nowMs());
  reply({ kind: 'opened' });
  await after(to - nowMs());
  sendDue();
  await settled(() => open);
  stop();
  for (let missing = open; missing > 0; missing -= 1) faults.push('no answer before the end');
  for (const connection of all) connection.close();
  return takenOf(inside, faults, ms / 1_000);
}

/** As many users who do not know of each other: exponential gaps. */
function arrivals(random: Random, ratePerSecond: number, from: number, to: number): number[] {
  const moments: number[] = [];
  const gap = (): number => exponential(random, 1_000 / ratePerSecond);
  for (let at = from + gap(); at < to; at += gap()) moments.push(at);
  return moments;
}

async function hold({ asked, streams, limitMs }: Hold): Promise<Taken> {
  const texts = new Requests(asked);
  const faults: string[] = [];
  let [begun, open] = [0, 0];
  const began = nowMs();
  const exchanges: Exchange[] = [];
  const begin = (): void => {
    if (begun === streams || nowMs() - began > limitMs) return;
    begun += 1;
    const connection = new Connection(asked.target, ({ fault }) => {
      faults.push(fault ?? 'ended');
      begin();
    });
    held.push(connection);
    const exchange = texts.next(nowMs(), () => {
      open += 1;
      exchanges.push(exchange);
      begin();
    });
    connection.send(exchange);
  };
  for (let at = 0; at < OPENING_AT_ONCE; at += 1) begin();
  while (open + faults.length < streams && nowMs() - began < limitMs) await after(10);
  return takenOf(exchanges, faults, (nowMs() - began) / 1_000);
}

function release(): Promise<Taken> {
  for (const connection of held) connection.close();
  held = [];
  return Promise.resolve(takenOf([], [], 0));
}

function carriedOut(job: Job): Promise<Taken> {
  switch (job.kind) {
    case 'closed':
      return closedLoop(job);
    case 'open':
      return openLoop(job);
    case 'hold':
      return hold(job);
    case 'release':
      return release();
    default:
      return job satisfies never;
  }
}

process.on('message', (job: Job) => {
  carriedOut(job).then(
    (taken) => reply({ kind: 'taken', taken }),
    (error: unknown) => {
      process.stderr.write(`load: ${String(error)}\n`);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit(0));
