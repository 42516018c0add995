/** What a client is told whose bytes are not HTTP: 400 where Node would say 408, and the end of the connection. */

import type { Socket } from 'node:net';
import { errorBody } from './error-body.js';
import type { Meets } from './inbound.js';

interface Words {
  readonly status: number;
  readonly phrase: string;
  readonly code: string;
  readonly message: string;
}

const TOO_LARGE: Words = {
  status: 431,
  phrase: 'Request Header Fields Too Large',
  code: 'rejected_headers_too_large',
  message: 'The headers of the request are larger than the gateway takes.',
};
const TOO_SLOW: Words = {
  status: 400,
  phrase: 'Bad Request',
  code: 'rejected_too_slow',
  message: 'The request took too long to arrive.',
};
const MALFORMED: Words = {
  status: 400,
  phrase: 'Bad Request',
  code: 'rejected_malformed',
  message: 'The request could not be read.',
};

/** Answers on the bare connection, since there is no request to answer; not where these words would meet others. */
export function answerClientError(error: Error, socket: Socket, meets: Meets): void {
  const code = 'code' in error ? error.code : undefined;
  const late = code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const gone = code === 'ECONNRESET' || code === 'EPIPE' || !socket.writable;
  // A connection opened in advance has asked for nothing, and must not find an answer when it does.
  if (meets === 'closing' && !gone) return;
  if (gone || meets === 'another' || (late && socket.bytesRead === 0)) {
    socket.destroy();
    return;
  }
  const words = late ? TOO_SLOW : code === 'HPE_HEADER_OVERFLOW' ? TOO_LARGE : MALFORMED;
  const body = errorBody('openai', words.status, words.code, words.message);
  const head = [
    `HTTP/1.1 ${words.status} ${words.phrase}`,
    'connection: close',
    'content-type: application/json',
    `content-length: ${body.length}`,
    `x-holdfast-reason: ${words.code}`,
  ];
  socket.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]));
}
