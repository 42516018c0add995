/** The first stop signal finishes what is under way; the second, or a failure, ends it with code 1. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { SILENT } from '../shared/log.js';
import type { Signals, StopSignal } from './command.js';
import { untilStopped } from './stopping.js';

class Bell implements Signals {
  #heard: ((signal: StopSignal) => void) | undefined;

  get listening(): boolean {
    return this.#heard !== undefined;
  }

  listen(heard: (signal: StopSignal) => void): () => void {
    this.#heard = heard;
    return () => {
      this.#heard = undefined;
    };
  }

  ring(): void {
    this.#heard?.('SIGTERM');
  }
}

test('one signal waits for the stop and ends with 0', async () => {
  const bell = new Bell();
  let finish: () => void = () => {};
  let stops = 0;
  const ended = untilStopped(bell, SILENT, () => {
    stops += 1;
    return new Promise((resolve) => {
      finish = resolve;
    });
  });
  await turn();
  assert.equal(stops, 0);
  bell.ring();
  assert.equal(stops, 1);
  finish();
  assert.equal(await ended, 0);
  assert.equal(bell.listening, false);
});

test('a second signal ends at once with 1', async () => {
  const bell = new Bell();
  const ended = untilStopped(bell, SILENT, () => new Promise(() => {}));
  bell.ring();
  bell.ring();
  assert.equal(await ended, 1);
});

test('a stop that fails ends with 1', async () => {
  const bell = new Bell();
  const ended = untilStopped(bell, SILENT, () => Promise.reject(new Error('stuck')));
  bell.ring();
  assert.equal(await ended, 1);
});
