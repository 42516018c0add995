/** `keyed` names the calls of the real SDKs: one key over the retries of a call, another for the next. */

import { equal, match, notEqual } from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { keyed } from '../../src/client/keyed.js';
import { npmInstallation } from '../support/installation.js';
import { requirement } from '../support/requirement.js';

const sdks = requirement('the official SDKs for Node', () =>
  npmInstallation('node-sdks-keyed', [
    'openai@7.59.0',
    'openai6@npm:openai@6.49.0',
    '@anthropic-ai/sdk@1.14.0',
  ]),
);

interface Settings {
  readonly baseURL: string;
  readonly apiKey: string;
  readonly maxRetries: number;
}

type Sdk = new (settings: Settings) => { post(path: string, options: { body: unknown }): Promise<unknown> };

for (const name of ['openai', 'openai6', '@anthropic-ai/sdk']) {
  test(`${name} sends one key a call, over all its retries`, async (t) => {
    const folder = await sdks.met(t);
    if (folder === undefined) return;
    const { keys, baseURL, close } = await failingServer();
    t.after(close);
    const { default: Client } = (await import(
      pathToFileURL(join(folder, 'node_modules', name, 'index.mjs')).href
    )) as { default: Sdk };
    const client = keyed(new Client({ baseURL, apiKey: 'none', maxRetries: 2 }));
    for (let call = 0; call < 2; call += 1) await client.post('/v1/x', { body: { call: 'x' } });
    equal(keys.length, 6);
    match(keys[0] ?? '', /^[0-9a-f-]{36}$/);
    equal(new Set(keys.slice(0, 3)).size, 1);
    equal(new Set(keys.slice(3)).size, 1);
    notEqual(keys[0], keys[3]);
  });
}

/** Answers every third attempt, and fails the two before it; keeps the keys it was sent. */
async function failingServer(): Promise<{ keys: string[]; baseURL: string; close: () => void }> {
  const keys: string[] = [];
  const server = createServer((request, response) => {
    keys.push(String(request.headers['idempotency-key']));
    request.resume();
    const status = keys.length % 3 === 0 ? 200 : 503;
    response.writeHead(status, { 'content-type': 'application/json', 'retry-after-ms': '1' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    keys,
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
