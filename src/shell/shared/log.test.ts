/** A log line holds the fields that are listed, bounded, and nothing else. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog, errorText, type LogFields } from './log.js';

function lines(act: (log: ReturnType<typeof createLog>) => void, level?: 'debug' | 'warn'): unknown[] {
  const written: string[] = [];
  const to = { write: (text: string) => void written.push(text) };
  act(createLog(level === undefined ? { to } : { to, level }));
  return written.map((text) => JSON.parse(text) as unknown);
}

test('a line is one JSON object with level, time, message and its fields', () => {
  const [line] = lines((log) => log.info('attempt ended', { call: 'c1', age_ms: 3, outcome: undefined }));
  const { time, ...rest } = line as { time: string };
  assert.match(time, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  assert.deepEqual(rest, { level: 'info', msg: 'attempt ended', call: 'c1', age_ms: 3 });
});

test('a field that is not listed is dropped, whatever the types were told', () => {
  const [line] = lines((log) => log.info('x', { call: 'c1', authorization: 'Bearer s3cret' } as LogFields));
  assert(!JSON.stringify(line).includes('s3cret'));
});

test('a text is clipped', () => {
  const [line] = lines((log) => log.info('x', { model: 'm'.repeat(10_000) }));
  assert.equal((line as { model: string }).model.length, 256);
});

test('levels below the one asked for are silent', () => {
  const all = (log: ReturnType<typeof createLog>): void => {
    for (const level of ['debug', 'info', 'warn', 'error', 'fatal'] as const) log[level](level);
  };
  const told = (level?: 'debug' | 'warn'): string[] =>
    lines(all, level).map((line) => (line as { msg: string }).msg);
  assert.deepEqual(told(), ['info', 'warn', 'error', 'fatal']);
  assert.deepEqual(told('debug'), ['debug', 'info', 'warn', 'error', 'fatal']);
  assert.deepEqual(told('warn'), ['warn', 'error', 'fatal']);
});

test('an error is told by name, code and message, in one bounded line', () => {
  assert.equal(errorText(new RangeError('too much')), 'RangeError: too much');
  assert.equal(
    errorText(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })),
    'Error ECONNREFUSED: refused',
  );
  assert.equal(errorText('plain'), 'plain');
  assert.equal(errorText(new Error('x'.repeat(1_000))).length, 256);
});
