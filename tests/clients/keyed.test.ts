/** `keyed` names the calls of the real SDKs: one key over the retries of a call, another for the next. */

import { equal, match } from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { keyed } from '../../src/client/keyed.js';
import { nodeSdks } from '../support/sdks.js';

interface Settings {
  readonly baseURL: string;
  readonly apiKey: string;
  readonly maxRetries: number;
  readonly timeout: number;
}

/** As much of the SDKs as is asked of them here. */
interface OpenAi {
  readonly chat: {
    readonly completions: {
      create(body: object, options?: object): Promise<AsyncIterable<unknown>> & Raw;
      stream(body: object): { finalChatCompletion(): Promise<unknown> };
    };
  };
  readonly responses: { create(body: object): Promise<unknown> };
  readonly completions: { create(body: object): Promise<unknown> };
  readonly embeddings: { create(body: object): Promise<unknown> };
  withOptions(options: object): OpenAi;
}
interface Anthropic {
  readonly messages: {
    create(body: object, options?: object): Promise<AsyncIterable<unknown>> & Raw;
    stream(body: object): { finalMessage(): Promise<unknown> };
  };
}
interface Raw {
  withResponse(): Promise<{ readonly response: { readonly ok: boolean } }>;
}
type Sdk<Client> = new (settings: Settings) => Client;
/** One way to ask for an answer. */
type Ask<Client> = (client: Client) => Promise<unknown>;

const chat = { model: 'm', messages: [{ role: 'user', content: 'x' }], max_tokens: 9 };
const OWN_KEY = { headers: { 'Idempotency-Key': 'own' } };

async function read(stream: Promise<AsyncIterable<unknown>>): Promise<void> {
  for await (const _ of await stream);
}

const OPENAI: Readonly<Record<string, Ask<OpenAi>>> = {
  'chat.completions.create': (client) => client.chat.completions.create(chat),
  'create().withResponse': async (client) => {
    equal((await client.chat.completions.create(chat).withResponse()).response.ok, true);
  },
  'a stream': (client) => read(client.chat.completions.create({ ...chat, stream: true })),
  'chat.completions.stream': (client) => client.chat.completions.stream(chat).finalChatCompletion(),
  'responses.create': (client) => client.responses.create({ model: 'm', input: 'x' }),
  'completions.create': (client) => client.completions.create({ model: 'm', prompt: 'x' }),
  'embeddings.create': (client) => client.embeddings.create({ model: 'm', input: 'x' }),
  'a client made by withOptions': (client) =>
    client.withOptions({ maxRetries: 5 }).chat.completions.create(chat),
};

const ANTHROPIC: Readonly<Record<string, Ask<Anthropic>>> = {
  'messages.create': (client) => client.messages.create(chat),
  'create().withResponse': async (client) => {
    equal((await client.messages.create(chat).withResponse()).response.ok, true);
  },
  'a stream': (client) => read(client.messages.create({ ...chat, stream: true })),
  'messages.stream': (client) => client.messages.stream(chat).finalMessage(),
};

for (const name of ['openai', 'openai6']) {
  test(`${name} sends one key a call, over a refusal and a timeout, whatever it is asked`, async (t) => {
    await oneKeyEach<OpenAi>(t, name, '/v1', OPENAI, (client) =>
      client.chat.completions.create(chat, OWN_KEY),
    );
  });
}

test('@anthropic-ai/sdk sends one key a call, over a refusal and a timeout, whatever it is asked', async (t) => {
  const own: Ask<Anthropic> = (client) => client.messages.create(chat, OWN_KEY);
  await oneKeyEach<Anthropic>(t, '@anthropic-ai/sdk', '', ANTHROPIC, own);
});

async function oneKeyEach<Client extends object>(
  t: TestContext,
  name: string,
  prefix: string,
  asks: Readonly<Record<string, Ask<Client>>>,
  own: Ask<Client>,
): Promise<void> {
  const folder = await nodeSdks.met(t);
  if (folder === undefined) return;
  const { keysFor, url } = await reluctantServer(t);
  const { default: Made } = (await import(
    pathToFileURL(join(folder, 'node_modules', name, 'index.mjs')).href
  )) as { default: Sdk<Client> };
  const asked = async (ask: Ask<Client>, at: number): Promise<readonly string[]> => {
    const baseURL = `${url}/${at}${prefix}`;
    await ask(keyed(new Made({ baseURL, apiKey: 'none', maxRetries: 4, timeout: 1_500 })));
    return keysFor(at);
  };
  const ways = Object.entries(asks);
  const keys = await Promise.all(ways.map(([, ask], at) => asked(ask, at)));
  for (const [at, [how]] of ways.entries()) {
    const [first = '', ...retries] = keys[at] ?? [];
    match(first, /^[0-9a-f-]{36}$/, how);
    equal(retries.length >= 2, true, `${how}: ${retries.length} retries`);
    for (const retry of retries) equal(retry, first, how);
  }
  equal(new Set(keys.flat()).size, ways.length);
  equal(new Set(await asked(own, ways.length)).size, 1);
  equal(keysFor(ways.length)[0], 'own');
}

interface Reluctant {
  readonly url: string;
  /** The keys that came under `/<at>/`, in order. */
  readonly keysFor: (at: number) => readonly string[];
}

/** Refuses a first attempt, lets a second one wait for ever, answers the third; keeps the keys it was sent. */
async function reluctantServer(t: TestContext): Promise<Reluctant> {
  const seen: (readonly [path: string, key: string])[] = [];
  const server = createServer((request, response) => {
    seen.push([request.url ?? '', String(request.headers['idempotency-key'])]);
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => answer(request, body, response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    keysFor: (at) => seen.filter(([path]) => path.startsWith(`/${at}/`)).map(([, key]) => key),
  };
}

function answer(request: IncomingMessage, body: string, response: ServerResponse): void {
  const attempt = Number(request.headers['x-stainless-retry-count']);
  if (attempt === 1) return;
  const type = body.includes('"stream":true') ? 'text/event-stream' : 'application/json';
  response.writeHead(attempt === 0 ? 503 : 200, { 'content-type': type, 'retry-after-ms': '1' });
  if (type === 'application/json') response.end(JSON.stringify(WHOLE));
  else response.end(request.url?.endsWith('/messages') === true ? MESSAGE_EVENTS : CHUNK);
}

const WHOLE = {
  id: 'x',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  output: [],
  data: [{ index: 0, embedding: [1] }],
  content: [],
};
const CHUNK = `data: ${JSON.stringify({
  id: 'x',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
})}\n\ndata: [DONE]\n\n`;
const MESSAGE_EVENTS = [
  {
    type: 'message_start',
    message: {
      id: 'x',
      type: 'message',
      role: 'assistant',
      content: [],
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hi' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
  { type: 'message_stop' },
]
  .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  .join('');
