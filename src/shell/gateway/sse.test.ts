/** Events are found whatever pieces the stream comes in, and nothing in it can make the memory grow. */

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { HEAD_LIMIT_BYTES, SseScanner, TAIL_LIMIT_BYTES } from './sse.js';

type Plain = readonly [name: string, data: string];

function scanned(pieces: readonly Buffer[]): Plain[] {
  const events: Plain[] = [];
  const scanner = new SseScanner((event) =>
    events.push([event.name, event.data.toString() + event.rest.toString()]),
  );
  for (const piece of pieces) scanner.feed(piece);
  return events;
}

const read = (text: string): Plain[] => scanned([Buffer.from(text)]);

test('an event is its name and its data, which may be several lines', () => {
  deepEqual(read('data: a\n\n'), [['', 'a']]);
  deepEqual(read('event: ping\ndata:{"a":1}\n\ndata: b\n\n'), [
    ['ping', '{"a":1}'],
    ['', 'b'],
  ]);
  deepEqual(read('data: a\ndata:  b\ndata\n\n'), [['', 'a\n b\n']]);
  deepEqual(read('data: a\r\n\r\ndata: b\r\n\r\n'), [
    ['', 'a'],
    ['', 'b'],
  ]);
});

test('comments, other fields and blank lines are no events, nor is one without its blank line', () => {
  deepEqual(read(': wait\n\n:\n\n\n\nid: 1\nretry: 5\n\nevent: a\n\ndata: cut\n'), []);
});

const lines = fc.array(
  fc.constantFrom(
    'data: a',
    'data: long enough',
    'data:',
    'event: x',
    ': comment',
    'id: 3',
    '',
    '',
    'data: ä€😀',
  ),
  { maxLength: 20 },
);

test('the pieces a stream comes in make no difference', () => {
  fc.assert(
    fc.property(
      lines,
      fc.constantFrom('\n', '\r\n'),
      fc.array(fc.nat({ max: 9 }), { minLength: 1 }),
      (all, ending, sizes) => {
        const bytes = Buffer.from(all.map((line) => line + ending).join(''));
        const pieces: Buffer[] = [];
        for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
          const size = 1 + (sizes[turn % sizes.length] ?? 0);
          pieces.push(bytes.subarray(at, at + size));
          at += size;
        }
        deepEqual(scanned(pieces), scanned([bytes]));
      },
    ),
  );
});

test('of a line too long to keep, head and tail are kept', () => {
  const long = `data: ${'h'.repeat(HEAD_LIMIT_BYTES * 3)}end`;
  for (const size of [7_000, 1_000_000]) {
    const bytes = Buffer.from(`event: big\n${long}\n\ndata: next\n\n`);
    const seen: [string, number, number, string][] = [];
    const scanner = new SseScanner(({ name, data, rest }) =>
      seen.push([name, data.length, rest.length, rest.toString().slice(-3)]),
    );
    for (let at = 0; at < bytes.length; at += size) scanner.feed(bytes.subarray(at, at + size));
    const [first, second] = seen;
    ok(first !== undefined);
    equal(first[0], 'big');
    ok(first[1] <= HEAD_LIMIT_BYTES * 4);
    if (size < HEAD_LIMIT_BYTES) deepEqual(first.slice(1), [HEAD_LIMIT_BYTES - 6, TAIL_LIMIT_BYTES, 'end']);
    deepEqual(second?.slice(0, 2), ['', 4]);
  }
});
