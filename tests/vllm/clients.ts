/**
 * The official SDKs, unmodified and without a key of their own, and one raw client that can leave and come back.
 * A timeout is the only thing they are told beside the address; their retries are their own.
 */

import { execFile } from 'node:child_process';
import { request } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { ROOT } from '../support/root.js';
import { CACHE, MODEL } from './engine.js';

/** What a call asks for; `url` is an origin. */
export interface Ask {
  readonly url: string;
  readonly prompt: string;
  readonly maxTokens: number;
  readonly stream: boolean;
  readonly timeoutMs: number;
}

/** What became of a call: delivered means that the whole answer came. */
export interface Answer {
  readonly id: string | undefined;
  readonly delivered: boolean;
  readonly error?: string;
}

export interface Sdk {
  readonly name: string;
  ask(ask: Ask): Promise<Answer>;
}

interface Part {
  id?: string;
  type?: string;
  status?: string;
  stop_reason?: string | null;
  message?: { id: string };
  delta?: { stop_reason?: string | null };
  choices?: { finish_reason?: string | null }[];
  response?: { id: string; status: string };
}
type Method = (parameters: object) => Promise<Part | AsyncIterable<Part>>;
interface Client {
  chat: { completions: { create: Method } };
  responses: { create: Method };
  messages: { create: Method };
}
type ClientClass = new (options: object) => Client;

const CREDENTIAL = 'sk-of-nobody';

/** How each route is asked for the same thing. */
const ROUTES = {
  chat: (client: Client, { prompt, maxTokens, stream }: Ask) =>
    client.chat.completions.create({ model: MODEL, stream, messages: said(prompt), max_tokens: maxTokens }),
  responses: (client: Client, { prompt, maxTokens, stream }: Ask) =>
    client.responses.create({ model: MODEL, stream, input: prompt, max_output_tokens: maxTokens }),
  messages: (client: Client, { prompt, maxTokens, stream }: Ask) =>
    client.messages.create({ model: MODEL, stream, messages: said(prompt), max_tokens: maxTokens }),
};
type Route = keyof typeof ROUTES;

const said = (content: string): object[] => [{ role: 'user', content }];

function nodeSdk(name: string, packageName: string, route: Route): Sdk {
  return {
    name,
    async ask(ask) {
      const client = await nodeClient(packageName, ask, route);
      try {
        return await read(await ROUTES[route](client, ask));
      } catch (error) {
        return { id: undefined, delivered: false, error: String(error) };
      }
    },
  };
}

async function nodeClient(packageName: string, ask: Ask, route: Route): Promise<Client> {
  const resolved = createRequire(join(CACHE, 'clients', 'package.json')).resolve(packageName);
  const module = (await import(pathToFileURL(resolved).href)) as {
    default: ClientClass | { default: ClientClass };
  };
  const found = typeof module.default === 'function' ? module.default : module.default.default;
  const baseURL = route === 'messages' ? ask.url : `${ask.url}/v1`;
  return new found({ baseURL, apiKey: CREDENTIAL, timeout: ask.timeoutMs });
}

/** Reads an answer to its end: whole means that the engine said it stopped at the length asked for. */
async function read(answer: Part | AsyncIterable<Part>): Promise<Answer> {
  let id: string | undefined;
  let delivered = false;
  for await (const part of Symbol.asyncIterator in answer ? answer : [answer]) {
    id ??= part.response?.id ?? part.message?.id ?? part.id;
    const stop = part.choices?.[0]?.finish_reason ?? part.delta?.stop_reason ?? part.stop_reason;
    const status = part.response?.status ?? part.status;
    delivered ||= stop === 'length' || stop === 'max_tokens' || status === 'incomplete';
  }
  return { id, delivered };
}

const pythonSdk: Sdk = {
  name: 'openai 2.54.0, Python',
  async ask(ask) {
    const told = JSON.stringify({ ...ask, model: MODEL, credential: CREDENTIAL });
    const python = join(CACHE, 'clients-python', 'bin', 'python');
    const script = join(ROOT, 'tests', 'vllm', 'client.py');
    const { stdout } = await promisify(execFile)(python, [script, told]);
    return JSON.parse(stdout) as Answer;
  },
};

export const OPENAI_7 = nodeSdk('openai 7.59.0, Node', 'openai7', 'chat');
/** The clients of the SDK scenes. */
export const SDKS: readonly Sdk[] = [
  nodeSdk('openai 6.49.0, Node', 'openai6', 'chat'),
  OPENAI_7,
  pythonSdk,
  nodeSdk('anthropic 1.14.0, Node', '@anthropic-ai/sdk', 'messages'),
  nodeSdk('openai 7.59.0, Node, responses', 'openai7', 'responses'),
];

/** One raw attempt; `leave` says when the client closes: that long after sending, or after the first byte. */
export interface RawAsk {
  readonly url: string;
  readonly body: object;
  readonly headers?: Record<string, string>;
  readonly leave?: { readonly afterMs: number; readonly since: 'sent' | 'first byte' };
}

export interface RawAnswer extends Answer {
  readonly status: number | undefined;
  readonly text: string;
  readonly promptTokens: number | undefined;
  readonly firstByteMs: number | undefined;
  readonly elapsedMs: number;
}

/** Sends one chat completion and reads it to the end, or leaves as told. */
export function rawAttempt(ask: RawAsk): Promise<RawAnswer> {
  const startedAt = performance.now();
  return new Promise((resolve) => {
    let text = '';
    let status: number | undefined;
    let firstByteMs: number | undefined;
    const headers = {
      'content-type': 'application/json',
      authorization: `Bearer ${CREDENTIAL}`,
      ...ask.headers,
    };
    const sent = request(`${ask.url}/v1/chat/completions`, { method: 'POST', headers, agent: false });
    const settle = (error?: string): void => {
      const delivered = error === undefined && /"finish_reason":\s*"length"/.test(text);
      resolve({
        id: /"id":\s*"([^"]+)"/.exec(text)?.[1],
        delivered,
        ...(error === undefined ? {} : { error }),
        status,
        text,
        promptTokens: Number(/"prompt_tokens":\s*(\d+)/.exec(text)?.[1] ?? Number.NaN),
        firstByteMs,
        elapsedMs: performance.now() - startedAt,
      });
    };
    const leaveLater = (): void => {
      setTimeout(() => {
        sent.destroy();
        settle('left');
      }, ask.leave?.afterMs);
    };
    if (ask.leave?.since === 'sent') leaveLater();
    sent.on('error', (error) => settle(error.message));
    sent.on('response', (answer) => {
      status = answer.statusCode;
      answer.setEncoding('utf8');
      answer.on('data', (chunk: string) => {
        if (firstByteMs === undefined && ask.leave?.since === 'first byte') leaveLater();
        firstByteMs ??= performance.now() - startedAt;
        text += chunk;
      });
      answer.on('error', (error) => settle(error.message));
      answer.on('end', () => settle());
    });
    sent.end(JSON.stringify(ask.body));
  });
}
