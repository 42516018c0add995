/** Whatever is not an attempt of a call goes to the engine and back as it is, and dies with its client. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import type { Dispatcher } from 'undici';
import { breakOff } from './break-off.js';
import type { UpstreamTimeouts } from './config.js';
import type { Engine } from './engine.js';
import { errorBody } from './error-body.js';
import { answerHeaders, fieldsOf, forwarded, writable } from './headers.js';
import { refusal } from './refusal.js';
import { failureOf, type Upstream } from './upstream.js';

const NOTHING_DROPPED: ReadonlySet<string> = new Set();

export interface PassThroughParts {
  readonly upstream: Upstream;
  readonly timeouts: UpstreamTimeouts;
  /** Called once, with the status that went out, or 0 when the client left before. */
  readonly passed: (status: number) => void;
}

/** Sends `request` on and its answer back, both as streams; a client that leaves takes the engine's work along. */
export async function passThrough(
  request: IncomingMessage,
  response: ServerResponse,
  { upstream, timeouts, passed }: PassThroughParts,
): Promise<void> {
  const gone = new AbortController();
  const leave = (): void => gone.abort();
  response.on('close', leave);
  // An answer that waits behind another one's has no socket yet, and would never hear of its end.
  const { socket } = request;
  socket.setMaxListeners(0).on('close', leave);
  response.on('error', () => {});
  const body = hasBody(request) ? request : null;
  try {
    const ask = (engine: Engine): Promise<Dispatcher.ResponseData> => {
      const { firstByteMs, idleMs } = engine.timeouts(timeouts);
      return engine.pool.request({
        path: engine.prefix + (request.url ?? '/'),
        method: request.method ?? 'GET',
        headers: engine.withCredential(forwarded(request, NOTHING_DROPPED)),
        body,
        signal: gone.signal,
        headersTimeout: firstByteMs,
        bodyTimeout: idleMs,
        responseHeaders: 'raw',
      });
    };
    // A body can be read once only.
    const answer = await upstream.reach(ask, body === null);
    const status = answer.statusCode;
    response.writeHead(status, writable(answerHeaders(fieldsOf(answer.headers as unknown as string[]))));
    // Node's own flushHeaders would write their bytes as UTF-8.
    response.write(Buffer.alloc(0));
    passed(status);
    // It breaks off where the engine or the client does; that is all there is to say.
    answer.body.on('error', () => breakOff(request, response));
    answer.body.pipe(response);
    await finished(response, { signal: gone.signal }).catch(() => {});
  } catch (error) {
    passed(gone.signal.aborted ? 0 : answerFailure(response, error));
  } finally {
    socket.off('close', leave);
  }
}

function answerFailure(response: ServerResponse, error: unknown): number {
  if (response.headersSent) {
    response.destroy();
    return response.statusCode;
  }
  const ending = `upstream_${failureOf(error)}` as const;
  const { status, headers, message } = refusal(ending, 'unknown', { mayRetry: true });
  const body = errorBody('openai', status, ending, message);
  response.writeHead(status, {
    ...headers,
    'content-type': 'application/json',
    'content-length': String(body.length),
  });
  response.end(body);
  return status;
}

function hasBody(request: IncomingMessage): boolean {
  return 'transfer-encoding' in request.headers || Number(request.headers['content-length'] ?? 0) > 0;
}
