/** The open loop: every call at its planned moment, whatever became of the others, and an orderly stop. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VirtualClock } from '../time/virtual-clock.js';
import { Drill } from './drill.js';
import { type PlannedCall, PUBLISHED_CLIENT } from './plan.js';
import type { AttemptListener } from './target.js';

function scene(moments: readonly number[], clock = new VirtualClock()) {
  const planned = moments.map(
    (atMs, index): PlannedCall => ({
      index,
      stage: 0,
      atMs,
      promptTokens: 10,
      sharedPrefixTokens: 0,
      responseTokens: 10,
      client: { ...PUBLISHED_CLIENT, backoff: { kind: 'list', ms: [50] } },
    }),
  );
  const sent: (readonly [call: number, atMs: number])[] = [];
  const listeners: AttemptListener[] = [];
  let left = 0;
  const drill = new Drill(planned, {
    clock,
    seed: 1,
    target: {
      send: ({ call }, listener) => {
        sent.push([call.index, clock.now()]);
        listeners.push(listener);
        return () => (left += 1);
      },
    },
  });
  drill.start();
  return { clock, drill, sent, listeners, left: () => left };
}

test('each call goes out at its planned moment, answered or not', () => {
  const { clock, drill, sent } = scene([0, 5, 5, 40]);
  clock.runUntil(100);
  assert.deepEqual(sent, [
    [0, 0],
    [1, 5],
    [2, 5],
    [3, 40],
  ]);
  assert.deepEqual([drill.sent, drill.waiting, drill.settled], [4, 4, false]);
});

test('a clock that comes too late sends all that is due at once, one timer for all', () => {
  const clock = new VirtualClock();
  let timers = 0;
  const late = {
    now: () => clock.now(),
    after: (ms: number, fire: () => void) => {
      timers += ms < 1_000 ? 1 : 0;
      return clock.after(ms < 1_000 ? Math.max(ms, 30) : ms, fire);
    },
  };
  const { sent } = scene([0, 5, 20, 40], late as VirtualClock);
  clock.runUntil(100);
  assert.deepEqual(sent, [
    [0, 30],
    [1, 30],
    [2, 30],
    [3, 60],
  ]);
  assert.equal(timers, 2);
});

test('stopped, it leaves every attempt, gives up every back-off, sends nothing more, and calls stay open', () => {
  const { clock, drill, sent, listeners, left } = scene([0, 1, 2, 500]);
  clock.runUntil(10);
  listeners[0]?.answered();
  listeners[1]?.broken();
  drill.stop();
  while (clock.step());
  assert.equal(sent.length, 3);
  assert.equal(left(), 1);
  assert.deepEqual(
    drill.attempts.map(({ call, ending }) => [call, ending]),
    [
      [0, 'delivered'],
      [1, 'broken'],
      [2, 'stopped'],
    ],
  );
  assert.deepEqual([drill.calls.length, drill.waiting, drill.settled], [1, 0, false]);
});
