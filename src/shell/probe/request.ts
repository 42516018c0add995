/** One attempt's request: the path, the headers that its kind of client sends, and the body. */

import type { PlannedCall } from '../../core/drill/plan.js';
import type { AttemptRequest } from '../../core/drill/target.js';
import { type PromptForm, Prompts } from './prompts.js';

export const APIS = ['completions', 'chat'] as const;
export type Api = (typeof APIS)[number];

export interface RequestSettings {
  readonly model: string;
  readonly api: Api;
  readonly prompts: PromptForm;
  readonly vocabulary: number;
  readonly seed: number;
  /** Makes other prompts of the same lengths. */
  readonly salt: string;
  /** Begins the idempotency keys: calls of another run are other calls. */
  readonly run: string;
  /** Sends nothing that only vLLM knows: `ignore_eos`, `min_tokens`, `priority`. */
  readonly plain: boolean;
  /** Whether the plan has priorities; engines refuse the field unless they are told to use it. */
  readonly priorities: boolean;
  /** The credential of a tenant. */
  readonly credential: (tenant: string) => string;
  /** Seconds of the plan in one second of the wall clock. */
  readonly timeScale: number;
}

const API_PATHS: Readonly<Record<Api, string>> = {
  completions: '/v1/completions',
  chat: '/v1/chat/completions',
};

export class Requests {
  readonly #settings: RequestSettings;
  readonly #prompts: Prompts;

  constructor(settings: RequestSettings) {
    const { prompts: form, seed, salt, vocabulary } = settings;
    this.#settings = settings;
    this.#prompts = new Prompts({ form, seed, salt, vocabulary });
  }

  /** Where requests go, on top of the server's own path. */
  get path(): string {
    return API_PATHS[this.#settings.api];
  }

  headers({ call, ordinal }: AttemptRequest): Record<string, string> {
    const { credential, run, timeScale } = this.#settings;
    const { client, index } = call;
    return {
      'content-type': 'application/json',
      accept: client.stream ? 'text/event-stream' : 'application/json',
      authorization: `Bearer ${credential(client.tenant)}`,
      'user-agent': client.userAgent,
      ...(client.key ? { 'idempotency-key': `${run}-${index}` } : {}),
      ...(client.class === undefined ? {} : { 'x-holdfast-class': client.class }),
      ...(client.counts ? { 'x-stainless-retry-count': String(ordinal) } : {}),
      ...(client.announces ? { 'x-stainless-timeout': String(client.deadlineSeconds / timeScale) } : {}),
    };
  }

  /** The same bytes for every attempt of a call. */
  body(call: PlannedCall): Buffer {
    const { model, api } = this.#settings;
    const [before, behind] =
      api === 'completions' ? ['"prompt":', ''] : ['"messages":[{"role":"user","content":', '}]'];
    const head = `{"model":${JSON.stringify(model)},${before}`;
    const tail = `${behind},${this.#tail(call)}}`;
    const [headBytes, promptBytes] = [Buffer.byteLength(head), this.#prompts.size(call)];
    // One allocation a body: they may be of 50 KB, and ten thousand of them are to go out in a minute.
    const body = Buffer.allocUnsafe(headBytes + promptBytes + Buffer.byteLength(tail));
    body.write(head);
    this.#prompts.write(call, body.subarray(headBytes, headBytes + promptBytes));
    body.write(tail, headBytes + promptBytes);
    return body;
  }

  #tail({ responseTokens, client }: PlannedCall): string {
    const { plain, priorities } = this.#settings;
    const fields = {
      max_tokens: responseTokens,
      ...(plain ? {} : { min_tokens: responseTokens, ignore_eos: true }),
      ...(client.stream ? { stream: true } : {}),
      ...(!plain && priorities ? { priority: client.priority } : {}),
    };
    return JSON.stringify(fields).slice(1, -1);
  }
}
