/** Errors that the gateway itself answers with, in the shape of the API that was called. */

import type { Dialect } from './routes.js';

const OPENAI_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'invalid_request_error',
  404: 'invalid_request_error',
  413: 'invalid_request_error',
  431: 'invalid_request_error',
  429: 'rate_limit_error',
  504: 'timeout_error',
};
const ANTHROPIC_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
};

/** The JSON body of an error with `status`; `code` is stable, `message` is for people. */
export function errorBody(dialect: Dialect, status: number, code: string, message: string): Buffer {
  const body =
    dialect === 'anthropic'
      ? { type: 'error', error: { type: ANTHROPIC_TYPES[status] ?? 'api_error', message, code } }
      : { error: { message, type: OPENAI_TYPES[status] ?? 'server_error', param: null, code } };
  return Buffer.from(JSON.stringify(body));
}
