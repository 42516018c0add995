/** What counts as an answer: whole, in whatever pieces it comes, and no error in its place. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnswerReader, DocumentReader, StreamReader } from './answer.js';

function fed<Reader extends AnswerReader>(reader: Reader, text: string, size = text.length): Reader {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) reader.feed(bytes.subarray(at, at + size));
  return reader;
}

const CHUNK = 'data: {"id":"cmpl-7","choices":[{"text":"an \\"error\\""}]}\n\n';

test('a stream is whole with [DONE] and not without it, in pieces of any size', () => {
  for (const size of [1, 2, 7, 1_000]) {
    assert.equal(fed(new StreamReader(), `${CHUNK}${CHUNK}data: [DONE]\n\n`, size).end(), 'whole');
    assert.equal(fed(new StreamReader(), `${CHUNK}data:[DONE]\r\n\r\n`, size).end(), 'whole');
    assert.equal(fed(new StreamReader(), `${CHUNK}${CHUNK}`, size).end(), 'partial');
    assert.equal(fed(new StreamReader(), CHUNK.replace('an', 'data: [DONE]'), size).end(), 'partial');
  }
  assert.equal(new StreamReader().end(), 'partial');
});

test('an error event makes an error of a stream, also when [DONE] follows', () => {
  for (const event of [
    '{"error": {"code": 500}}',
    '{"object":"error","message":"\\"error\\""}',
    '{"error":"x"}',
  ]) {
    const text = `${CHUNK}data: ${event}\n\ndata: [DONE]\n\n`;
    const kept = event.startsWith('{"object"') ? `data: ${event}\n\ndata: [DONE]\n\n` : text;
    assert.equal(fed(new StreamReader(), kept, 5).end(), 'error', event);
  }
  assert.equal(fed(new StreamReader(), `data: {"error":null,"id":"x"}\n\ndata: [DONE]\n\n`).end(), 'whole');
});

test('a comment is no part of the answer, an event is', () => {
  const reader = new StreamReader();
  assert.equal(reader.feed(Buffer.from(': still there\n\n')), false);
  assert.equal(reader.feed(Buffer.from('data: {"id"')), false);
  assert.equal(reader.feed(Buffer.from(':"a"}\n\n')), true);
});

test('a line without end is given up on', () => {
  const reader = new StreamReader();
  for (let piece = 0; piece < 20; piece += 1) reader.feed(Buffer.alloc(100_000, 0x61));
  assert.equal(reader.early, 'error');
});

test('a document is whole when it can be read and tells no error', () => {
  const read = (text: string): string => fed(new DocumentReader(), text, 3).end();
  assert.equal(read('{"id":"cmpl-1","choices":[]}'), 'whole');
  assert.equal(read('{"id":"cmpl-1","choices":['), 'partial');
  assert.equal(read('not an answer'), 'partial');
  assert.equal(read(''), 'partial');
  assert.equal(read('{"error":{"message":"no"}}'), 'error');
});

test('the id of an answer is told, in a stream by its first event', () => {
  assert.deepEqual(fed(new StreamReader(), `${CHUNK}data: {"id":"other"}\n\n`).told, { execution: 'cmpl-7' });
  const document = fed(new DocumentReader(), '{"id":"cmpl-9"}');
  document.end();
  assert.deepEqual(document.told, { execution: 'cmpl-9' });
});
