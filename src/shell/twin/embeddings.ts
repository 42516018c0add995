/** `/v1/embeddings`: one vector of constant size for each input, for clients that need the route to exist. */

import { type Ask, commonAsk, type Fields, type Limits, malformed } from './ask.js';
import { type Generation, usageOf } from './front.js';
import { encode } from './tokenizer.js';
import { type Api, openaiError, openaiStreamError, type Writer } from './wire.js';

const DIMENSIONS = 8;

class EmbeddingsWriter implements Writer {
  readonly #generation: Generation;
  readonly #model: string;

  constructor(generation: Generation, model: string) {
    this.#generation = generation;
    this.#model = model;
  }

  begin(): readonly string[] {
    return [];
  }

  piece(): readonly string[] {
    return [];
  }

  end(): readonly string[] {
    return [];
  }

  body(): object {
    const { id, created, ask } = this.#generation;
    const { prompt } = usageOf(this.#generation);
    const embedding = Array.from({ length: DIMENSIONS }, () => 1 / Math.sqrt(DIMENSIONS));
    return {
      id: `embd-${id}`,
      object: 'list',
      created,
      model: this.#model,
      data: ask.prompts.map((_, index) => ({ index, object: 'embedding', embedding })),
      usage: {
        prompt_tokens: prompt,
        total_tokens: prompt,
        completion_tokens: 0,
        prompt_tokens_details: null,
      },
    };
  }
}

function inputs(value: unknown): ArrayLike<number>[] {
  if (typeof value === 'string' && value !== '') return [encode(value)];
  if (!Array.isArray(value) || value.length === 0)
    throw malformed('body.input', 'input must be a text or a list.');
  if (value.every((each) => typeof each === 'number')) return [value];
  return value.map((each: unknown) => encode(String(each)));
}

export const embeddingsApi: Api = {
  kind: 'embd',
  read: (body: Fields, limits: Limits): Ask => ({
    ...commonAsk(body, limits, inputs(body['input']), 1),
    stream: false,
  }),
  writer: (generation, about) => new EmbeddingsWriter(generation, about.model),
  error: openaiError,
  streamError: openaiStreamError,
};
