/** `/v1/completions` and `/v1/chat/completions` as vLLM words them. */

import {
  type Ask,
  commonAsk,
  type Fields,
  isFields,
  type Limits,
  lengthOf,
  malformed,
  unacceptable,
} from './ask.js';
import { type Choice, type Generation, usageOf } from './front.js';
import { chatLogprobs, completionLogprobs } from './logprobs.js';
import { encode } from './tokenizer.js';
import { type About, type Api, frame, openaiError, openaiStreamError, type Writer } from './wire.js';

/** What a completion is given when it asks for no length. */
const COMPLETION_TOKENS = 16;

function usage(generation: Generation): object {
  const { prompt, completion, total } = usageOf(generation);
  return { prompt_tokens: prompt, total_tokens: total, completion_tokens: completion };
}

function bodyUsage(generation: Generation): object {
  return { ...usage(generation), prompt_tokens_details: null, completion_tokens_details: null };
}

/** The ask's prompts: a text, a list of texts, token ids, or a list of lists of them. */
function promptsOf(value: unknown, limits: Limits): ArrayLike<number>[] {
  if (value === undefined || value === null || value === '')
    throw unacceptable('prompt', 'A prompt is needed.');
  if (typeof value === 'string') return [encode(value)];
  if (!Array.isArray(value))
    throw malformed('body.prompt', 'prompt must be a text, token ids, or a list of either.');
  if (value.length === 0) throw unacceptable('prompt', 'A prompt is needed.');
  if (value.every((each) => typeof each === 'number')) return [checkedIds(value, limits)];
  return value.map((each: unknown) => {
    if (typeof each === 'string' && each !== '') return encode(each);
    if (Array.isArray(each) && each.length > 0 && each.every((id) => typeof id === 'number')) {
      return checkedIds(each, limits);
    }
    throw malformed('body.prompt', 'Each prompt must be a text or a list of token ids, and not empty.');
  });
}

function checkedIds(ids: readonly number[], limits: Limits): readonly number[] {
  const wrong = ids.find((id) => !Number.isInteger(id) || id < 0 || id >= limits.vocabularySize);
  if (wrong !== undefined) throw unacceptable(null, `Token id ${wrong} is outside the vocabulary.`);
  return ids;
}

/** The chat template: role, colon, blank, content, line feed for each message; then the assistant's turn. */
export function chatPrompt(messages: readonly { role: string; content: string }[]): Uint32Array {
  return encode(`${messages.map(({ role, content }) => `${role}: ${content}\n`).join('')}assistant:`);
}

/** The text of a message's content, which may be a text or a list of parts. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part: unknown) => (isFields(part) && typeof part['text'] === 'string' ? part['text'] : ''))
    .join('');
}

/** The messages of `body`, whatever API names them so. */
export function messagesOf(body: Fields): { role: string; content: string }[] {
  const messages = body['messages'];
  if (!Array.isArray(messages)) throw malformed('body.messages', 'messages must be a list.');
  if (messages.length === 0) throw unacceptable(null, 'At least one message is needed.');
  return messages.map((each: unknown) => {
    if (!isFields(each)) throw malformed('body.messages', 'A message must be an object.');
    return {
      role: typeof each['role'] === 'string' ? each['role'] : 'user',
      content: contentText(each['content']),
    };
  });
}

class CompletionWriter implements Writer {
  readonly #generation: Generation;
  readonly #about: About;

  constructor(generation: Generation, about: About) {
    this.#generation = generation;
    this.#about = about;
  }

  begin(): readonly string[] {
    return [];
  }

