/** The canonical form's laws: all spellings of one document are one text, and no two documents share it. */

import { equal, notEqual, ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalMembers, canonicalText, DEPTH_LIMIT, STEP_LIMIT } from './canonical.js';

function canonical(text: string): string | undefined {
  const members = canonicalMembers(text);
  return members === undefined ? undefined : canonicalText(members);
}

/** A JSON value that keeps its numbers as text. */
type Value = null | boolean | string | { readonly number: string } | readonly Value[] | Document;
type Document = { readonly members: readonly (readonly [string, Value])[] };

const digits = fc.stringMatching(/^-?(0|[1-9]\d{0,30})(\.\d{1,20})?([eE][+-]?\d{1,3})?$/);
const { document } = fc.letrec<{ value: Value; document: Document }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constant(null),
    fc.boolean(),
    fc.string({ unit: 'binary' }),
    fc.record({ number: digits }),
    fc.array(tie('value'), { maxLength: 4 }),
    tie('document'),
  ),
  document: fc.record({
    members: fc.uniqueArray(fc.tuple(fc.string({ unit: 'binary', maxLength: 6 }), tie('value')), {
      selector: ([key]) => key,
      maxLength: 5,
    }),
  }),
}));

/** Where spellings may differ: a draw from 0 to `below` − 1. */
type Draw = (below: number) => number;

function spelled(value: Value, draw: Draw): string {
  const space = (): string => ['', ' ', '\n', '\t \r\n'][draw(4)] ?? '';
  const list = (items: readonly string[]): string =>
    items.map((item) => space() + item + space()).join(',') || space();
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return spelledString(value, draw);
  if ('number' in value) return value.number;
  if ('members' in value) {
    const members = value.members.map(
      ([key, item]) => `${spelledString(key, draw)}${space()}:${space()}${spelled(item, draw)}`,
    );
    return `{${list(shuffled(members, draw))}}`;
  }
  return `[${list(value.map((item) => spelled(item, draw)))}]`;
}

