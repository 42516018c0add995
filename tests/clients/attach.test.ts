/**
 * The main promise on real clients: the official SDKs, unmodified and without a key, with a timeout that is shorter
 * than the engine needs. Their retries are their own; the engine must see one execution a call.
 */

import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT } from '../support/root.js';
import { type Scene, sample, startScene } from '../support/scene.js';
import { nodeSdks, packageIn, pythonSdk } from '../support/sdks.js';

const MODEL = 'Qwen/Qwen2.5-7B-Instruct';
const CREDENTIAL = 'sk-of-nobody';
const TIMEOUT_SECONDS = 1;
const TOKENS = 30;
const POLL_MS = 10;

let scene: Scene | undefined;
afterEach(async () => {
  await scene?.stop();
  scene = undefined;
});

interface Found {
  readonly id: string;
  readonly text: string;
  readonly finish: string | null | undefined;
}

/** One way to ask a chat question through an SDK; resolves with the whole answer, rejects when the SDK gives up. */
type Ask = (
  context: TestContext,
  url: string,
  body: object,
  credential?: string,
) => Promise<Found | undefined>;

interface Part {
  readonly id: string;
  readonly type?: string;
  readonly stop_reason?: string;
  readonly content?: readonly { readonly text?: string }[];
  readonly message?: { readonly id: string };
  readonly delta?: { readonly text?: string; readonly stop_reason?: string };
  readonly choices?: readonly {
    readonly delta?: { readonly content?: string };
    readonly message?: { readonly content?: string };
    readonly finish_reason?: string | null;
  }[];
}
type Create = (body: object) => Promise<Part | AsyncIterable<Part>>;
interface Client {
  readonly chat: { readonly completions: { create: Create } };
  readonly messages: { create: Create };
}
type ClientClass = new (settings: object) => Client;

function nodeAsk(packageName: string, dialect: 'openai' | 'anthropic'): Ask {
  return async (context, url, body, credential = CREDENTIAL) => {
    const folder = await nodeSdks.met(context);
    if (folder === undefined) return undefined;
    const Sdk = await packageIn<ClientClass>(folder, packageName);
    const baseURL = dialect === 'openai' ? `${url}/v1` : url;
    const client = new Sdk({ baseURL, apiKey: credential, timeout: TIMEOUT_SECONDS * 1_000 });
    const answer = dialect === 'openai' ? client.chat.completions.create(body) : client.messages.create(body);
    return read(await answer);
  };
}

async function read(answer: Part | AsyncIterable<Part>): Promise<Found> {
  let id = '';
  let text = '';
  let finish: string | null | undefined;
  for await (const part of Symbol.asyncIterator in answer ? answer : [answer]) {
    id ||= part.message?.id ?? part.id ?? '';
    const choice = part.choices?.[0];
    text +=
      choice?.delta?.content ?? choice?.message?.content ?? part.delta?.text ?? part.content?.[0]?.text ?? '';
    finish = choice?.finish_reason ?? part.delta?.stop_reason ?? part.stop_reason ?? finish;
  }
  return { id, text, finish };
}

const pythonAsk: Ask = async (context, url, body, credential = CREDENTIAL) => {
  const python = await pythonSdk.met(context);
  if (python === undefined) return undefined;
  // The SDK refuses fields it does not know unless they are named as extra.
  const { min_tokens, ignore_eos, ...known } = body as Record<string, unknown>;
  const told = {
    url,
    credential,
    seconds: TIMEOUT_SECONDS,
    body: { ...known, extra_body: { min_tokens, ignore_eos } },
  };
  const printed = await new Promise<string>((resolve, reject) => {
    const child = execFile(python, [join(ROOT, 'tests', 'clients', 'ask.py')], (error, stdout) => {
      if (error === null) resolve(stdout);
      else reject(new Error('the SDK for Python did not run', { cause: error }));
    });
    child.stdin?.end(JSON.stringify(told));
  });
  const found = JSON.parse(printed) as Found & { error?: string };
  if (found.error !== undefined) throw new Error(found.error);
  return found;
};

const CLIENTS: readonly { readonly name: string; readonly ask: Ask; readonly retriesStalledBody: boolean }[] =
  [
    { name: 'openai 7.59.0, Node', ask: nodeAsk('openai', 'openai'), retriesStalledBody: true },
    { name: 'openai 6.49.0, Node', ask: nodeAsk('openai6', 'openai'), retriesStalledBody: false },
    { name: 'openai 2.54.0, Python', ask: pythonAsk, retriesStalledBody: true },
    {
      name: '@anthropic-ai/sdk 1.14.0',
      ask: nodeAsk('@anthropic-ai/sdk', 'anthropic'),
      retriesStalledBody: false,
    },
  ];

function chat(content: string, tokens: number, stream = false): object {
  const length = { max_tokens: tokens, min_tokens: tokens, ignore_eos: true };
  return { model: MODEL, messages: [{ role: 'user', content }], stream, ...length };
}

/** What the gateway's own meter says of everything so far. */
async function counts(of: Scene): Promise<{ calls: number; attempts: number; executions: number }> {
  const text = await of.metrics();
  const total = (name: string): number => sample(text, `holdfast_${name}_total`);
  return { calls: total('calls'), attempts: total('attempts'), executions: total('executions') };
}

/** An engine that stands still until the gateway has met so many attempts; then it answers at once. */
async function startHeld(attempts: number): Promise<Scene> {
  const held = await startScene({ timeScale: 10 });
  await held.fault({ kind: 'hang' });
  void release(held, attempts);
  return held;
}