  piece(choice: Choice, text: string): readonly string[] {
    const { ask } = this.#generation;
    const ids = ask.returnTokenIds ? [...encode(text)] : null;
    const chunk = {
      ...this.#head(),
      choices: [
        {
          index: choice.index,
          text,
          logprobs: this.#logprobs(text, choice.text.length - text.length),
          finish_reason: choice.ended ?? null,
          stop_reason: null,
          prompt_token_ids: null,
          token_ids: ids,
        },
      ],
      ...(ask.continuousUsage ? { usage: usage(this.#generation) } : {}),
    };
    if (choice.ended === undefined || ask.includeUsage) return [frame(chunk)];
    return [frame({ ...chunk, system_fingerprint: this.#about.fingerprint })];
  }

  end(): readonly string[] {
    const done = frame('[DONE]');
    if (!this.#generation.ask.includeUsage) return [done];
    const totals = { ...this.#head(), choices: [], usage: usage(this.#generation) };
    return [frame({ ...totals, system_fingerprint: this.#about.fingerprint }), done];
  }

  body(): object {
    const { ask, choices } = this.#generation;
    return {
      ...this.#head(),
      choices: choices.map((choice) => ({
        index: choice.index,
        text: choice.text,
        logprobs: this.#logprobs(choice.text, 0),
        finish_reason: choice.ended ?? null,
        stop_reason: null,
        token_ids: ask.returnTokenIds ? [...encode(choice.text)] : null,
        prompt_logprobs: null,
        prompt_token_ids: ask.returnTokenIds ? Array.from(ask.prompts[choice.promptIndex] ?? []) : null,
        routed_experts: null,
      })),
      service_tier: null,
      system_fingerprint: this.#about.fingerprint,
      usage: bodyUsage(this.#generation),
      kv_transfer_params: null,
      ec_transfer_params: null,
      metrics: null,
    };
  }

  #logprobs(text: string, offset: number): object | null {
    const { logprobs } = this.#generation.ask;
    return logprobs === undefined
      ? null
      : completionLogprobs(text, logprobs, this.#about.vocabularySize, offset);
  }

  #head(): object {
    const { id, created } = this.#generation;
    return { id: `cmpl-${id}`, object: 'text_completion', created, model: this.#about.model };
  }
}

class ChatWriter implements Writer {
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

  piece(choice: Choice, text: string): readonly string[] {
    const { ask } = this.#generation;
    const frames = this.#begun ? [] : this.#roles();
    this.#begun = true;
    const last = choice.ended !== undefined;
    const said = {
      index: choice.index,
      delta: { content: text },
      logprobs: this.#logprobs(text),
      finish_reason: choice.ended ?? null,
      ...(last ? { stop_reason: null } : {}),
      token_ids: ask.returnTokenIds ? [...encode(text)] : null,
    };
    const chunk = {
      ...this.#head('chat.completion.chunk'),
      choices: [said],
      ...this.#continuousUsage(choice.outputTokens),
      ...(last && !ask.includeUsage ? { system_fingerprint: this.#about.fingerprint } : {}),
    };
    return [...frames, frame(chunk)];
  }

  end(): readonly string[] {
    const done = frame('[DONE]');
    if (!this.#generation.ask.includeUsage) return [done];
    const totals = {
      ...this.#head('chat.completion.chunk'),
      choices: [],
      usage: usage(this.#generation),
      system_fingerprint: this.#about.fingerprint,
    };
    return [frame(totals), done];
  }

  body(): object {
    const { ask, choices } = this.#generation;
    return {
      ...this.#head('chat.completion'),
      choices: choices.map((choice) => ({
        index: choice.index,
        message: {
          role: 'assistant',
          content: choice.text,
          refusal: null,
          annotations: null,
          audio: null,
          function_call: null,
          reasoning: null,
        },
        logprobs: this.#logprobs(choice.text),
        finish_reason: choice.ended ?? null,
        stop_reason: null,
        token_ids: ask.returnTokenIds ? [...encode(choice.text)] : null,
        routed_experts: null,
      })),
      service_tier: null,
      system_fingerprint: this.#about.fingerprint,
      usage: bodyUsage(this.#generation),
      prompt_logprobs: null,
      prompt_token_ids: ask.returnTokenIds ? Array.from(ask.prompts[0] ?? []) : null,
      prompt_text: null,
      kv_transfer_params: null,
      ec_transfer_params: null,
      metrics: null,
    };
  }

  /** Each choice's first chunk, sent with the first output of any. */
  #roles(): string[] {
    return this.#generation.choices.map(({ index }) =>
      frame({
        ...this.#head('chat.completion.chunk'),
        choices: [{ index, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }],
        ...this.#continuousUsage(0),
        prompt_token_ids: null,
        prompt_text: null,
      }),
    );
  }

  #continuousUsage(completion: number): object {
    const { ask } = this.#generation;
    if (!ask.continuousUsage) return {};
    const prompt = ask.prompts[0]?.length ?? 0;
    return {
      usage: {
        prompt_tokens: prompt,
        total_tokens: prompt + completion,
        completion_tokens: completion,
        completion_tokens_details: null,
      },
    };
  }

  #logprobs(text: string): object | null {
    const { logprobs } = this.#generation.ask;
    return logprobs === undefined ? null : chatLogprobs(text, logprobs, this.#about.vocabularySize);
  }

  #head(object: string): object {
    const { id, created } = this.#generation;
    return { id: `chatcmpl-${id}`, object, created, model: this.#about.model };
  }
}

export const completionsApi: Api = {
  kind: 'cmpl',
  read(body: Fields, limits: Limits): Ask {
    const prompts = promptsOf(body['prompt'], limits);
    return commonAsk(body, limits, prompts, lengthOf(body, limits, 'max_tokens') ?? COMPLETION_TOKENS);
  },
  writer: (generation, about) => new CompletionWriter(generation, about),
  error: openaiError,
  streamError: openaiStreamError,
};

export const chatApi: Api = {
  kind: 'chatcmpl',
  read(body: Fields, limits: Limits): Ask {
    const prompts = [chatPrompt(messagesOf(body))];
    checkExtras(body);
    return commonAsk(body, limits, prompts, lengthOf(body, limits, 'max_completion_tokens', 'max_tokens'));
  },
  writer: (generation, about) => new ChatWriter(generation, about),
  error: openaiError,
  streamError: openaiStreamError,
};

const FORMATS: ReadonlySet<unknown> = new Set(['text', 'json_object', 'json_schema', 'structural_tag']);

function checkExtras(body: Fields): void {
  const format = isFields(body['response_format']) ? body['response_format']['type'] : undefined;
  if (format !== undefined && !FORMATS.has(format)) {
    throw malformed('body.response_format.type', `response_format cannot be ${JSON.stringify(format)}.`);
  }
  if (body['tool_choice'] === 'auto' && Array.isArray(body['tools']) && body['tools'].length > 0) {
    throw unacceptable(null, 'No tool parser is configured, so tools cannot be chosen automatically.');
  }
}
