/** What a client is told whose bytes are not HTTP: 400 where Node would say 408, and the end of the connection. */

import type { Socket } from 'node:net';
import { errorBody } from './error-body.js';

/** Answers on the bare connection, since there is no request to answer. */
export function answerClientError(error: Error, socket: Socket): void {
  const code = 'code' in error ? error.code : undefined;
  if (code === 'ECONNRESET' || code === 'EPIPE' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = code === 'HPE_HEADER_OVERFLOW' ? 431 : 400;
  const phrase = status === 431 ? 'Request Header Fields Too Large' : 'Bad Request';
  const body = errorBody('openai', status, 'rejected_malformed', 'The request could not be read.');
  const head = [
    `HTTP/1.1 ${status} ${phrase}`,
    'connection: close',
    'content-type: application/json',
    `content-length: ${body.length}`,
    'x-holdfast-reason: rejected_malformed',
  ];
  socket.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]));
}
