/** Compares an answer of the twin with a recorded one of vLLM: everything but the noise in it. */

import { readFileSync } from 'node:fs';
import { ROOT } from './root.js';

export interface Exchange {
  readonly name: string;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: unknown;
  };
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The recorded body was cut. */
  readonly truncated: boolean;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The recorded file of that name. */
export function recording(name: string): string {
  return readFileSync(`${ROOT}tests/recordings/vllm-0.30.0/${name}`, 'utf8');
}

export const EXCHANGES = JSON.parse(recording('wire.json')) as readonly Exchange[];

/** Headers that belong to the server software or the moment. */
const OWN_HEADERS = new Set(['server', 'date', 'content-length', 'connection', 'keep-alive']);

/** Fields whose values are noise: texts of a random model, its probabilities, moments, fingerprints. */
const NOISE = new Set([
  'message',
  'content',
  'text',
  'delta',
  'created',
  'created_at',
  'system_fingerprint',
  'logprob',
  'token',
  'tokens',
  'token_ids',
  'token_logprobs',
  'prompt',
]);

/** Answers are equal when their canonical forms are. */
export function canonical(answer: Answer): object {
  const headers = Object.entries(answer.headers).filter(([name]) => !OWN_HEADERS.has(name));
  const type = answer.headers['content-type'] ?? '';
  const body = type.startsWith('text/event-stream') ? frames(answer.body) : parsed(answer.body);
  return {
    status: answer.status,
    headers: Object.fromEntries(headers.toSorted(([a], [b]) => (a < b ? -1 : 1))),
    body,
  };
}

function parsed(text: string): unknown {
  return text === '' ? '' : masked(JSON.parse(text));
}

/** Frames in order, each with its event name; a run of like ones counts once: how many is the tokenizer's noise. */
function frames(body: string): unknown[] {
  const all = body.split('\n\n').filter((each) => each !== '');
  const masks = all.map((each) => {
    const lines = each.split('\n').map((line) => {
      const [, name = '', data = ''] = /^(\w+): (.*)$/s.exec(line) ?? [];
      return name === 'data' && data !== '[DONE]' ? [name, parsed(data)] : [name, data];
    });
    return JSON.stringify(lines);
  });
  return masks.filter((each, at) => each !== masks[at - 1]).map((each) => JSON.parse(each) as unknown);
}

/** Objects become lists of pairs, so that the order of fields is compared too. */
function masked(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) {
    // What a token is spelled like, and which tokens are likely, is the tokenizer's and the model's noise.
    if (name === 'bytes' || (name === 'top_logprobs' && !value.some(isNamed))) return '<tokens>';
    return value.map((each: unknown) => masked(each, name));
  }
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).map(([key, field]: [string, unknown]) => [key, masked(field, key)]);
  }
  if (typeof value === 'string') {
    if (name === 'id' || name === 'item_id') return value.replace(/[0-9a-f]{16}$/, '<random>');
    return NOISE.has(name) ? '<text>' : value;
  }
  return typeof value === 'number' && NOISE.has(name) ? '<number>' : value;
}

/** Chat's alternatives are objects with a `token`; a completion's are one object keyed by tokens. */
function isNamed(each: unknown): boolean {
  return typeof each === 'object' && each !== null && 'token' in each;
}
