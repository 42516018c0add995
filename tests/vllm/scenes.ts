/** The scenes: what clients do to a real engine, and what a gateway has to make of it. */

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { OPENAI_7, type RawAnswer, type RawAsk, rawAttempt, SDKS, type Sdk } from './clients.js';
import { MODEL } from './engine.js';
import type { Expected, Played } from './observe.js';

/** How long an answer takes when its client waits, and how long its prompt is. */
export interface Natural {
  /** To what the scene's clients wait for: the whole answer, or the first byte of a stream. */
  readonly ms: number;
  readonly wholeMs: number;
  readonly promptTokens: number;
}

export interface Scene {
  readonly name: string;
  readonly client: string;
  readonly expected: Expected;
  /** Scenes of one load share one measurement. */
  readonly load: Load;
  play(entry: string, engine: string, timeoutMs: number): Promise<Played>;
}

export type Load = 'alone' | 'queued' | 'eight';

const LONG_ANSWER = 3400;
const EIGHTH_ANSWER = 1800;
const SHORT_ANSWER = 200;
const FILLERS = 24;
const FILLER_TOKENS = 3800;
/** Between the engine's fill and the call that has to queue behind it. */
const FILL_MS = 500;
/** What a person's or a script's reconnect takes. */
const RETURN_MS = 500;

/** A prompt nobody used before, always of the same length. */
const prompt = (): string => randomBytes(100).toString('hex');
const body = (text: string, maxTokens: number, stream: boolean): object => ({
  model: MODEL,
  messages: [{ role: 'user', content: text }],
  max_tokens: maxTokens,
  stream,
});

