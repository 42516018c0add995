/** The keys that clients may come with: read from a file, held as keyed hashes, looked up without telling anything by time. */

import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { UserError } from '../shared/errors.js';
import { CREDENTIALS, valuesOf } from './headers.js';

const MOST_KEYS = 100_000;
const MOST_BYTES = 16 * 1024 * 1024;
const LONGEST_KEY = 4096;
const HASHED = /^sha256:(?<hex>[\da-f]{64})$/i;
/** The word before a credential, where there is one. */
const SCHEME = /^(?:bearer|token)\s+/i;

export class AllowedKeys {
  /** Of this process alone: nobody who does not know it can make two hashes that begin alike. */
  readonly #secret = randomBytes(32);
  readonly #keys = new Map<string, Buffer>();

  /** Each key as the SHA-256 of its bytes. */
  constructor(digests: Iterable<Buffer>) {
    for (const digest of digests) {
      const mark = this.#mark(digest);
      this.#keys.set(mark.toString('latin1'), mark);
    }
  }

  get size(): number {
    return this.#keys.size;
  }

  /** Whether every credential that the request has is one of the keys, and it has one. */
  allows(request: IncomingMessage): boolean {
    const given = keysOf(request);
    return given.length > 0 && given.every((key) => this.#knows(key));
  }

  #knows(key: string): boolean {
    const mark = this.#mark(createHash('sha256').update(key, 'latin1').digest());
    const known = this.#keys.get(mark.toString('latin1'));
    return known !== undefined && timingSafeEqual(known, mark);
  }

  #mark(digest: Buffer): Buffer {
    return createHmac('sha256', this.#secret).update(digest).digest();
  }
}

/** The keys that a request comes with, without the words before them. */
export function keysOf(request: IncomingMessage): readonly string[] {
  return CREDENTIALS.flatMap((name) => valuesOf(request, name)).map((value) =>
    value.trim().replace(SCHEME, ''),
  );
}

/** Reads a file with a key a line; a {@link UserError} says what is wrong with it, without repeating a key. */
export function readAllowedKeys(path: string): AllowedKeys {
  let text: string;
  try {
    text = readFileSync(path, 'latin1');
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error';
    throw new UserError('config_unreadable', `cannot read the allowed keys: ${path}: ${code}`);
  }
  return parseAllowedKeys(text, path);
}

/** A key a line, as it is or as `sha256:` and its hash; empty lines and those behind `#` count for nothing. */
export function parseAllowedKeys(text: string, path: string): AllowedKeys {
  const wrong = (what: string): UserError => new UserError('config_invalid', `${path}: ${what}`);
  if (text.length > MOST_BYTES) throw wrong(`must have at most ${MOST_BYTES} bytes`);
  const digests: Buffer[] = [];
  for (const [at, line] of text.split('\n').entries()) {
    const key = line.trim();
    if (key === '' || key.startsWith('#')) continue;
    if (key.length > LONGEST_KEY) throw wrong(`line ${at + 1}: a key has at most ${LONGEST_KEY} bytes`);
    if (/\s/.test(key)) throw wrong(`line ${at + 1}: a key has no space inside; one key a line`);
    const hex = HASHED.exec(key)?.groups?.['hex'];
    if (hex === undefined && /^sha256:/i.test(key))
      throw wrong(`line ${at + 1}: behind sha256: there must be 64 hexadecimal digits`);
    digests.push(
      hex === undefined ? createHash('sha256').update(key, 'latin1').digest() : Buffer.from(hex, 'hex'),
    );
    if (digests.length > MOST_KEYS) throw wrong(`must have at most ${MOST_KEYS} keys`);
  }
  if (digests.length === 0)
    throw wrong('has no key, so that nobody could come in; leave the setting out to let everybody in');
  return new AllowedKeys(digests);
}