function spelledString(text: string, draw: Draw): string {
  let spelling = '';
  for (let at = 0; at < text.length; at += 1) {
    const unit = text[at] ?? '';
    const escape = `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
    const plain = JSON.stringify(unit).slice(1, -1);
    const lone = unit >= '\ud800' && unit <= '\udfff';
    const choice = draw(4);
    if (choice === 0 || lone) spelling += choice === 1 ? escape.toUpperCase().replace('U', 'u') : escape;
    else spelling += unit === '/' && choice === 2 ? '\\/' : plain;
  }
  return `"${spelling}"`;
}

function shuffled<T>(items: readonly T[], draw: Draw): T[] {
  const left = [...items];
  const order: T[] = [];
  while (left.length > 0) order.push(...left.splice(draw(left.length), 1));
  return order;
}

const draws = fc.infiniteStream(fc.nat({ max: 1_000_000 })).map(
  (stream): Draw =>
    (below) => {
      const { value } = stream.next() as { value: number };
      return value % below;
    },
);

test('key order, space and escapes make no difference', () => {
  fc.assert(
    fc.property(document, draws, draws, (value, one, two) => {
      const first = canonical(spelled(value, one));
      ok(first !== undefined);
      equal(canonical(spelled(value, two)), first);
    }),
    { numRuns: 500 },
  );
});

test('the canonical text is itself a spelling of the document, and its own canonical text', () => {
  fc.assert(
    fc.property(document, draws, (value, draw) => {
      const text = canonical(spelled(value, draw)) ?? '';
      equal(canonical(text), text);
    }),
  );
});

const NEVER: Draw = () => 0;

test('two documents have one text only if they are the same document', () => {
  fc.assert(
    fc.property(document, document, draws, (a, b, draw) => {
      const same = sorted(a) === sorted(b);
      equal(canonical(spelled(a, draw)) === canonical(spelled(b, draw)), same);
    }),
    { numRuns: 500 },
  );
});

/** The document with its keys in order, by a way of its own. */
function sorted(value: Value): string {
  return JSON.stringify(value, (_, item: unknown) =>
    typeof item === 'object' && item !== null && 'members' in item
      ? { members: (item as Document).members.toSorted(([a], [b]) => (a < b ? -1 : 1)) }
      : item,
  );
}

test('a change anywhere in a document changes its text', () => {
  fc.assert(
    fc.property(document, fc.string({ maxLength: 6 }), digits, (value, key, number) => {
      const members = value.members.filter(([name]) => name !== key);
      const with1 = spelled({ members: [...members, [key, { number }]] }, NEVER);
      const with2 = spelled({ members: [...members, [key, { number: `${number}0` }]] }, NEVER);
      if (canonical(with2) !== undefined) notEqual(canonical(with1), canonical(with2));
      notEqual(canonical(with1), canonical(spelled({ members }, NEVER)));
    }),
  );
});

test('numbers are what they were written as', () => {
  for (const [a, b] of [
    ['1', '1.0'],
    ['18446744073709551616', '18446744073709551617'],
    ['0.1', '0.10000000000000000001'],
    ['-0', '0'],
    ['1e2', '100'],
    ['1e400', '2e400'],
  ]) {
    notEqual(canonical(`{"a":${a}}`), canonical(`{"a":${b}}`), `${a} and ${b}`);
    ok(canonical(`{"a":${a}}`) !== undefined);
  }
});

test('what is not one JSON object, or holds a key twice, has no canonical form', () => {
  for (const text of [
    '',
    ' ',
    '[]',
    '1',
    '"a"',
    'null',
    '{',
    '{}}',
    '{} {}',
    '{"a":1,"a":2}',
    '{"a":1,"\\u0061":2}',
    '{"b":{"a":1,"a":1}}',
    '{"a":1,}',
    '{,}',
    '{"a" 1}',
    '{a:1}',
    "{'a':1}",
    '{"a":01}',
    '{"a":1.}',
    '{"a":.5}',
    '{"a":+1}',
    '{"a":0x1}',
    '{"a":NaN}',
    '{"a":tru}',
    '{"a":[1,]}',
    '{"a":[1 2]}',
    '{"a":"\n"}',
    '{"a":"\u0000"}',
    '{"a":"\\x"}',
    '{"a":"\\u12"}',
    '{"a":"b}',
    '{"a":"b\\"}',
    '{"a":1}\u00a0',
    '\ufeff{"a":1}',
    '{"a":/**/1}',
  ]) {
    equal(canonical(text), undefined, text);
  }
});

test('any text at all is either given a form that JSON.parse agrees with, or none', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        document.map((value) => spelled(value, NEVER).replace(/[\]}"]/, '')),
      ),
      (text) => {
        const form = canonical(text);
        if (form === undefined) return;
        equal(JSON.stringify(sortedKeys(JSON.parse(form))), JSON.stringify(sortedKeys(JSON.parse(text))));
      },
    ),
    { numRuns: 500 },
  );
});

function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => [key, sortedKeys(item)]);
}

test('depth has a bound, and far beyond it nothing breaks', () => {
  const nested = (depth: number): string => `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`;
  ok(canonical(nested(DEPTH_LIMIT - 2)) !== undefined);
  equal(canonical(nested(DEPTH_LIMIT)), undefined);
  equal(canonical(nested(1_000_000)), undefined);
});

test('strings that end in escapes are read to their end', () => {
  for (const text of [
    '{"a":"\\\\"}',
    '{"a":"\\\\\\""}',
    '{"a":"\\"\\"\\\\","b":"c"}',
    '{"a\\\\":"\\\\","b\\"":"x"}',
  ]) {
    equal(canonical(text), text);
  }
});

/** Characters that `read` makes the engine's own string searches look at. */
function searched(read: () => void): number {
  // oxlint-disable-next-line typescript/unbound-method -- called with its text below
  const original = String.prototype.indexOf;
  let characters = 0;
  // oxlint-disable-next-line no-extend-native -- put back below; a count does not hang on the machine's pace
  String.prototype.indexOf = function indexOf(this: string, part: string, from = 0): number {
    const found = original.call(this, part, from);
    characters += (found < 0 ? this.length : found + part.length) - from;
    return found;
  };
  try {
    read();
  } finally {
    // oxlint-disable-next-line no-extend-native -- see above
    String.prototype.indexOf = original;
  }
  return characters;
}

test('the work grows with the text and not with its square, however few escapes there are', () => {
  const plain = Array.from({ length: 2_000 }, (_, at) => `"word ${at}"`).join(',');
  const texts = [
    `{"input":[${plain}]}`,
    `{"input":[${plain}],"last":"\\n"}`,
    `{"first":"\\n","input":[${plain}]}`,
    `{${Array.from({ length: 2_000 }, (_, at) => `"key ${at}":${at}`).join(',')}}`,
    `{"input":[${Array.from({ length: 2_000 }, () => '"\\"a"').join(',')}]}`,
  ];
  for (const text of texts) {
    const characters = searched(() => ok(canonical(text) !== undefined));
    ok(characters < 4 * text.length, `${characters} characters searched of ${text.length}`);
  }
});

test('a document of too many parts has no form; a prompt of as many token ids as any model takes has one', () => {
  const keys = (count: number): string =>
    `{${Array.from({ length: count }, (_, at) => `"k${at}":1`).join(',')}}`;
  ok(canonical(keys(10_000)) !== undefined);
  equal(canonical(keys(400_000)), undefined);
  ok(canonical(`{"prompt":[${'17,'.repeat(131_072)}17]}`) !== undefined);
  equal(canonical(`{"prompt":[${'17,'.repeat(STEP_LIMIT)}17]}`), undefined);
});
