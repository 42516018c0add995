/** Which path means what, and how a request for work becomes an answer. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { EXPOSITION_CONTENT_TYPE } from '../../core/meter/exposition.js';
import { reset } from '../shared/reset.js';
import { ApiError, type Ask, checkModel, type Fields, isFields, malformed } from './ask.js';
import { chatApi, chatPrompt, completionsApi, messagesOf } from './completions.js';
import { embeddingsApi } from './embeddings.js';
import { type Faults, faultOf } from './faults.js';
import type { Front, Work } from './front.js';
import { countTokens, messagesApi } from './messages.js';
import type { FrontMeter } from './meter.js';
import { metricsText } from './metrics.js';
import type { TwinSettings } from './options.js';
import type { PacedClock } from './paced-clock.js';
import { Reply } from './reply.js';
import { responsesApi } from './responses.js';
import { decode, encode } from './tokenizer.js';
import { type About, type Api, openaiError } from './wire.js';

const VERSION = '0.30.0';
/** Far above any prompt that fits a model. */
const BODY_BYTES = 64 * 1024 * 1024;

export interface Parts {
  readonly settings: TwinSettings;
  readonly front: Front;
  readonly faults: Faults;
  readonly clock: PacedClock;
  readonly meter: FrontMeter;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

export class Routes {
  /** Requests for work so far, refused ones too. */
  requests = 0;
  readonly #parts: Parts;
  readonly #about: About;
  /** Answers of the engine that are under way. */
  readonly #live = new Set<ServerResponse>();
  readonly #startedAt = Math.floor(Date.now() / 1_000);
  readonly #handlers: ReadonlyMap<string, ReadonlyMap<string, Handler>>;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { front, settings } = parts;
    const hex = (digits: number): string => front.hex(digits);
    this.#about = {
      model: settings.servedModelName,
      fingerprint: `vllm-${VERSION}-${hex(8)}`,
      vocabularySize: settings.limits.vocabularySize,
      hex,
    };
    this.#handlers = this.#table();
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    const methods = this.#handlers.get(path);
    const handler = methods?.get(request.method ?? 'GET');
    const reply = new Reply(response);
    if (methods === undefined) reply.json(404, { detail: 'Not Found' });
    else if (handler === undefined) {
      reply.json(405, { detail: 'Method Not Allowed' }, { allow: [...methods.keys()].join(', ') });
    } else {
      try {
        await handler(request, response);
      } catch (error) {
        // A client that leaves while its body is read asks for no answer.
        if (request.destroyed && !request.complete) return;
        if (!(error instanceof ApiError)) throw error;
        reply.json(error.status, openaiError(error));
      }
    }
    // What was not read must not hold up the connection.
    request.resume();
  }

  #table(): ReadonlyMap<string, ReadonlyMap<string, Handler>> {
    const { settings } = this.#parts;
    const get = (answer: () => object | undefined): [string, Handler] => [
      'GET',
      (_, response) => new Reply(response).json(200, answer()),
    ];
    const post = (answer: (body: Fields) => object | undefined): [string, Handler] => [
      'POST',
      async (request, response) => new Reply(response).json(200, answer(await readBody(request))),
    ];
    const work = (api: Api): [string, Handler] => [
      'POST',
      (request, response) => this.#work(api, request, response),
    ];
    const routes: [string, ...[string, Handler][]][] = [
      ['/v1/completions', work(completionsApi)],
      ['/v1/chat/completions', work(chatApi)],
      ['/v1/messages', work(messagesApi)],
      ['/v1/responses', work(responsesApi)],
      ...(settings.embeddings
        ? [['/v1/embeddings', work(embeddingsApi)] as [string, [string, Handler]]]
        : []),
      ['/v1/messages/count_tokens', post((body) => countTokens(body, settings.limits))],
      ['/v1/models', get(() => this.#models())],
      ['/tokenize', post((body) => this.#tokenize(body))],
      [
        '/detokenize',
        post((body) => ({ prompt: decode(Array.isArray(body['tokens']) ? body['tokens'] : []) })),
      ],
      ['/health', this.#health('GET')],
      ['/ping', this.#health('GET'), this.#health('POST')],
      ['/version', get(() => ({ version: VERSION }))],
      ['/load', get(() => ({ server_load: 0 }))],
      ['/metrics', ['GET', (_, response) => this.#metrics(response)]],
      ['/admin/fault', get(() => this.#parts.faults.current ?? {}), post((body) => this.#setFault(body))],
    ];
    return new Map(routes.map(([path, ...methods]) => [path, new Map(methods)]));
  }

  async #work(api: Api, request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests += 1;
    const { clock, faults, front, settings } = this.#parts;
    const fault = faults.next();
    const reply = new Reply(response, fault);
    let ask: Ask;
    try {
      const body = await readBody(request);
      if (faults.dead) throw dead();
      checkModel(body, settings.limits);
      ask = urgent(api.read(body, settings.limits), request);
      if (fault?.kind === 'refuse')
        throw new ApiError(503, 'Service Unavailable', null, 'The engine refuses.');
      front.admit(ask.n);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      reply.json(error.status, api.error(error));
      return;
    }
    const arrivedAt = clock.now();
    await front.render();
    if (response.destroyed) return;
    if (faults.dead) {
      reply.json(500, api.error(dead()));
      return;
    }
    if (ask.stream) reply.open();
    try {
      this.#answer(api, { ask, id: idOf(request) ?? front.hex(16), arrivedAt }, reply, response);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (ask.stream) reply.fail(api.streamError(error));
      else reply.json(error.status, api.error(error));
    }
  }

  #answer(api: Api, work: Work, reply: Reply, response: ServerResponse): void {
    const { ask } = work;
    const { generation, leave } = this.#parts.front.start(work, api.kind, (choice, piece) => {
      if (ask.stream) reply.frames(writer.piece(choice, piece));
      if (generation.choices.some(({ ended }) => ended === undefined)) return;
      if (ask.stream) {
        reply.frames(writer.end());
        reply.end();
      } else reply.json(200, writer.body());
    });
    const writer = api.writer(generation, this.#about);
    this.#live.add(response);
    response.on('close', () => {
      this.#live.delete(response);
      leave();
    });
    if (ask.stream) reply.frames(writer.begin());
  }

  #models(): object {
    const { servedModelName, model, limits } = this.#parts.settings;
    const permission = {
      id: `modelperm-${this.#about.hex(16)}`,
      object: 'model_permission',
      created: this.#startedAt,
      allow_create_engine: false,
      allow_sampling: true,
      allow_logprobs: true,
      allow_search_indices: false,
      allow_view: true,
      allow_fine_tuning: false,
      organization: '*',
      group: null,
      is_blocking: false,
    };
    const card = {
      id: servedModelName,
      object: 'model',
      created: this.#startedAt,
      owned_by: 'vllm',
      root: model,
      parent: null,
      max_model_len: limits.maxModelLen,
      permission: [permission],
    };
    return { object: 'list', data: [card] };
  }

  #tokenize(body: Fields): object {
    const { limits } = this.#parts.settings;
    checkModel(body, limits);
    const tokens = typeof body['prompt'] === 'string' ? encode(body['prompt']) : chatPrompt(messagesOf(body));
    return { count: tokens.length, max_model_len: limits.maxModelLen, tokens: [...tokens], token_strs: null };
  }

  #metrics(response: ServerResponse): void {
    const { clock, front, meter, settings } = this.#parts;
    clock.catchUp();
    const text = metricsText(front.engine, meter, { ...settings, startedAt: this.#startedAt });
    new Reply(response).text(200, text, EXPOSITION_CONTENT_TYPE);
  }

  #setFault(body: Fields): object {
    const { clock, faults } = this.#parts;
    const fault = faultOf(body);
    faults.set(fault);
    if (fault?.kind === 'hang' || faults.dead) clock.pause();
    else clock.resume();
    if (faults.dead) for (const { socket } of this.#live) if (socket !== null) reset(socket);
    return fault ?? {};
  }

  #health(method: string): [string, Handler] {
    const { faults } = this.#parts;
    return [method, (_, response) => new Reply(response).json(faults.dead ? 503 : 200, undefined)];
  }
}

function dead(): ApiError {
  return new ApiError(500, 'InternalServerError', null, 'The engine has died.');
}

function idOf(request: IncomingMessage): string | undefined {
  const id = request.headers['x-request-id'];
  return typeof id === 'string' && id !== '' ? id : undefined;
}

/** The header counts before the field of the body. */
function urgent(ask: Ask, request: IncomingMessage): Ask {
  const said = request.headers['x-vllm-priority'];
  return typeof said === 'string' && /^[+-]?\d{1,9}$/.test(said) ? { ...ask, priority: Number(said) } : ask;
}

async function readBody(request: IncomingMessage): Promise<Fields> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_BYTES) throw malformed('body', `A body has at most ${BODY_BYTES} bytes.`);
    chunks.push(chunk);
  }
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim();
  if (type !== 'application/json') throw malformed(null, 'The content type must be application/json.');
  const text = Buffer.concat(chunks).toString('utf8');
  if (text === '') throw malformed('body', 'The body is empty.');
  const body = parsed(text);
  if (!isFields(body)) throw malformed('body', 'The body must be an object.');
  return body;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const position = /position (\d+)/.exec(String(error))?.[1] ?? '0';
    throw malformed(`body.${position}`, 'The body is not JSON.');
  }
}
