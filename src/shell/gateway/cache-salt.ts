/** Keeps tenants apart in the engine's prefix cache: a tenant's requests carry a `cache_salt` of their own. */

import { createHash } from 'node:crypto';

const SALT_CHARACTERS = 22;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** What vLLM mixes into the first block's hash for this tenant; it says nothing of the tenant. */
export function cacheSalt(tenant: string): string {
  return createHash('sha256').update(`cache salt\n${tenant}`).digest('base64url').slice(0, SALT_CHARACTERS);
}

/**
 * The body with `salt` as its first member, so that a salt of the client's own, which comes later, still counts. A body
 * that is no JSON object is left as it is.
 */
export function salted(body: Buffer, salt: string): Buffer {
  const open = afterSpace(body, 0);
  if (body[open] !== OPEN_BRACE) return body;
  const comma = body[afterSpace(body, open + 1)] === CLOSE_BRACE ? '' : ',';
  const member = Buffer.from(`"cache_salt":${JSON.stringify(salt)}${comma}`);
  return Buffer.concat([body.subarray(0, open + 1), member, body.subarray(open + 1)]);
}

function afterSpace(body: Buffer, from: number): number {
  let at = from;
  while (at < body.length && isSpace(body[at] as number)) at += 1;
  return at;
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d && byte !== 0x0b && byte !== 0x0c);
}
