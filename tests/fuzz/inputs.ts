/** What a fuzz run sends: valid requests of every form, mutated more or less, and plain noise. */

import { gzipSync } from 'node:zlib';
import type { Random } from '../../src/core/chance/random.js';

const PATHS = [
  '/v1/chat/completions',
  '/v1/completions',
  '/v1/responses',
  '/v1/messages',
  '/v1/embeddings',
  '/v1/models',
  '/tokenize',
  '/metrics',
  '/livez',
  'http://engine/v1/completions?a=b',
  '*',
];
const HEADERS = [
  'authorization: Bearer sk-a',
  'authorization: Bearer sk-b',
  'idempotency-key: one',
  'x-stainless-retry-count: 1',
  'x-stainless-timeout: 1',
  'x-request-deadline: 0.2',
  'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  'expect: 100-continue',
  'connection: close',
  'connection: keep-alive, x-hop',
  'cache-control: no-store',
  'x-holdfast-cancel-on-leave: true',
  'x-holdfast-class: batch',
  'x-holdfast-class: constructor',
  'session-id: one',
  'accept-encoding: gzip',
  'te: trailers',
  'origin: https://page.example',
  'origin: https://evil.example',
  'access-control-request-method: POST',
  'access-control-request-headers: authorization',
];
/** Pieces that parsers trip over. */
const TOKENS = [
  '\r\n',
  '\r\n\r\n',
  '\n',
  '\0',
  ': ',
  'transfer-encoding: chunked\r\n',
  'content-length: 5\r\n',
  'content-length: 99999999999999999999\r\n',
  'content-encoding: gzip\r\n',
  'upgrade: websocket\r\nconnection: upgrade\r\n',
  'POST /v1/completions HTTP/1.1\r\nhost: g\r\n\r\n',
  '0\r\n\r\n',
  'ffffffff\r\n',
  '{"a":'.repeat(300),
  '\\u',
  '"',
  'x'.repeat(5000),
];

function pick<T>(random: Random, all: readonly T[]): T {
  return all[random.integer(0, all.length - 1)] as T;
}

/** The bytes of one connection: one request or several. */
export function input(random: Random): Buffer {
  if (random.uniform() < 0.05) return noise(random, random.integer(0, 2_000));
  const count = random.uniform() < 0.15 ? random.integer(2, 4) : 1;
  let bytes: Buffer = Buffer.concat(Array.from({ length: count }, () => request(random)));
  const changes = random.uniform() < 0.35 ? 0 : random.integer(1, 6);
  for (let at = 0; at < changes; at += 1) bytes = mutated(bytes, random);
  return bytes;
}

function noise(random: Random, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random.integer(0, 255)));
}

function request(random: Random): Buffer {
  const method =
    random.uniform() < 0.85 ? 'POST' : pick(random, ['GET', 'HEAD', 'OPTIONS', 'PUT', 'CONNECT']);
  const version = random.uniform() < 0.9 ? '1.1' : '1.0';
  const lines = [
    `${method} ${pick(random, PATHS)} HTTP/${version}`,
    'host: g',
    'content-type: application/json',
  ];
  for (const header of HEADERS) if (random.uniform() < 0.15) lines.push(header);
  const plain = body(random);
  const packed = random.uniform() < 0.1;
  const bytes = packed ? gzipSync(plain) : plain;
  if (packed) lines.push('content-encoding: gzip');
  const chunked = random.uniform() < 0.2;
  lines.push(chunked ? 'transfer-encoding: chunked' : `content-length: ${bytes.length}`);
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  return Buffer.concat([head, chunked ? inChunks(bytes, random) : bytes]);
}

/** Few different ones, so that attempts meet. */
function body(random: Random): Buffer {
  const size = random.uniform() < 0.05 ? random.integer(10_000, 200_000) : 10;
  return Buffer.from(
    JSON.stringify({
      model: pick(random, ['tiny', 'small']),
      stream: random.uniform() < 0.5,
      messages: [{ role: 'user', content: 'x'.repeat(size) + random.integer(0, 4) }],
    }),
  );
}

function inChunks(bytes: Buffer, random: Random): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const size = random.integer(1, bytes.length - at);
    parts.push(Buffer.from(`${size.toString(16)}\r\n`), bytes.subarray(at, at + size), Buffer.from('\r\n'));
    at += size;
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]);
}

function mutated(bytes: Buffer, random: Random): Buffer {
  const at = random.integer(0, bytes.length);
  const to = Math.min(bytes.length, at + random.integer(0, 40));
  const before = bytes.subarray(0, at);
  switch (random.integer(0, 5)) {
    case 0:
      return Buffer.concat([before, noise(random, to - at), bytes.subarray(to)]);
    case 1:
      return Buffer.concat([before, bytes.subarray(to)]);
    case 2:
      return Buffer.concat([before, bytes.subarray(at, to), bytes.subarray(at)]);
    case 3:
      return Buffer.concat([before, Buffer.from(pick(random, TOKENS), 'latin1'), bytes.subarray(at)]);
    case 4:
      return Buffer.concat([before, noise(random, random.integer(1, 20)), bytes.subarray(at)]);
    default:
      return Buffer.from(before);
  }
}
