/** `/v1/responses` as vLLM words it. */

import { type Ask, commonAsk, type Fields, isFields, type Limits, lengthOf, malformed } from './ask.js';
import { chatPrompt, contentText } from './completions.js';
import { type Choice, type Generation, usageOf } from './front.js';
import { type About, type Api, frame, openaiError, type Writer } from './wire.js';

class ResponsesWriter implements Writer {
  readonly #generation: Generation;
  readonly #about: About;
  readonly #itemId: string;
  #sequence = 0;
  #begun = false;

  constructor(generation: Generation, about: About) {
    this.#generation = generation;
    this.#about = about;
    this.#itemId = about.hex(16);
  }

  begin(): readonly string[] {
    const response = this.#response('in_progress');
    return [this.#event('response.created', { response }), this.#event('response.in_progress', { response })];
  }

  piece(_: Choice, text: string): readonly string[] {
    const frames = this.#begun ? [] : this.#start();
    this.#begun = true;
    const delta = { content_index: 0, delta: text, item_id: this.#itemId, logprobs: [], output_index: 0 };
    return [...frames, this.#event('response.output_text.delta', delta)];
  }

  end(): readonly string[] {
    const text = this.#generation.choices[0]?.text ?? '';
    const place = { content_index: 0, item_id: this.#itemId, output_index: 0 };
    const response = this.#response(this.#ended());
    const item = this.#item(this.#itemId, 'completed', [part(text, null)]);
    return [
      this.#event('response.output_text.done', { ...place, logprobs: [], text }),
      this.#event('response.content_part.done', { ...place, part: part(text, null) }),
      this.#event('response.output_item.done', { item: { ...item, summary: [] }, output_index: 0 }),
      this.#event('response.completed', { response }),
    ];
  }

  body(): object {
    return this.#response(this.#ended());
  }

  #ended(): 'completed' | 'incomplete' {
    return this.#generation.choices[0]?.ended === 'length' ? 'incomplete' : 'completed';
  }

  #start(): string[] {
    const place = { content_index: 0, item_id: this.#itemId, output_index: 0 };
    return [
      this.#event('response.output_item.added', {
        item: this.#item(this.#itemId, 'in_progress', []),
        output_index: 0,
      }),
      this.#event('response.content_part.added', { ...place, part: part('', []) }),
    ];
  }

  #event(type: string, fields: object): string {
    const sequence = this.#sequence;
    this.#sequence += 1;
    return frame({ ...fields, sequence_number: sequence, type }, type);
  }

  /** The finished response names its message anew, as vLLM does. */
  #answer(text: string): object {
    return this.#item(`msg_${this.#about.hex(16)}`, 'completed', [part(text, null)]);
  }

  #item(id: string, status: string, content: object[]): object {
    return { id, content, role: 'assistant', status, type: 'message', phase: null };
  }

  #response(status: 'in_progress' | 'completed' | 'incomplete'): object {
    const { id, created, ask, choices } = this.#generation;
    const open = status === 'in_progress';
    return {
      id: `resp_${id}`,
      created_at: created,
      incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
      instructions: null,
      metadata: null,
      model: this.#about.model,
      object: 'response',
      output: open ? [] : [this.#answer(choices[0]?.text ?? '')],
      parallel_tool_calls: true,
      temperature: 1,
      tool_choice: 'none',
      tools: [],
      top_p: 1,
      background: false,
      max_output_tokens: ask.maxTokens,
      max_tool_calls: null,
      previous_response_id: null,
      prompt: null,
      reasoning: null,
      service_tier: 'auto',
      status,
      text: null,
      top_logprobs: null,
      truncation: 'disabled',
      usage: open ? null : responseUsage(this.#generation),
      user: null,
      presence_penalty: 0,
      frequency_penalty: 0,
      kv_transfer_params: null,
      ec_transfer_params: null,
      input_messages: null,
      output_messages: null,
    };
  }
}

function part(text: string, logprobs: [] | null): object {
  return { annotations: [], text, type: 'output_text', logprobs };
}

function responseUsage(generation: Generation): object {
  const { prompt, completion, total } = usageOf(generation);
  return {
    input_tokens: prompt,
    input_tokens_details: { cached_tokens: 0, input_tokens_per_turn: [], cached_tokens_per_turn: [] },
    output_tokens: completion,
    output_tokens_details: {
      reasoning_tokens: 0,
      tool_output_tokens: 0,
      output_tokens_per_turn: [],
      tool_output_tokens_per_turn: [],
    },
    total_tokens: total,
  };
}

function inputMessages(input: unknown): { role: string; content: string }[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }];
  if (!Array.isArray(input)) throw malformed('body.input', 'input must be a text or a list of items.');
  return input.filter(isFields).map((item) => ({
    role: typeof item['role'] === 'string' ? item['role'] : 'user',
    content: contentText(item['content']),
  }));
}

export const responsesApi: Api = {
  kind: 'resp',
  read(body: Fields, limits: Limits): Ask {
    const instructions = contentText(body['instructions']);
    const system = instructions === '' ? [] : [{ role: 'system', content: instructions }];
    const prompt = chatPrompt([...system, ...inputMessages(body['input'])]);
    return commonAsk(body, limits, [prompt], lengthOf(body, limits, 'max_output_tokens'));
  },
  writer: (generation, about) => new ResponsesWriter(generation, about),
  error: openaiError,
  streamError: () => undefined,
};
