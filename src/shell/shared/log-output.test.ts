/** Log lines wait in a bounded buffer, and those that are lost are counted and said once there is somebody to hear it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LogOutput, type LogSink } from './log-output.js';

/** A sink whose every write the test ends by hand. */
class HandSink implements LogSink {
  readonly texts: string[] = [];
  flushed = '';
  #done: ((error?: Error | null) => void) | undefined;

  write(text: string, done: (error?: Error | null) => void): void {
    assert.equal(this.#done, undefined, 'one write at a time');
    this.texts.push(text);
    this.#done = done;
  }

  flush(text: string): void {
    this.flushed += text;
  }

  end(error?: Error): void {
    const done = this.#done;
    this.#done = undefined;
    done?.(error);
  }
}

test('a sink that takes everything gets every line, in order, those of some moments together', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const sink = new HandSink();
  const output = new LogOutput(sink);
  for (const line of ['a\n', 'b\n', 'c\n']) output.write(line);
  sink.end();
  output.write('d\n');
  assert.deepEqual(sink.texts, ['a\n']);
  t.mock.timers.tick(20);
  sink.end();
  assert.deepEqual(sink.texts, ['a\n', 'b\nc\nd\n']);
  assert.equal(output.lost, 0);
});

test('a sink that stalls costs a bounded buffer; what is lost is counted, and said when it goes on', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const sink = new HandSink();
  const output = new LogOutput(sink, 100);
  for (let at = 0; at < 1000; at += 1) output.write('0123456789012345678\n');
  assert.equal(output.lost, 1000 - 1 - 5);
  sink.end();
  t.mock.timers.tick(20);
  const said = JSON.parse(sink.texts[1]?.slice(100) ?? '') as { count: number; level: string };
  assert.deepEqual([said.level, said.count], ['warn', 994]);
  sink.end();
  t.mock.timers.tick(20);
  output.write('again\n');
  assert.equal(sink.texts[2], 'again\n');
});

test('a sink that fails loses what it was given, is left alone for a moment, and tried again', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const sink = new HandSink();
  const output = new LogOutput(sink);
  output.write('a\n');
  output.write('b\n');
  sink.end(new Error('ENOSPC'));
  assert.equal(output.lost, 1);
  output.write('c\n');
  assert.equal(sink.texts.length, 1);
  t.mock.timers.tick(250);
  assert.equal(sink.texts[1], 'b\nc\n');
  sink.end();
  t.mock.timers.tick(20);
  assert.match(sink.texts[2] ?? '', /"count":1/);
});

test('a line that comes after a flush is written all the same', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const sink = new HandSink();
  const output = new LogOutput(sink);
  output.write('a\n');
  sink.end();
  output.flush();
  output.write('b\n');
  assert.deepEqual(sink.texts, ['a\n', 'b\n']);
});

test('what waits is handed over when the process ends, even by a sink that throws', () => {
  const sink = new HandSink();
  const output = new LogOutput(sink);
  output.write('a\n');
  output.write('b\n');
  output.flush();
  assert.equal(sink.flushed, 'b\n');
  const broken = new LogOutput({
    write: () => {},
    flush: () => {
      throw new Error('gone');
    },
  });
  broken.write('a\n');
  broken.write('b\n');
  broken.flush();
});
