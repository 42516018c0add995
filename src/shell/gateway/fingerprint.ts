/** What makes two requests the same request: one hash over everything that decides the answer. */

import { createHash, createHmac } from 'node:crypto';
import { canonicalMembers, canonicalText, type Members } from './canonical.js';

/** Bodies above this are hashed as they came: a canonical form of them would hold up every other client. */
export const CANONICAL_LIMIT_BYTES = 2 * 1024 * 1024;

/** Headers that choose a version of the API, and how the body is packed. */
export const VERSION_HEADERS = ['anthropic-version', 'anthropic-beta', 'openai-beta', 'content-encoding'];

/** What a client may change from attempt to attempt without asking for another answer. */
const NOT_OF_THE_CALL = new Set(['stream_options', 'client_metadata']);

export interface Asked {
  readonly method: string;
  /** Path and query as they were sent. */
  readonly target: string;
  /** Values by name of {@link VERSION_HEADERS}. */
  readonly versions: Readonly<Record<string, readonly string[]>>;
  readonly body: Buffer;
}

export interface Fingerprint {
  /** SHA-256, hexadecimal. */
  readonly hash: string;
  /** The body's top-level members in canonical text, when it has a canonical form. */
  readonly members?: Members | undefined;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The fingerprint of a request; a body without a canonical form counts byte by byte. */
export function fingerprint(asked: Asked): Fingerprint {
  const members = membersOf(asked);
  const hash = createHash('sha256');
  const field = (value: string | Buffer): void => {
    hash.update(`${Buffer.byteLength(value)}:`).update(value);
  };
  field(asked.method);
  field(asked.target);
  for (const name of VERSION_HEADERS) {
    const values = asked.versions[name] ?? [];
    field(String(values.length));
    for (const value of values) field(value);
  }
  field(members === undefined ? 'bytes' : 'json');
  field(members === undefined ? asked.body : canonicalText(members, NOT_OF_THE_CALL));
  return { hash: hash.digest('hex'), members };
}

function membersOf({ body, versions }: Asked): Members | undefined {
  if (body.length > CANONICAL_LIMIT_BYTES) return undefined;
  if ((versions['content-encoding'] ?? []).length > 0) return undefined;
  try {
    return canonicalMembers(utf8.decode(body));
  } catch {
    return undefined;
  }
}

/** Names a value by its content without giving it away: an HMAC under a secret that never leaves the process. */
export function veil(secret: Uint8Array, ...values: readonly string[]): string {
  const hmac = createHmac('sha256', secret);
  for (const value of values) hmac.update(`${Buffer.byteLength(value)}:`).update(value);
  return hmac.digest('hex').slice(0, 32);
}
