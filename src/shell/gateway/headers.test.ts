/** What crosses the gateway and what does not, header by header. */

import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { incoming } from '../../../tests/support/incoming.js';
import { answerHeaders, fieldsOf, forwarded, forwardedToEngine, mediaType } from './headers.js';
import { originForm, pathOf, recognised } from './routes.js';

test('headers of one connection are dropped, named ones too, and the rest keeps its order and spelling', () => {
  const request = incoming([
    ['Host', 'a'],
    ['X-B', '1'],
    ['Connection', 'close, X-Local'],
    ['X-Local', '1'],
    ['TE', 'trailers'],
    ['Expect', '100-continue'],
    ['x-b', '2'],
    ['Content-Length', '2'],
  ]);
  deepEqual(forwarded(request, new Set()), ['X-B', '1', 'x-b', '2', 'Content-Length', '2']);
});

test('an engine gets plain bytes asked for, and neither the request id of the client nor words for the gateway', () => {
  const request = incoming([
    ['Accept-Encoding', 'gzip'],
    ['X-Request-Id', 'a'],
    ['Content-Length', '2'],
    ['x-holdfast-cancel-on-leave', 'true'],
    ['Authorization', 'b'],
  ]);
  deepEqual(forwardedToEngine(request, true), ['Authorization', 'b', 'accept-encoding', 'identity']);
});

test('an answer keeps every value of a header, byte for byte, but for those of its connection', () => {
  const fields = fieldsOf([
    Buffer.from('Set-Cookie'),
    Buffer.from('a'),
    Buffer.from('set-cookie'),
    Buffer.from('b'),
    'SET-COOKIE',
    'c',
    Buffer.from('Connection'),
    Buffer.from('X-Gone'),
    'x-gone',
    '1',
    'Transfer-Encoding',
    'chunked',
    '__proto__',
    '1',
    Buffer.from('X-Euro'),
    Buffer.from('€'),
  ]);
  const kept = answerHeaders(fields);
  deepEqual(kept['set-cookie'], ['a', 'b', 'c']);
  deepEqual(kept['x-euro'], Buffer.from('€').toString('latin1'));
  deepEqual(
    [kept['connection'], kept['x-gone'], kept['transfer-encoding']],
    [undefined, undefined, undefined],
  );
});

test('a media type is what stands before its parameters', () => {
  deepEqual(
    ['Text/Event-Stream; charset=utf-8', 'application/json', '', undefined, ['a/b', 'c/d']].map(mediaType),
    ['text/event-stream', 'application/json', '', '', 'a/b'],
  );
});

test('routes are recognised by method and decoded path, never by more', () => {
  const known = (method: string, target: string): string | undefined =>
    recognised(method, target, ['/v1/rank'])?.path;
  equal(known('POST', '/v1/chat/completions?x=1'), '/v1/chat/completions');
  equal(known('POST', '/v1/%63hat/completions'), '/v1/chat/completions');
  equal(known('POST', '/v1/rank'), '/v1/rank');
  for (const target of [
    '/v1/chat',
    '/v1/chat/completions/',
    '/v1/messages/count_tokens',
    '/v1/%',
    '/toString',
    '/__proto__',
    '',
  ]) {
    equal(known('POST', target), undefined, target);
  }
  equal(known('GET', '/v1/messages'), undefined);
});

test('a target that names the whole URL is read as its path and query', () => {
  deepEqual(['http://a/b?c', 'HTTPS://a:1', 'http://a?b', '/http://a/b', '*', ''].map(originForm), [
    '/b?c',
    '/',
    '/?b',
    '/http://a/b',
    '*',
    '',
  ]);
  equal(pathOf('/a?b?c'), '/a');
});