/** Long prompts straight to the engine, so that whatever comes next waits in its queue. */
async function fill(engine: string): Promise<number> {
  const send = async (): Promise<void> => {
    const ids = [...randomBytes(FILLER_TOKENS)];
    const response = await fetch(`${engine}/v1/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: MODEL, prompt: ids, max_tokens: 1 }),
    });
    if (!response.ok) throw new Error(`filler: ${response.status} ${await response.text()}`);
    await response.arrayBuffer();
  };
  await Promise.all(Array.from({ length: FILLERS }, send));
  return FILLERS * FILLER_TOKENS;
}

/** Measures a load straight at the engine, with a client that has all the time in the world. */
export async function measure(engine: string, load: Load): Promise<Natural> {
  const whole = (maxTokens: number): Promise<RawAnswer> =>
    rawAttempt({ url: engine, body: body(prompt(), maxTokens, false) });
  if (load === 'alone') return natural([await whole(LONG_ANSWER)]);
  if (load === 'eight')
    return natural(await Promise.all(Array.from({ length: 8 }, () => whole(EIGHTH_ANSWER))));
  const { promptTokens } = natural([await whole(SHORT_ANSWER)]);
  const filled = fill(engine);
  await sleep(FILL_MS);
  const streamed = await rawAttempt({ url: engine, body: body(prompt(), SHORT_ANSWER, true) });
  await filled;
  return { ms: streamed.firstByteMs ?? Number.NaN, wholeMs: streamed.elapsedMs, promptTokens };
}

function natural(answers: readonly RawAnswer[]): Natural {
  const failed = answers.find((answer) => !answer.delivered);
  if (failed !== undefined) throw new Error(`the engine does not answer: ${failed.error ?? failed.text}`);
  const ms = Math.max(...answers.map((answer) => answer.elapsedMs));
  return {
    ms,
    wholeMs: ms,
    promptTokens: answers[0]?.promptTokens ?? Number.NaN,
  };
}

/** What is expected of one call without a key that is tried at least twice. */
const ONE: Expected = { calls: 1, executions: 1, attemptsAtLeast: 2, keyed: false };
/** What is expected of two calls of which one leaves and comes back, under one key. */
const TWO: Expected = { calls: 2, executions: 2, attemptsAtLeast: 3, keyed: true };

const whole = (sdk: Sdk): Scene => ({
  name: '1 not streaming, timeout before the answer',
  client: sdk.name,
  load: 'alone',
  expected: ONE,
  async play(url, _engine, timeoutMs) {
    const ask = { url, prompt: prompt(), maxTokens: LONG_ANSWER, stream: false, timeoutMs };
    return { answers: [await sdk.ask(ask)] };
  },
});

const streamed = (sdk: Sdk): Scene => ({
  name: '2 streaming, timeout before the first byte',
  client: sdk.name,
  load: 'queued',
  expected: ONE,
  async play(url, engine, timeoutMs) {
    const filled = fill(engine);
    await sleep(FILL_MS);
    const answer = await sdk.ask({ url, prompt: prompt(), maxTokens: SHORT_ANSWER, stream: true, timeoutMs });
    return { answers: [answer], otherTokens: await filled };
  },
});

const RECONNECT: Scene = {
  name: '3 left after the first byte, back with its key',
  client: 'raw',
  load: 'alone',
  expected: { ...ONE, keyed: true },
  async play(url, _engine, timeoutMs) {
    const ask: RawAsk = {
      url,
      body: body(prompt(), LONG_ANSWER, true),
      headers: { 'idempotency-key': `"${randomBytes(16).toString('hex')}"` },
    };
    const first = await rawAttempt({ ...ask, leave: { afterMs: timeoutMs, since: 'first byte' } });
    await sleep(RETURN_MS);
    const second = await rawAttempt(ask);
    const failures = [];
    if (first.text === '') failures.push('nothing was streamed before the client left');
    if (!second.text.startsWith(first.text))
      failures.push('the replay differs from what was streamed before');
    return { answers: [second], failures };
  },
};

const EIGHT: Scene = {
  name: '4 eight equal calls at once, all time out',
  client: OPENAI_7.name,
  load: 'eight',
  expected: { ...ONE, calls: 8, executions: 8, attemptsAtLeast: 16 },
  async play(url, _engine, timeoutMs) {
    const ask = { url, prompt: prompt(), maxTokens: EIGHTH_ANSWER, stream: false, timeoutMs };
    return { answers: await Promise.all(Array.from({ length: 8 }, () => OPENAI_7.ask(ask))) };
  },
};

/** A call that leaves and comes back, and another that says the same key in between. */
async function besides(url: string, timeoutMs: number, mine: RawAsk, other: RawAsk): Promise<Played> {
  await rawAttempt({ ...mine, url, leave: { afterMs: timeoutMs, since: 'sent' } });
  await sleep(RETURN_MS);
  const others = rawAttempt({ ...other, url });
  await sleep(RETURN_MS);
  const answers = await Promise.all([rawAttempt({ ...mine, url }), others]);
  return {
    answers,
    failures: answers.filter((a) => a.status !== 200).map((a) => `status ${a.status}: ${a.error ?? a.text}`),
  };
}

const ANOTHER_TENANT: Scene = {
  name: '5 another tenant: same body, key, traceparent',
  client: 'raw',
  load: 'alone',
  expected: TWO,
  play(url, _engine, timeoutMs) {
    const headers = {
      'idempotency-key': randomBytes(16).toString('hex'),
      traceparent: `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`,
    };
    const mine = { url, body: body(prompt(), LONG_ANSWER, false), headers };
    return besides(url, timeoutMs, mine, {
      ...mine,
      headers: { ...headers, authorization: 'Bearer sk-of-somebody-else' },
    });
  },
};

const ANOTHER_BODY: Scene = {
  name: '6 same key, another body',
  client: 'raw',
  load: 'alone',
  expected: TWO,
  play(url, _engine, timeoutMs) {
    const headers = { 'idempotency-key': randomBytes(16).toString('hex') };
    const mine = { url, body: body(prompt(), LONG_ANSWER, false), headers };
    return besides(url, timeoutMs, mine, { ...mine, body: body(prompt(), LONG_ANSWER, false) });
  },
};

export const SCENES: readonly Scene[] = [
  ...SDKS.map(whole),
  ...SDKS.map(streamed),
  RECONNECT,
  EIGHT,
  ANOTHER_TENANT,
  ANOTHER_BODY,
];
