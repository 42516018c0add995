/** Two requests are the same request only if the engine would have to do the same work for both. */

import { equal, match, notEqual } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type Asked, CANONICAL_LIMIT_BYTES, fingerprint, VERSION_HEADERS, veil } from './fingerprint.js';

function asked(body: string | Buffer, more: Partial<Asked> = {}): Asked {
  return { method: 'POST', target: '/v1/chat/completions', versions: {}, body: Buffer.from(body), ...more };
}

function hash(body: string | Buffer, more: Partial<Asked> = {}): string {
  return fingerprint(asked(body, more)).hash;
}

const BODY = '{"model":"a","messages":[{"role":"user","content":"hi"}],"temperature":0.5}';

test('the spelling of the body makes no difference', () => {
  const other = '{ "temperature": 0.5, "messages": [ {"content":"h\\u0069","role":"user"} ], "model":"a" }';
  equal(hash(BODY), hash(other));
});

test('stream_options and client_metadata make no difference at the top, and do below', () => {
  const meta = BODY.replace('{', '{"client_metadata":{"turn":2},"stream_options":{"include_usage":true},');
  equal(hash(BODY), hash(meta));
  const below = '{"metadata":{"stream_options":1}}';
  notEqual(hash(below), hash('{"metadata":{}}'));
});

test('everything else makes a difference', () => {
  const all = new Set([
    hash(BODY),
    hash(BODY.replace('0.5', '0.50')),
    hash(BODY.replace('{', '{"stream":true,')),
    hash(BODY.replace('{', '{"stream":false,')),
    hash(BODY.replace('{', '{"seed":1,')),
    hash(BODY.replace('{', '{"user":"b",')),
    hash(BODY, { target: '/v1/chat/completions?api-version=1' }),
    hash(BODY, { target: '/v1/completions' }),
    hash(BODY, { method: 'PUT' }),
    ...VERSION_HEADERS.flatMap((name) => [
      hash(BODY, { versions: { [name]: ['1'] } }),
      hash(BODY, { versions: { [name]: ['2'] } }),
      hash(BODY, { versions: { [name]: ['1', '2'] } }),
    ]),
  ]);
  equal(all.size, 9 + 3 * VERSION_HEADERS.length);
});

test('a body without a canonical form counts byte by byte', () => {
  const twice = '{"a":1,"a":1}';
  equal(hash(twice), hash(twice));
  notEqual(hash(twice), hash('{"a":1}'));
  notEqual(hash(twice), hash('{"a":1, "a":1}'));
  notEqual(hash('not json'), hash('not json '));
  const notUtf8 = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]);
  const replaced = Buffer.from(notUtf8.toString('utf8'));
  notEqual(hash(notUtf8), hash(replaced));
});

test('a packed body counts byte by byte, even if its bytes are a document', () => {
  const packed = gzipSync(BODY);
  const versions = { 'content-encoding': ['gzip'] };
  notEqual(hash(packed, { versions }), hash(BODY));
  equal(fingerprint(asked(BODY, { versions })).members, undefined);
});

test('a body above the limit counts byte by byte', () => {
  const long = `{"a":"${'x'.repeat(CANONICAL_LIMIT_BYTES)}"}`;
  equal(fingerprint(asked(long)).members, undefined);
  notEqual(hash(long), hash(`${long} `));
});

test('raw bytes cannot pass for a canonical text, nor one field for another', () => {
  notEqual(hash('{"a":1,"a":1}'), hash('json'));
  notEqual(hash('x', { target: '/v1/a', method: 'POST' }), hash('x', { target: 'POST', method: '/v1/a' }));
});

test('a veil tells values apart, keeps their boundaries, and means nothing under another secret', () => {
  const secret = randomBytes(32).toString('hex');
  match(veil(secret, 'a'), /^[\da-f]{32}$/);
  equal(veil(secret, 'a', 'b'), veil(secret, 'a', 'b'));
  notEqual(veil(secret, 'a', 'b'), veil(secret, 'ab'));
  notEqual(veil(secret, 'a', ''), veil(secret, 'a'));
  notEqual(veil(secret, 'a'), veil(randomBytes(32).toString('hex'), 'a'));
});
