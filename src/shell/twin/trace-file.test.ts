/** The trace is whole when it is closed, and a disk that is full ends it with one warning and nothing else. */

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { TraceEvent } from '../../core/engine/trace.js';
import { TraceFile } from './trace-file.js';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-trace-'));
after(() => rmSync(folder, { recursive: true }));

const event = (number: number): TraceEvent => ({
  event: 'queued',
  at: number,
  id: `chatcmpl-${number}`,
  promptTokens: number,
});

test('every event is a line, in order, and little is held back while it runs', () => {
  const path = join(folder, 'trace.jsonl');
  const warned: string[] = [];
  const file = new TraceFile(path, (message) => warned.push(message));
  const count = 5_000;
  for (let number = 0; number < count; number += 1) file.sink(event(number));
  const early = readFileSync(path, 'utf8').length;
  file.close();
  file.close();
  const text = readFileSync(path, 'utf8');
  assert.ok(text.length - early < 65_536, `${text.length - early} characters were held`);
  const lines = text.trimEnd().split('\n');
  assert.equal(lines.length, count);
  assert.equal(lines[7], '{"event":"queued","at_ms":7,"id":"chatcmpl-7","prompt_tokens":7}');
  assert.deepEqual(warned, []);
});

test('a full disk is one warning, and the twin goes on', (t) => {
  if (!existsSync('/dev/full')) {
    t.skip('no device that is always full');
    return;
  }
  const warned: string[] = [];
  const file = new TraceFile('/dev/full', (message) => warned.push(message));
  for (let number = 0; number < 5_000; number += 1) file.sink(event(number));
  file.close();
  assert.equal(warned.length, 1);
  assert.match(
    warned[0] ?? '',
    /the trace ends here, the twin goes on: \/dev\/full cannot be written: .*ENOSPC/,
  );
});

test('a file that cannot be made is refused before anything starts', () => {
  assert.throws(
    () => new TraceFile(join(folder, 'no', 'where'), () => {}),
    /cannot write the trace: .*ENOENT/,
  );
});
