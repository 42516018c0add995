/** What every API of the twin has in common: how a body becomes an ask, and outputs become frames. */

import type { ApiError, Ask, Fields, Limits } from './ask.js';
import type { Choice, Generation } from './front.js';

/** Words the answers to one request; holds what must be remembered between its frames. */
export interface Writer {
  /** Frames sent before any output, when the answer streams. */
  begin(): readonly string[];
  /** Frames of one more piece of text. */
  piece(choice: Choice, text: string): readonly string[];
  /** Frames after the last output. */
  end(): readonly string[];
  /** The whole answer, when it does not stream. */
  body(): object;
}

export interface Api {
  /** Prefix of the executions' ids. */
  readonly kind: 'cmpl' | 'chatcmpl' | 'resp' | 'embd';
  /** Throws an {@link ApiError}. */
  read(body: Fields, limits: Limits): Ask;
  writer(generation: Generation, about: About): Writer;
  /** The body of a refusal that is about this API's own matters. */
  error(error: ApiError): object;
  /** The frames of a refusal after the stream has begun; undefined where vLLM breaks the connection. */
  streamError(error: ApiError): readonly string[] | undefined;
}

/** What answers say about the server. */
export interface About {
  readonly model: string;
  readonly fingerprint: string;
  readonly vocabularySize: number;
  /** Random hexadecimal digits. */
  hex(digits: number): string;
}

/** One server-sent event. */
export function frame(data: object | string, event?: string): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`;
}

export function openaiStreamError(error: ApiError): readonly string[] {
  return [frame(openaiError(error)), frame('[DONE]')];
}

export function openaiError({ message, type, param, status }: ApiError): object {
  return { error: { message, type, param, code: status } };
}
