/** What models there are: the lists of all engines as one, and each model from an engine that has it. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { boundedBody } from '../shared/bounded-body.js';
import type { Engine } from './engine.js';
import { errorBody } from './error-body.js';
import { forwardedToEngine } from './headers.js';
import type { PassThroughParts } from './passthrough.js';
import { pathOf } from './routes.js';

/** An engine has this long to say what it serves, in whole, milliseconds. */
const ANSWER_MS = 5_000;
/** A longer list is none. */
const MOST_BYTES = 4 * 1024 * 1024;
const LIST = '/v1/models';

interface Said {
  readonly status: number;
  readonly body: Buffer;
}

interface Model {
  readonly id: string;
}

/** Whether a request asks what models there are, so that one engine alone cannot answer it. */
export function asksForModels({ method, url = '' }: IncomingMessage): boolean {
  const path = pathOf(url);
  return method === 'GET' && (path === LIST || path.startsWith(`${LIST}/`));
}

/** Answers it, asking every engine that may know; engines that fail are left out. */
export async function answerModels(
  request: IncomingMessage,
  response: ServerResponse,
  { upstream, passed }: PassThroughParts,
): Promise<void> {
  passed(answer(response, await found(request, response, upstream)));
}

async function found(
  request: IncomingMessage,
  response: ServerResponse,
  upstream: PassThroughParts['upstream'],
): Promise<Said> {
  const path = pathOf(request.url ?? '');
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const engines = upstream.inOrder();
  const ask = (engine: Engine): Promise<Said | undefined> => said(engine, request, gone.signal);
  if (path === LIST) {
    const lists = await Promise.all(engines.map(async (engine) => listIn(engine, await ask(engine))));
    return merged(lists);
  }
  const id = decoded(path.slice(LIST.length + 1));
  let last: Said | undefined;
  for (const engine of engines) {
    if (engine.models?.includes(id) === false) continue;
    last = (await ask(engine)) ?? last;
    if (last?.status === 200) break;
  }
  return last ?? missing(id);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function said(engine: Engine, request: IncomingMessage, gone: AbortSignal): Promise<Said | undefined> {
  try {
    const { statusCode, body } = await engine.pool.request({
      path: engine.prefix + (request.url ?? '/'),
      method: 'GET',
      headers: engine.withCredential(forwardedToEngine(request, false)),
      signal: AbortSignal.any([gone, AbortSignal.timeout(ANSWER_MS)]),
      headersTimeout: ANSWER_MS,
      bodyTimeout: ANSWER_MS,
    });
    const bytes = await boundedBody(body, MOST_BYTES);
    return bytes === undefined ? undefined : { status: statusCode, body: bytes };
  } catch {
    return undefined;
  }
}

/** The models of an engine's list that the gateway would send to it; undefined when it gave none. */
function listIn({ models }: Engine, got: Said | undefined): readonly Model[] | Said | undefined {
  if (got === undefined || got.status !== 200) return got;
  try {
    const { data } = JSON.parse(got.body.toString('utf8')) as { data?: unknown };
    if (!Array.isArray(data)) return undefined;
    const named = data.filter((one): one is Model => typeof (one as Partial<Model> | null)?.id === 'string');
    return named.filter(({ id }) => models?.includes(id) ?? true);
  } catch {
    return undefined;
  }
}

/** One list of all, each model once; where no engine gave one, what an engine said instead. */
function merged(lists: readonly (readonly Model[] | Said | undefined)[]): Said {
  const given = lists.filter((list) => list !== undefined);
  const models = given.filter((list): list is readonly Model[] => Array.isArray(list));
  if (models.length === 0) {
    const refused = given.find((list): list is Said => !Array.isArray(list));
    if (refused !== undefined) return refused;
    const message = 'No engine said what models it serves.';
    return { status: 503, body: errorBody('openai', 503, 'upstream_unavailable', message) };
  }
  const byId = new Map(
    models
      .flat()
      .toReversed()
      .map((one) => [one.id, one]),
  );
  const data = [...byId.values()].toReversed();
  return { status: 200, body: Buffer.from(JSON.stringify({ object: 'list', data })) };
}

function missing(id: string): Said {
  const message = `No engine of this gateway serves ${id.slice(0, 256)}.`;
  return { status: 404, body: errorBody('openai', 404, 'model_not_found', message) };
}

function answer(response: ServerResponse, { status, body }: Said): number {
  if (response.destroyed) return 0;
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': String(body.length) });
  response.end(body);
  return status;
}
