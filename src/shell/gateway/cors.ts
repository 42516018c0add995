/** What a browser is told about who may read: on every answer, whoever gives it, and in answer to its own question. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CorsSettings } from './config-cors.js';

/** What a page may read of an answer beside its body and what browsers show in any case. */
const EXPOSED = [
  'x-request-id',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'x-holdfast-call',
  'x-holdfast-execution',
  'x-holdfast-attempt',
  'x-holdfast-outcome',
  'x-holdfast-budget',
  'x-holdfast-queue-ms',
  'x-holdfast-reason',
].join(', ');
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
/** How long a browser may go by the answer to its question, seconds; browsers have bounds of their own. */
const MAX_AGE_SECONDS = 600;

/** The headers of an answer to `request`, names and values in turn; the second is whether its page may read it. */
function headersFor(request: IncomingMessage, settings: CorsSettings): readonly [string[], boolean] {
  const { origins, credentials } = settings;
  if (origins.includes('*')) return [['access-control-allow-origin', '*'], true];
  const { origin } = request.headers;
  // Whoever keeps the answer must not show it to another page.
  const vary = ['vary', 'Origin'];
  if (origin === undefined || !origins.includes(origin)) return [vary, false];
  const allowed = [...vary, 'access-control-allow-origin', origin];
  return [credentials ? [...allowed, 'access-control-allow-credentials', 'true'] : allowed, true];
}

/**
 * Sees to it that whatever answers `request` says who may read it, and answers itself when a browser asks just that;
 * true when it has. Nothing happens unless the settings name origins.
 */
export function answersCors(
  request: IncomingMessage,
  response: ServerResponse,
  settings: CorsSettings,
): boolean {
  if (settings.origins.length === 0) return false;
  const [headers, allowed] = headersFor(request, settings);
  const { origin } = request.headers;
  const method = request.headers['access-control-request-method'];
  if (request.method !== 'OPTIONS' || origin === undefined || method === undefined) {
    if (allowed && origin !== undefined) headers.push('access-control-expose-headers', EXPOSED);
    addTo(response, headers);
    return false;
  }
  request.resume();
  if (!allowed) {
    response.writeHead(403, [...headers, 'x-holdfast-reason', 'rejected_origin', 'content-length', '0']);
    response.end();
    return true;
  }
  const asked = request.headers['access-control-request-headers'];
  headers.push('access-control-allow-methods', METHODS, 'access-control-max-age', String(MAX_AGE_SECONDS));
  // A star would leave `authorization` out.
  if (asked !== undefined) headers.push('access-control-allow-headers', asked);
  response.writeHead(204, headers);
  response.end();
  return true;
}

type Value = string | string[] | number;

/** Puts `headers` among those of the answer when it is written; what it says of `Vary` itself is kept. */
function addTo(response: ServerResponse, headers: readonly string[]): void {
  const write = response.writeHead.bind(response) as (status: number, all: Value[]) => ServerResponse;
  const joined = (status: number, own: Record<string, Value> | Value[] = []): ServerResponse => {
    const all = Array.isArray(own) ? own : Object.entries(own).flat();
    const early = Object.entries(response.getHeaders()).flatMap(([name, value]) =>
      value === undefined ? [] : [name, value],
    );
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    return write(status, merged([...early, ...all], headers));
  };
  response.writeHead = joined as ServerResponse['writeHead'];
}

/** Both lists as one, in which `vary` stands once, and the length last as before. */
function merged(all: readonly Value[], more: readonly string[]): Value[] {
  const result: Value[] = [];
  const varies: Value[] = [];
  const last: Value[] = [];
  for (const list of [all, more]) {
    for (let at = 0; at + 1 < list.length; at += 2) {
      const [name, value] = [list[at] as string, list[at + 1] as Value];
      if (name.toLowerCase() === 'vary') varies.push(...[value].flat());
      else if (name.toLowerCase() === 'content-length') last.push(name, value);
      else result.push(name, value);
    }
  }
  const vary = varies.length === 0 ? [] : ['vary', varies.join(', ')];
  return [...result, ...vary, ...last];
}
