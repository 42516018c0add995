/** Ends an answer that is not whole so that no client takes it for a whole one. */

import type { IncomingMessage, ServerResponse } from 'node:http';

/** Without chunks, as before HTTP/1.1, only a reset tells a broken answer from a whole one. */
export function breakOff(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = response;
  // Node leaks a handle that is reset while its own end is on the way.
  if (request.httpVersion === '1.0' && socket?.writableEnded === false) socket.resetAndDestroy();
  else response.destroy();
}
