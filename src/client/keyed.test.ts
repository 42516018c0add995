/** A call's attempts share one key, and no two calls do; the SDK is stood in for by its two hooks. */

import { deepEqual, equal, notEqual, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { keyed } from './keyed.js';

/** Sends nothing: keeps the headers that would have been sent. */
class Sdk {
  readonly sent: Headers[] = [];

  async prepareRequest(request: RequestInit, _about: { readonly options: object }): Promise<void> {
    await Promise.resolve();
    (request.headers as Headers).set('x-own-hook', 'ran');
  }

  withOptions(_options: object): Sdk {
    return new Sdk();
  }

  async attempt(
    options: object,
    count: number,
    headers: Record<string, string> = {},
    method = 'post',
  ): Promise<string | null> {
    const request = {
      method,
      headers: new Headers({ 'X-Stainless-Retry-Count': String(count), ...headers }),
    };
    await this.prepareRequest(request, { options });
    this.sent.push(request.headers);
    return request.headers.get('Idempotency-Key');
  }
}

test('the retries of a call carry the key of its first attempt', async () => {
  const sdk = keyed(new Sdk());
  const call = {};
  const key = await sdk.attempt(call, 0);
  deepEqual([await sdk.attempt(call, 1), await sdk.attempt(call, 2)], [key, key]);
  equal(key?.length, 36);
});

test('two calls have two keys, even when the program uses one options object for both', async () => {
  const sdk = keyed(new Sdk());
  const shared = {};
  notEqual(await sdk.attempt({}, 0), await sdk.attempt({}, 0));
  notEqual(await sdk.attempt(shared, 0), await sdk.attempt(shared, 0));
});

test('a key that the caller sets is left alone', async () => {
  equal(await keyed(new Sdk()).attempt({}, 0, { 'idempotency-key': 'mine' }), 'mine');
});

test('a request that makes no work gets no key', async () => {
  equal(await keyed(new Sdk()).attempt({}, 0, {}, 'get'), null);
});

test("the SDK's own hook still runs", async () => {
  const sdk = keyed(new Sdk());
  await sdk.attempt({}, 0);
  equal(sdk.sent[0]?.get('x-own-hook'), 'ran');
});

test('a client made by withOptions is keyed too', async () => {
  const call = {};
  const sdk = keyed(new Sdk()).withOptions({ maxRetries: 1 });
  const key = await sdk.attempt(call, 0);
  notEqual(key, null);
  equal(await sdk.attempt(call, 1), key);
});

test('anything but a client of the official SDKs is refused with what would be right', () => {
  throws(() => keyed({}), /must be an instance of OpenAI or Anthropic/);
});
