/** That the bench reads messages as they are, however their bytes are cut. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageReader } from '../../bench/gateways/message-reader.js';

const COUNTED = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';
const CHUNKED =
  'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=1\r\n0123456789\r\n0\r\nt: 1\r\n\r\n';
const EMPTY = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';

/** The bodies of the messages in `text`, handed over in pieces of `size` bytes. */
function bodiesOf(text: string, size: number): string[] {
  const bodies: string[] = [];
  let body = '';
  const reader = new MessageReader('response', {
    head: () => {
      body = '';
    },
    piece: (bytes) => {
      body += bytes.toString('latin1');
    },
    end: () => bodies.push(body),
  });
  const bytes = Buffer.from(text, 'latin1');
  for (let at = 0; at < bytes.length; at += size) reader.read(bytes.subarray(at, at + size));
  reader.closed();
  return bodies;
}

test('counted, chunked and empty messages on one connection are told apart at every cut', () => {
  const text = COUNTED + CONTINUE + CHUNKED + EMPTY + COUNTED;
  for (let size = 1; size <= text.length; size += 1) {
    assert.deepEqual(bodiesOf(text, size), ['hello', 'abc0123456789', '', 'hello'], `${size} bytes a piece`);
  }
});

test('a body without a length ends with its connection', () => {
  assert.deepEqual(bodiesOf('HTTP/1.0 200 OK\r\n\r\nall of it', 4), ['all of it']);
});

test('a message that was cut off has not ended', () => {
  assert.deepEqual(bodiesOf(COUNTED.slice(0, -1), 8), []);
  assert.deepEqual(bodiesOf(CHUNKED.slice(0, -2), 8), []);
});

test('what is no chunk is refused', () => {
  assert.throws(
    () => bodiesOf('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n', 512),
    /without its length/,
  );
});
