/** Ends an answer that is not whole so that no client takes it for a whole one. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { reset } from '../shared/reset.js';

/** Without chunks, as before HTTP/1.1, only a reset tells a broken answer from a whole one. */
export function breakOff(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = response;
  if (request.httpVersion === '1.0' && socket !== null) reset(socket);
  else response.destroy();
}
