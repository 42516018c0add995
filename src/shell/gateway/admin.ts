/** The port for operators, when it is set: metrics and health there, and no call. */

import { createServer, type Server } from 'node:http';
import { answerLocally, type LocalParts, refuseElsewhere } from './local.js';

/** Asked by machines in the same network, which are quick or broken, milliseconds. */
const REQUEST_MS = 10_000;
const MOST_CONNECTIONS = 256;

/** A server that answers what {@link answerLocally} knows, and 404 to everything else. */
export function adminServer(parts: LocalParts): Server {
  const server = createServer(
    { headersTimeout: REQUEST_MS, requestTimeout: REQUEST_MS, connectionsCheckingInterval: 1_000 },
    (request, response) => {
      request.resume();
      if (!answerLocally(request, response, parts)) refuseElsewhere(response);
    },
  );
  server.maxConnections = MOST_CONNECTIONS;
  return server;
}
