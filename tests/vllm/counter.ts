/**
 * A pass-through that counts: everything it is sent goes on unchanged, and every inference request that
 * crosses it is written down. In front of the gateway it counts attempts, behind it executions.
 */

import { createHash } from 'node:crypto';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
  request as send,
} from 'node:http';
import type { AddressInfo } from 'node:net';

const INFERENCE = /^\/v1\/(chat\/completions|completions|responses|messages)$/;
/** The first `id` of an answer stands in its first few hundred bytes on every route, streamed or not. */
const ID_WITHIN_BYTES = 4096;

/** One inference request that crossed the counter; times are milliseconds of `performance.now()`. */
export interface Crossing {
  readonly route: string;
  readonly requestId: string | undefined;
  /** Whether the request names its call by an `Idempotency-Key`. */
  readonly keyed: boolean;
  readonly startedAt: number;
  bodyHash: string;
  status: number | undefined;
  /** `x-holdfast-outcome` of the answer, when a gateway gave it. */
  outcome: string | undefined;
  endedAt: number | undefined;
  /** `left`: whoever asked closed first. `failed`: the side that answers broke off. */
  ending: 'open' | 'complete' | 'left' | 'failed';
  /** The id in the answer, such as `chatcmpl-…`. */
  answerId: string | undefined;
}

export interface Counter {
  readonly url: string;
  /** All crossings so far, oldest first; take a slice from a remembered length. */
  readonly crossings: readonly Crossing[];
  close(): Promise<void>;
}

/** Starts a counter on a free port in front of `target`, an origin such as `http://127.0.0.1:8000`. */
export async function startCounter(target: string): Promise<Counter> {
  const crossings: Crossing[] = [];
  const server = createServer((incoming, outgoing) => {
    pass(target, incoming, outgoing, crossings);
  });
  server.requestTimeout = 0;
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    crossings,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function pass(
  target: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  crossings: Crossing[],
): void {
  const url = new URL(incoming.url ?? '/', target);
  const counted = incoming.method === 'POST' && INFERENCE.test(url.pathname);
  const crossing = begun(url.pathname, incoming.headers);
  if (counted) crossings.push(crossing);
  // No agent: a destroyed request has to close its connection, which is how an engine learns of a departure.
  const onward = send(url, { method: incoming.method, headers: incoming.headers, agent: false });
  const hash = createHash('sha256');
  incoming.on('data', (chunk: Buffer) => hash.update(chunk));
  incoming.on('end', () => (crossing.bodyHash = hash.digest('hex')));
  incoming.pipe(onward);
  onward.on('response', (answer) => {
    crossing.status = answer.statusCode;
    crossing.outcome = answer.headers['x-holdfast-outcome']?.toString();
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    outgoing.flushHeaders();
    watch(answer, crossing);
    answer.on('error', () => finish('failed'));
    answer.pipe(outgoing);
  });
  onward.on('error', () => finish('failed'));
  outgoing.on('finish', () => finish('complete'));
  outgoing.on('close', () => finish('left'));

  function finish(ending: Crossing['ending']): void {
    if (crossing.ending !== 'open') return;
    crossing.ending = ending;
    crossing.endedAt = performance.now();
    if (ending !== 'complete') {
      onward.destroy();
      outgoing.destroy();
    }
  }
}

function begun(route: string, headers: IncomingHttpHeaders): Crossing {
  const requestId = headers['x-request-id'];
  return {
    route,
    requestId: typeof requestId === 'string' ? requestId : undefined,
    keyed: headers['idempotency-key'] !== undefined,
    startedAt: performance.now(),
    bodyHash: '',
    status: undefined,
    outcome: undefined,
    endedAt: undefined,
    ending: 'open',
    answerId: undefined,
  };
}

function watch(answer: IncomingMessage, crossing: Crossing): void {
  let start = '';
  answer.on('data', (chunk: Buffer) => {
    if (crossing.answerId !== undefined || start.length > ID_WITHIN_BYTES) return;
    start += chunk.toString('latin1');
    crossing.answerId = /"id":\s*"([^"]+)"/.exec(start)?.[1];
  });
}