async function release(held: Scene, attempts: number): Promise<void> {
  while (held.gateway.ledger.attempts.opened < attempts) await sleep(POLL_MS);
  await held.fault({ kind: 'none' });
}

async function oneExecution(of: Scene, found: Found, tokens: number): Promise<void> {
  match(found.finish ?? 'none', /^(length|max_tokens)$/);
  ok(found.text.length >= tokens, `an answer of ${tokens} tokens, not ${JSON.stringify(found.text)}`);
  equal(of.executions(), 1);
  const { calls, attempts, executions } = await counts(of);
  deepEqual({ calls, executions }, { calls: 1, executions: 1 });
  ok(attempts >= 2, `the client asked again: ${attempts} attempts`);
}

for (const { name, ask, retriesStalledBody } of CLIENTS) {
  describe(name, () => {
    test('a call that outlasts its timeout is answered by the execution that its first attempt made', async (context) => {
      scene = await startHeld(2);
      const found = await ask(context, scene.gateway.url, chat('hello', TOKENS));
      if (found !== undefined) await oneExecution(scene, found, TOKENS);
    });

    test('a stream whose first byte comes after the timeout is the first execution’s', async (context) => {
      scene = await startHeld(2);
      const found = await ask(context, scene.gateway.url, chat('hello', TOKENS, true));
      if (found !== undefined) await oneExecution(scene, found, TOKENS);
    });

    if (retriesStalledBody) {
      test('a body that stalls half-way is asked for again and given whole', async (context) => {
        scene = await startScene();
        await scene.fault({ kind: 'stall', ms: 1_800, afterEvents: 1, times: 1 });
        const found = await ask(context, scene.gateway.url, chat('hello', TOKENS));
        if (found !== undefined) await oneExecution(scene, found, TOKENS);
      });
    }
  });
}

describe('calls that are equal and not the same', () => {
  test('eight parallel equal calls that all time out get eight answers from eight executions', async (context) => {
    scene = await startHeld(16);
    const [{ ask } = { ask: pythonAsk }] = CLIENTS;
    const { url } = scene.gateway;
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => ask(context, url, chat('hello', TOKENS))),
    );
    if (answers[0] === undefined) return;
    equal(new Set(answers.map((answer) => answer?.id)).size, 8);
    equal(new Set(answers.map((answer) => answer?.text)).size, 8);
    equal(scene.executions(), 8);
    const { calls, attempts } = await counts(scene);
    equal(calls, 8);
    ok(attempts >= 16, `all of them timed out: ${attempts} attempts`);
  });

  test('another tenant with the same body, key and traceparent gets an execution of its own', async () => {
    scene = await startHeld(2);
    const headers = { 'idempotency-key': 'k', traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` };
    await leave(scene, chat('hello', TOKENS), { ...headers, authorization: 'Bearer one' }, 500);
    const other = await post(scene, chat('hello', TOKENS), { ...headers, authorization: 'Bearer two' });
    const own = await post(scene, chat('hello', TOKENS), { ...headers, authorization: 'Bearer one' });
    equal(other.headers.get('x-holdfast-outcome'), 'started');
    match(own.headers.get('x-holdfast-outcome') ?? '', /^(attached|replayed)$/);
    notEqual((await other.json()).id, (await own.json()).id);
    equal(scene.executions(), 2);
  });

  test('the same key with another body is another call', async () => {
    scene = await startHeld(2);
    const headers = { 'idempotency-key': '"one-header-for-all-steps"' };
    await leave(scene, chat('hello', TOKENS), headers, 500);
    const other = await post(scene, chat('good-bye', TOKENS), headers);
    const own = await post(scene, chat('hello', TOKENS), headers);
    equal(other.headers.get('x-holdfast-outcome'), 'started');
    notEqual(other.headers.get('x-holdfast-call'), own.headers.get('x-holdfast-call'));
    match(own.headers.get('x-holdfast-outcome') ?? '', /^(attached|replayed)$/);
    await Promise.all([other.text(), own.text()]);
    equal(scene.executions(), 2);
  });

  test('a client that left its stream after the first byte gets it whole on its key', async () => {
    scene = await startScene({ timeScale: 0.2 });
    const headers = { 'idempotency-key': 'mine' };
    const aborted = new AbortController();
    const first = await post(scene, chat('hello', TOKENS, true), headers, aborted.signal);
    const reader = first.body?.getReader();
    const seen = Buffer.from((await reader?.read())?.value ?? []).toString();
    aborted.abort();
    const again = await post(scene, chat('hello', TOKENS, true), headers);
    equal(again.headers.get('x-holdfast-outcome'), 'attached');
    const whole = await again.text();
    ok(seen.length > 0 && whole.startsWith(seen), 'the replay begins with what was seen before');
    ok(whole.endsWith('data: [DONE]\n\n'), 'the replay is whole');
    equal(scene.executions(), 1);
  });
});

async function post(
  { gateway }: Scene,
  body: object,
  headers: Record<string, string>,
  signal?: AbortSignal,
): Promise<Omit<Response, 'json'> & { json(): Promise<{ readonly id: string }> }> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  }) as Promise<Response & { json(): Promise<{ readonly id: string }> }>;
}

/** Asks and closes the connection after `ms` without an answer. */
async function leave(of: Scene, body: object, headers: Record<string, string>, ms: number): Promise<void> {
  await post(of, body, headers, AbortSignal.timeout(ms)).then(
    () => Promise.reject(new Error('it was answered before it left')),
    () => undefined,
  );
}
