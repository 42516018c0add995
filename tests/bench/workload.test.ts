/** That only a whole answer to the very request counts. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  EVENTS,
  fault,
  findMarker,
  jsonAnswer,
  markerOf,
  requestText,
  STREAM_END,
  streamEvent,
  WORKLOAD,
  WORKLOADS,
  wordsIn,
} from '../../bench/gateways/workload.js';

const faultOf = (kind: 'json' | 'stream', marker: string, text: string): string | undefined =>
  fault(kind, marker, Buffer.from(text), wordsIn(Buffer.from(text)));

function streamOf(marker: string, events = EVENTS): string {
  const first = streamEvent(0, `${marker} ~w0`);
  const rest = Array.from({ length: events - 1 }, (_, at) => streamEvent(at + 1, ` ~w${at + 1}`));
  return [first, ...rest].join('');
}

test('a request is JSON of the stated length with its marker in the prompt', () => {
  for (const { answer, bodyBytes } of WORKLOADS.map((name) => WORKLOAD[name])) {
    const marker = markerOf(answer, 12);
    const { before, after } = requestText(answer, bodyBytes);
    const body = before + marker + after;
    assert.equal(Buffer.byteLength(body), bodyBytes);
    const { stream, messages } = JSON.parse(body) as { stream?: boolean; messages: { content: string }[] };
    assert.equal(stream === true, answer !== 'json');
    assert.ok(messages.at(-1)?.content.startsWith(marker));
    assert.deepEqual(findMarker(Buffer.from(body)), { marker, kind: answer });
  }
});

test('a JSON answer is whole with its marker, its words, its reason and its usage', () => {
  const marker = markerOf('json', 7);
  const { before, after } = jsonAnswer();
  const answer = before + marker + after;
  assert.doesNotThrow(() => JSON.parse(answer));
  assert.equal(faultOf('json', marker, answer), undefined);
  assert.match(faultOf('json', markerOf('json', 8), answer) ?? '', /not the answer/);
  assert.match(faultOf('json', marker, answer.replace('~', '')) ?? '', /39 words of 40/);
  assert.match(faultOf('json', marker, answer.replace('"usage"', '"used"')) ?? '', /no usage/);
});

test('a stream is whole with all of its events and its end', () => {
  const marker = markerOf('stream', 7);
  assert.equal(faultOf('stream', marker, streamOf(marker) + STREAM_END), undefined);
  assert.match(faultOf('stream', marker, streamOf(marker)) ?? '', /no \[DONE\]/);
  assert.match(
    faultOf('stream', marker, streamOf(marker, EVENTS - 1) + STREAM_END) ?? '',
    /299 words of 300/,
  );
});
