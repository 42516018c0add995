/** The guard as named scenes: when a retry's further execution is refused because the load feeds itself, and when not. */

import { deepEqual, equal, ok } from 'node:assert/strict';
import { type Scene, scene } from '../support/control-scene.js';

/** First attempts of calls that are lost at once, each of which its client asks for again when it hears so. */
function loop(s: Scene, calls: number, rounds: number): void {
  for (let at = 0; at < calls; at += 1) {
    s.arrive(`first-${at}`, { fingerprint: `body-${at}`, cancelOnLeave: true });
    s.leave(`first-${at}`);
  }
  for (let round = 1; round <= rounds; round += 1) {
    for (let at = 0; at < calls; at += 1) {
      const again = `again-${round}-${at}`;
      s.arrive(again, { fingerprint: `body-${at}`, retryCount: round, cancelOnLeave: true });
      s.leave(again);
    }
  }
}

scene(
  'retries fill the engine up to nine tenths of its capacity while they ask for more than that',
  (start) => {
    const s = start({ capacity: 1 });
    loop(s, 40, 4);
    const guarded = s.all('refuse').filter(({ reason }) => reason === 'refused_guard');
    // The loop shows once 61 are asked for; by then 61 were let in, and 54 would have been the most.
    equal(s.executions(), 61);
    equal(guarded.length, 200 - 61);
    ok(guarded.every(({ retryAfterMs }) => retryAfterMs >= 1_000 && retryAfterMs <= 59_000));
  },
);

scene(
  'what the guard has refused counts as asked for, so that it does not end by its own effect',
  (start) => {
    const s = start({ capacity: 1 });
    loop(s, 40, 2);
    s.pass(30_000);
    equal(s.executions(), 61);
    for (let at = 0; at < 40; at += 1) s.arrive(`later-${at}`, { fingerprint: `body-${at}`, retryCount: 3 });
    s.pass(31_000);
    // The executions of the beginning have left the window, and the 40 that were refused since then have not.
    for (let at = 0; at < 60; at += 1) s.arrive(`late-${at}`, { fingerprint: `late-${at}`, retryCount: 1 });
    equal(s.executions(), 61 + 54, 'to nine tenths, and no further');
  },
);

scene(
  'the guard never refuses the first execution of a call, nor a retry of one that never had any',
  (start) => {
    const s = start({ capacity: 1, room: 1, bounds: { lineEntries: 1 } });
    for (const busy of ['runs', 'waits']) s.arrive(busy, { fingerprint: busy });
    s.arrive('shed', { fingerprint: 'shed' });
    equal(s.ending('shed'), 'refused_line_full');
    for (const busy of ['runs', 'waits']) s.deliver(busy);
    loop(s, 40, 4);
    equal(s.ending('again-4-39'), 'refused_guard');
    s.arrive('shed-again', { fingerprint: 'shed', retryCount: 1, cancelOnLeave: true });
    s.leave('shed-again');
    s.arrive('newcomer', { fingerprint: 'newcomer' });
    deepEqual([s.ending('shed-again'), s.ending('newcomer')], ['left_before_first_byte', undefined]);
  },
);

scene(
  'a pulse of first attempts alone brings no guard, nor a few retries above what the engine can do',
  (start) => {
    const s = start({ capacity: 1 });
    for (let at = 0; at < 200; at += 1) s.arrive(`first-${at}`, { fingerprint: `body-${at}` });
    for (let at = 0; at < 10; at += 1) s.arrive(`few-${at}`, { fingerprint: `few-${at}`, retryCount: 1 });
    equal(s.all('refuse').length, 0);
    for (let at = 0; at < 2; at += 1) s.arrive(`more-${at}`, { fingerprint: `more-${at}`, retryCount: 1 });
    deepEqual([s.ending('more-0'), s.ending('more-1')], [undefined, 'refused_guard']);
  },
);

scene('a guard that is off, or knows no capacity, refuses nothing', (start) => {
  for (const settings of [{ capacity: 1, guard: false }, {}]) {
    const s = start(settings);
    loop(s, 40, 4);
    equal(s.executions(), 200);
  }
});
