/** What makes two requests the same request: one hash over everything that decides the answer. */

import { isAscii } from 'node:buffer';
import { createHash, hash as hashOf } from 'node:crypto';
import { canonicalMembers, canonicalText, type Members } from './canonical.js';
import { hasControlBytes } from './control-bytes.js';

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
  let head = field(asked.method) + field(asked.target);
  for (const name of VERSION_HEADERS) {
    const values = asked.versions[name] ?? [];
    head += field(String(values.length));
    for (const value of values) head += field(value);
  }
  // The body needs no length, since nothing comes after it.
  if (members === undefined) {
    const hash = createHash('sha256').update(`${head}bytes:`).update(asked.body).digest('hex');
    return { hash, members };
  }
  return { hash: hashOf('sha256', `${head}json:${canonicalText(members, NOT_OF_THE_CALL)}`), members };
}

/** A value that no other values can be mistaken for, whatever stands before and after it. */
function field(value: string): string {
  return `${Buffer.byteLength(value)}:${value}`;
}

function membersOf({ body, versions }: Asked): Members | undefined {
  if (body.length > CANONICAL_LIMIT_BYTES) return undefined;
  if ((versions['content-encoding'] ?? []).length > 0) return undefined;
  try {
    return canonicalMembers(
      isAscii(body) ? body.toString('latin1') : utf8.decode(body),
      !hasControlBytes(body),
    );
  } catch {
    return undefined;
  }
}

/**
 * Names values by their content without giving it away, under a secret that never leaves the process. Of the hash one
 * half is dropped, so that it cannot be carried on to the hash of a longer text.
 */
export function veil(secret: string, ...values: readonly string[]): string {
  let text = field(secret);
  for (const value of values) text += field(value);
  return hashOf('sha256', text).slice(0, 32);
}
