/** Which requests are calls, and which API each of them speaks. */

/**
 * How a stream of this API says that it is whole: `openai`: `[DONE]`; `anthropic`: `message_stop`;
 * `responses`: its closing event; `plain`: nothing but the end of the HTTP message.
 */
export type Dialect = 'openai' | 'anthropic' | 'responses' | 'plain';

const DIALECTS: Readonly<Record<string, Dialect>> = {
  '/v1/chat/completions': 'openai',
  '/v1/completions': 'openai',
  '/v1/responses': 'responses',
  '/v1/messages': 'anthropic',
  '/v1/embeddings': 'plain',
};

export interface Route {
  /** The path alone, as metrics and the control know it. */
  readonly path: string;
  readonly dialect: Dialect;
}

/** The path of a request target, without its query. */
export function pathOf(target: string): string {
  const end = target.indexOf('?');
  return end < 0 ? target : target.slice(0, end);
}

/** Engines decode a path before they look at it, so an encoded letter must not lead around the gateway. */
function decoded(path: string): string {
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Path and query of a request target that names the whole URL, which a server has to accept. */
export function originForm(target: string): string {
  const [, rest] = /^https?:\/\/[^/?#]*(.*)$/i.exec(target) ?? [];
  if (rest === undefined) return target;
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** The route of a request that is one attempt of a call; undefined for everything that only passes through. */
export function recognised(
  method: string | undefined,
  target: string,
  further: readonly string[],
): Route | undefined {
  if (method !== 'POST') return undefined;
  const path = decoded(pathOf(target));
  if (Object.hasOwn(DIALECTS, path)) return { path, dialect: DIALECTS[path] ?? 'plain' };
  return further.includes(path) ? { path, dialect: 'plain' } : undefined;
}
