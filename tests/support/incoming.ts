/** A request as Node's server would hand it over, without a server. */

import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';

/** An incoming POST with these headers, in their order; its client's address is `address`. */
export function incoming(
  headers: readonly (readonly [string, string])[],
  address = '192.0.2.1',
): IncomingMessage {
  const socket = new Socket();
  Object.defineProperty(socket, 'remoteAddress', { value: address });
  const request = new IncomingMessage(socket);
  request.method = 'POST';
  request.url = '/v1/chat/completions';
  request.rawHeaders = headers.flat();
  for (const [name, value] of headers) {
    request.headers[name.toLowerCase()] ??= value;
  }
  return request;
}
