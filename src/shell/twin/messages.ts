/** `/v1/messages`: Anthropic's API as vLLM words it. */

import {
  type ApiError,
  type Ask,
  checkModel,
  commonAsk,
  type Fields,
  type Limits,
  lengthOf,
  malformed,
} from './ask.js';
import { chatPrompt, contentText, messagesOf } from './completions.js';
import { type Choice, type Generation, usageOf } from './front.js';
import { type About, type Api, frame, openaiError, type Writer } from './wire.js';

/** Anthropic's word for an ending. */
function stopReason(choice: Choice | undefined): string {
  return choice?.ended === 'length' ? 'max_tokens' : 'end_turn';
}

/** The prompt of a messages body: the system text first. */
export function messagesPrompt(body: Fields): Uint32Array {
  const system = contentText(body['system']);
  return chatPrompt([...(system === '' ? [] : [{ role: 'system', content: system }]), ...messagesOf(body)]);
}

class MessagesWriter implements Writer {
  readonly #generation: Generation;
  readonly #about: About;
  #begun = false;

  constructor(generation: Generation, about: About) {
    this.#generation = generation;
    this.#about = about;
  }

  begin(): readonly string[] {
    return [];
  }

  piece(_: Choice, text: string): readonly string[] {
    const frames = this.#begun ? [] : this.#start();
    this.#begun = true;
    const delta = { type: 'content_block_delta', delta: { type: 'text_delta', text }, index: 0 };
    return [...frames, frame(delta, delta.type)];
  }

  end(): readonly string[] {
    const { prompt, completion } = usageOf(this.#generation);
    const stop = { type: 'content_block_stop', index: 0 };
    const delta = {
      type: 'message_delta',
      delta: { stop_reason: stopReason(this.#generation.choices[0]), stop_sequence: null },
      usage: { input_tokens: prompt, output_tokens: completion },
    };
    const last = { type: 'message_stop' };
    return [frame(stop, stop.type), frame(delta, delta.type), frame(last, last.type)];
  }

  body(): object {
    const { prompt, completion } = usageOf(this.#generation);
    const choice = this.#generation.choices[0];
    return {
      ...this.#head(),
      content: [{ type: 'text', text: choice?.text ?? '' }],
      model: this.#about.model,
      stop_reason: stopReason(choice),
      usage: { input_tokens: prompt, output_tokens: completion },
    };
  }

  #start(): string[] {
    const message = {
      ...this.#head(),
      content: [],
      model: this.#about.model,
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: usageOf(this.#generation).prompt, output_tokens: 0 },
    };
    const start = { type: 'message_start', message };
    const block = { type: 'content_block_start', content_block: { type: 'text', text: '' }, index: 0 };
    return [frame(start, start.type), frame(block, block.type)];
  }

  #head(): object {
    return { id: `chatcmpl-${this.#generation.id}`, type: 'message', role: 'assistant' };
  }
}

export const messagesApi: Api = {
  kind: 'chatcmpl',
  read(body: Fields, limits: Limits): Ask {
    const prompt = messagesPrompt(body);
    const maxTokens = lengthOf(body, limits, 'max_tokens');
    if (maxTokens === undefined) throw malformed('body.max_tokens', 'max_tokens is required.');
    return commonAsk(body, limits, [prompt], maxTokens);
  },
  writer: (generation, about) => new MessagesWriter(generation, about),
  error(error: ApiError): object {
    // What the schema check refuses never reaches this API's own error shape.
    if (error.type === 'Bad Request') return openaiError(error);
    return { type: 'error', error: { type: error.type, message: error.message } };
  },
  streamError: ({ message }) => [
    frame({ type: 'error', error: { type: 'internal_error', message } }, 'error'),
  ],
};

/** The answer of `/v1/messages/count_tokens`. */
export function countTokens(body: Fields, limits: Limits): object {
  checkModel(body, limits);
  const { length } = messagesPrompt(body);
  return { input_tokens: length, context_management: { original_input_tokens: length } };
}
