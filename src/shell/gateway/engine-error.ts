/** Reads an error that an engine put inside a stream, and gives it the status it should have had. */

import type { SseEvent } from './sse.js';

export interface EngineError {
  readonly status: number;
  /** The error as JSON, in the shape the engine chose. */
  readonly body: Buffer;
}

/** Statuses of the error types that Anthropic and vLLM name without a code. */
const STATUS_OF_TYPE: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  BadRequestError: 400,
  'Bad Request': 400,
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  NotFoundError: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  timeout_error: 504,
  overloaded_error: 503,
  'Service Unavailable': 503,
  ServiceUnavailableError: 503,
};

const MARK = Buffer.from('"error"');

/** The error that this event is, or undefined when it is none. */
export function engineError(event: SseEvent): EngineError | undefined {
  const named = event.name === 'error' || event.name === 'response.failed';
  if (!named && !event.data.includes(MARK)) return undefined;
  const value = parsed(event.data);
  if (value === undefined) return named ? { status: 500, body: wrapped(event.data) } : undefined;
  const response = object(value['response']);
  const error = object(value['error']) ?? object(response?.['error']);
  const typed = value['type'] === 'error' || value['type'] === 'response.failed';
  if (error === undefined && !named && !typed) return undefined;
  const body = object(value['error']) === undefined ? { error: error ?? value } : value;
  return { status: statusOf(error ?? value), body: Buffer.from(JSON.stringify(body)) };
}

function statusOf(error: Record<string, unknown>): number {
  const code = Number(error['code']);
  if (Number.isInteger(code) && code >= 400 && code <= 599) return code;
  const type = error['type'];
  return (
    (typeof type === 'string' && Object.hasOwn(STATUS_OF_TYPE, type) ? STATUS_OF_TYPE[type] : undefined) ??
    500
  );
}

function wrapped(text: Buffer): Buffer {
  return Buffer.from(
    JSON.stringify({ error: { message: text.toString('utf8'), type: 'InternalServerError' } }),
  );
}

function parsed(data: Buffer): Record<string, unknown> | undefined {
  try {
    return object(JSON.parse(data.toString('utf8')));
  } catch {
    return undefined;
  }
}

function object(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}
