/** Gives every call of an official SDK a key of its own, so that the gateway knows its retries for certain. */

const KEY_HEADER = 'Idempotency-Key';
const COUNT_HEADER = 'X-Stainless-Retry-Count';

/** The part of the official SDKs for OpenAI (5, 6, 7) and Anthropic that a key needs: their hook before sending. */
interface Hooked {
  prepareRequest(request: RequestInit, about: { readonly options: object }): Promise<void>;
  withOptions?(options: object): object;
}

/**
 * Changes `client`, an `OpenAI` or `Anthropic` of the official SDKs for Node, so that each of its calls carries a
 * fresh `Idempotency-Key` that stays the same over the call's retries; gives `client` back. Clients made from it by
 * `withOptions` do the same. A key that the caller sets is left alone. Throws a `TypeError` for anything else.
 */
export function keyed<Client extends object>(client: Client): Client {
  const hooked = client as unknown as Partial<Hooked>;
  if (typeof hooked.prepareRequest !== 'function') {
    throw new TypeError(
      'keyed(client): client has no prepareRequest hook; it must be an instance of OpenAI or Anthropic of their official SDKs for Node',
    );
  }
  const prepare = hooked.prepareRequest.bind(client);
  const derive = hooked.withOptions?.bind(client);
  const keys = new WeakMap<object, string>();
  hooked.prepareRequest = async (request, about) => {
    await prepare(request, about);
    if (request.method?.toUpperCase() === 'POST') name(request, about.options, keys);
  };
  if (derive !== undefined) hooked.withOptions = (options) => keyed(derive(options));
  return client;
}

/**
 * Puts the call's key on `request`. The SDK hands over the same options object on every attempt of a call; a program
 * may use one for several calls, so a first attempt always gets a new key: two calls must never share one.
 */
function name(request: RequestInit, options: object, keys: WeakMap<object, string>): void {
  const headers = request.headers instanceof Headers ? request.headers : new Headers(request.headers);
  request.headers = headers;
  if (headers.has(KEY_HEADER)) return;
  const isRetry = Number(headers.get(COUNT_HEADER) ?? 0) > 0;
  const key = (isRetry ? keys.get(options) : undefined) ?? crypto.randomUUID();
  keys.set(options, key);
  headers.set(KEY_HEADER, key);
}
