/** What an engine is told of a call's urgency: where, how much, and nothing else of the request changes. */

import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { prioritised, priorityOf } from './engine-priority.js';

const told = (text: string, priority: number, headers: readonly string[] = []): string =>
  prioritised({ headers, body: Buffer.from(text) }, 'body', priority).body.toString();
const inHeader = (text: string, priority: number, headers: readonly string[] = []): readonly string[] =>
  prioritised({ headers, body: Buffer.from(text) }, 'header', priority).headers;

const fieldOf = (text: string): unknown => (JSON.parse(text) as { priority?: unknown }).priority;

test('the tier says how urgent a call is, and where there is none, its deadlines do', () => {
  const deadlines = { late: false, basis: 'announced', deadlineInMs: 1, giveUpInMs: 2 } as const;
  deepEqual(
    (['pressing', 'on_time', 'late', 'hopeless'] as const).map((tier) => priorityOf({ ...deadlines, tier })),
    [0, 1, 2, 3],
  );
  equal(priorityOf(deadlines), 1);
  equal(priorityOf({ ...deadlines, deadlineInMs: 0 }), 2);
  equal(priorityOf({ ...deadlines, late: true }), 2);
  equal(priorityOf({ ...deadlines, deadlineInMs: -2, giveUpInMs: -1 }), 3);
});

test('any JSON object gains the field and keeps every other member, byte for byte', () => {
  const members = fc.dictionary(
    fc.string().filter((name) => name !== 'priority'),
    fc.jsonValue(),
  );
  fc.assert(
    fc.property(members, fc.constantFrom('', ' ', '\n\t'), fc.nat({ max: 3 }), (object, space, priority) => {
      const text = `${space}${JSON.stringify(object, null, space)}${space}`;
      const sent = told(text, priority);
      deepEqual(JSON.parse(sent), { ...JSON.parse(text), priority });
      const end = text.lastIndexOf('}');
      equal(sent.slice(0, end), text.slice(0, end));
      equal(sent.slice(sent.length - text.length + end), text.slice(end));
    }),
  );
});

test('a client may ask to be served later, and never sooner', () => {
  equal(told('{"priority":7}', 1), '{"priority":7}');
  equal(fieldOf(told('{"priority":-7,"n":1}', 1)), 1);
  equal(fieldOf(told('{"priority":"soon"}', 1)), 1);
  equal(fieldOf(told('{"prior\\u0069ty":-7}', 1)), 1);
  deepEqual(inHeader('{"priority":7}', 1), ['x-vllm-priority', '7']);
  deepEqual(inHeader('{"priority":-7}', 2), ['x-vllm-priority', '2']);
  deepEqual(inHeader('{}', 2, ['X-Vllm-Priority', '-1', 'a', 'b']), ['a', 'b', 'x-vllm-priority', '2']);
  deepEqual(inHeader('{"priority":1}', 2, ['X-Vllm-Priority', '5']), ['x-vllm-priority', '5']);
  deepEqual(inHeader('{}', 2, ['X-Vllm-Priority', 'first']), ['x-vllm-priority', '2']);
  const both = prioritised({ headers: ['X-Vllm-Priority', '-1'], body: Buffer.from('{}') }, 'body', 2);
  deepEqual([both.headers, both.body.toString()], [[], '{"priority":2}']);
});

test('a priority somewhere else in the body is none of the request’s', () => {
  equal(told('{"a":{"priority":9}}', 1), '{"a":{"priority":9},"priority":1}');
});

test('what is no JSON object is left as it is', () => {
  for (const text of ['', '[]', '"x"', '  ', 'oops', '{"a":1} more', '\u001f\u008b'])
    equal(told(text, 1), text);
});

test('an engine that is told nothing gets the request as it came', () => {
  const request = { headers: ['X-Vllm-Priority', '-1'], body: Buffer.from('{"priority":-7}') };
  equal(prioritised(request, 'off', 2), request);
});
