/** What a real vLLM answered is followed as what it was: whole, with its usage, or refused with its error. */

import { deepEqual, equal, notEqual, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, answerOf } from '../../src/shell/gateway/answer.js';
import { type Route, recognised } from '../../src/shell/gateway/routes.js';
import { EXCHANGES, type Exchange } from '../support/wire.js';

/** The recorded 2xx answers of call routes that were kept in full, each with its route. */
function answers(): { exchange: Exchange; route: Route; stream: boolean }[] {
  return EXCHANGES.flatMap((exchange) => {
    const route = recognised(exchange.request.method, exchange.request.path, []);
    if (route === undefined || exchange.status !== 200 || exchange.truncated) return [];
    const stream = exchange.headers['content-type']?.startsWith('text/event-stream') ?? false;
    return [{ exchange, route, stream }];
  });
}

/** Feeds the body in pieces of `size` bytes; says after how many bytes the answer had begun and was whole. */
function follow(
  exchange: Exchange,
  route: Route,
  size: number,
): { answer: Answer; begun: number; whole: number } {
  const answer = answerOf(route.dialect, exchange.headers);
  const bytes = Buffer.from(exchange.body);
  let begun = Number.POSITIVE_INFINITY;
  let whole = Number.POSITIVE_INFINITY;
  for (let at = 0; at < bytes.length; at += size) {
    answer.feed(bytes.subarray(at, at + size));
    if (answer.begun) begun = Math.min(begun, at + size);
    if (answer.whole) whole = Math.min(whole, at + size);
  }
  return { answer, begun, whole };
}

test('every whole answer is seen to be whole, at its last byte and no sooner', () => {
  ok(answers().length > 20);
  for (const { exchange, route, stream } of answers()) {
    const length = Buffer.byteLength(exchange.body);
    const { answer, begun, whole } = follow(exchange, route, 1);
    ok(begun <= length, exchange.name);
    equal(whole, stream ? length : Number.POSITIVE_INFINITY, exchange.name);
    equal(answer.end(), true, exchange.name);
    deepEqual([answer.failedFirst, answer.failedLater], [undefined, undefined], exchange.name);
  }
});

test('a stream cut short anywhere is never whole', () => {
  for (const { exchange, route } of answers().filter(({ stream }) => stream)) {
    const cut = { ...exchange, body: exchange.body.slice(0, -2) };
    equal(follow(cut, route, 100).answer.end(), false, exchange.name);
  }
});

test('every answer that reports its usage is understood', () => {
  for (const { exchange, route } of answers()) {
    const { answer } = follow(exchange, route, 1000);
    const usage = answer.usage();
    if (!/"usage":\s*\{/.test(exchange.body)) {
      equal(usage, undefined, exchange.name);
      continue;
    }
    notEqual(usage, undefined, exchange.name);
    ok((usage?.promptTokens ?? 0) > 0, exchange.name);
    ok((usage?.completionTokens ?? 0) > 0, exchange.name);
  }
});
