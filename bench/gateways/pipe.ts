/**
 * The least that a gateway on Node can be: node:http in, undici out, bytes piped through and nothing looked at.
 * Arguments: the upstream's address, the port to listen on.
 */

import { createServer, type IncomingHttpHeaders } from 'node:http';
import { Pool } from 'undici';

const HOP_BY_HOP = ['connection', 'keep-alive', 'transfer-encoding', 'host', 'expect'] as const;

const pool = new Pool(process.argv[2] ?? '', { headersTimeout: 0, bodyTimeout: 0 });

function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const kept = { ...headers };
  for (const name of HOP_BY_HOP) delete kept[name];
  return kept;
}

const server = createServer((request, response) => {
  const { url = '/', method = 'GET', headers } = request;
  const body = method === 'GET' ? null : request;
  pool
    .stream({ path: url, method, headers: endToEnd(headers), body }, ({ statusCode, headers: given }) => {
      response.writeHead(statusCode, endToEnd(given));
      return response;
    })
    .catch(() => response.destroy());
});
server.listen({ port: Number(process.argv[3]), host: '127.0.0.1', backlog: 4_096 });
