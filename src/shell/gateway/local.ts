/** What the gateway answers about itself, without ever asking the engine: health, readiness, metrics. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { EXPOSITION_CONTENT_TYPE } from '../../core/meter/exposition.js';
import { errorBody } from './error-body.js';
import { valuesOf } from './headers.js';
import { pathOf } from './routes.js';

export interface LocalParts {
  readonly draining: () => boolean;
  /** Whether any engine works, as far as its latest executions tell. */
  readonly engineWorks: () => boolean;
  readonly metricsText: () => string;
  /** Metrics are asked for on another port. */
  readonly metricsElsewhere: boolean;
}

/** Answers GET and HEAD of the gateway's own paths; false when the request is not for one of them. */
export function answerLocally(
  request: IncomingMessage,
  response: ServerResponse,
  parts: LocalParts,
): boolean {
  if (request.method !== 'GET' && request.method !== 'HEAD') return false;
  switch (pathOf(request.url ?? '')) {
    case '/health':
    case '/livez':
      say(response, 200, 'text/plain; charset=utf-8', 'ok\n');
      return true;
    case '/readyz':
      if (parts.draining()) say(response, 503, 'text/plain; charset=utf-8', 'draining\n');
      else if (parts.engineWorks()) say(response, 200, 'text/plain; charset=utf-8', 'ok\n');
      // Still ready: calls wait here for the engine, and elsewhere they would only be refused.
      else say(response, 200, 'text/plain; charset=utf-8', 'ok, but no engine works at the moment\n');
      return true;
    case '/metrics':
      if (parts.metricsElsewhere) {
        refuseElsewhere(response);
        return true;
      }
      say(response, 200, EXPOSITION_CONTENT_TYPE, parts.metricsText());
      return true;
    default:
      return false;
  }
}

/** Answers a request whose target is no path (`OPTIONS *`): there is nothing to ask the engine. */
export function refuseTarget(response: ServerResponse): void {
  refuse(response, 400, 'rejected_malformed', 'The target of the request is not a path.');
}

/**
 * Why a request could be read in another way by another parser, which is how one client's bytes get into another
 * one's request; undefined when it is sound. What Node's own parser refuses does not come here.
 */
export function unsound(request: IncomingMessage): string | undefined {
  const { httpVersion, headers } = request;
  const hosts = valuesOf(request, 'host').length;
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1')) return 'The request must name one host.';
  if (httpVersion !== '1.1' && headers['transfer-encoding'] !== undefined)
    return 'Only HTTP/1.1 has chunked bodies.';
  return httpVersion === '1.1' || httpVersion === '1.0'
    ? undefined
    : 'Only HTTP/1.0 and 1.1 are spoken here.';
}

/** Answers such a request, and gives its connection up, since nobody knows where its next one begins. */
export function refuseUnsound(response: ServerResponse, message: string): void {
  response.shouldKeepAlive = false;
  refuse(response, 400, 'rejected_malformed', message);
}

/** Answers a request that is no call and comes with no key that is known, and gives its connection up. */
export function refuseKey(response: ServerResponse): void {
  response.shouldKeepAlive = false;
  response.setHeader('www-authenticate', 'Bearer');
  refuse(response, 401, 'rejected_key', 'The key of the request is none that the gateway knows.');
}

/** Answers a request with more header fields than the gateway takes, and gives its connection up. */
export function refuseHeaders(response: ServerResponse): void {
  response.shouldKeepAlive = false;
  refuse(response, 431, 'rejected_headers_too_large', 'The request has more headers than the gateway takes.');
}

/** Answers a request for what is not here, and never was at the engine. */
export function refuseElsewhere(response: ServerResponse): void {
  refuse(response, 404, 'not_found', 'There is nothing here.');
}

function refuse(response: ServerResponse, status: number, code: string, message: string): void {
  const body = errorBody('openai', status, code, message);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': String(body.length),
    'x-holdfast-reason': code,
  });
  response.end(body);
}

function say(response: ServerResponse, status: number, type: string, text: string): void {
  response.writeHead(status, { 'content-type': type, 'content-length': String(Buffer.byteLength(text)) });
  response.end(text);
}
