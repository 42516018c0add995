/** The system clock keeps the promises of `Clock` on a real machine. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { SystemClock } from './system-clock.js';

test('time starts at zero and never goes backwards', () => {
  const clock = new SystemClock();
  let last = clock.now();
  assert(last >= 0 && last < 1_000);
  for (let round = 0; round < 10_000; round += 1) {
    const now = clock.now();
    assert(now >= last);
    last = now;
  }
});

test('a timer never fires early nor inside the call, and fires once', async () => {
  const clock = new SystemClock(20);
  const waits = [0, 0.5, 1, 3, 10, 50, 333, 1_000];
  const counts = new Map<number, number>();
  await Promise.all(
    waits.map(
      (ms) =>
        new Promise<void>((resolve) => {
          const due = clock.now() + ms;
          let inside = true;
          clock.after(ms, () => {
            assert.equal(inside, false);
            assert(clock.now() >= due, `${ms} ms: ${clock.now()} before ${due}`);
            counts.set(ms, (counts.get(ms) ?? 0) + 1);
            resolve();
          });
          inside = false;
          setTimeout(() => {}, 100); // the clock's own timers keep nothing alive
        }),
    ),
  );
  await sleep(20);
  assert.deepEqual(
    [...counts.values()],
    waits.map(() => 1),
  );
});

test('a cancelled timer never fires, and cancelling again does nothing', async () => {
  const clock = new SystemClock();
  let fired = 0;
  const cancel = clock.after(5, () => {
    fired += 1;
  });
  cancel();
  cancel();
  await sleep(20);
  assert.equal(fired, 0);
});

test('a wait beyond the longest timer of Node does not fire at once', async () => {
  const clock = new SystemClock();
  let fired = 0;
  const cancel = clock.after(3_000_000_000, () => {
    fired += 1;
  });
  await sleep(20);
  cancel();
  assert.equal(fired, 0);
});

test('a scaled clock runs as many times faster, within bounds', async () => {
  const [plain, fast] = [new SystemClock(), new SystemClock(10)];
  await sleep(50);
  const ratio = fast.now() / plain.now();
  assert(ratio > 9 && ratio < 11, String(ratio));
  for (const scale of [0.5, 21, Number.NaN]) {
    assert.throws(() => new SystemClock(scale), /^RangeError: scale must be a number from 1 to 20/);
  }
});
