/** When a generator has fallen behind. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { invalidBy, LagMeter } from './lag.js';

const quiet = { p50: 0, p99: 1, most: 900 };

test('a generator fell behind when 1 % of its sends or loops are too late, on the wall or in the plan', () => {
  const late = (p99: number) => ({ p50: 0, p99, most: p99 });
  assert.deepEqual(invalidBy({ sendMs: quiet, loopMs: quiet }, 20), []);
  assert.deepEqual(invalidBy({ sendMs: late(50), loopMs: late(200) }, 1), []);
  assert.match(
    invalidBy({ sendMs: late(50.1), loopMs: quiet }, 1).join(),
    /50\.1 ms late or more, above 50 ms/,
  );
  assert.match(invalidBy({ sendMs: late(11), loopMs: quiet }, 20).join(), /11 ms late or more, above 10 ms/);
  assert.deepEqual(invalidBy({ sendMs: late(90), loopMs: late(90) }, 10, 1), []);
  assert.equal(invalidBy({ sendMs: late(101), loopMs: late(101) }, 10, 1).length, 2);
  assert.match(invalidBy({ sendMs: quiet, loopMs: late(21) }, 10).join(), /event loop was 21 ms late/);
});

test('a blocked loop and late sends are seen', async () => {
  const meter = new LagMeter();
  for (let at = 1; at <= 100; at += 1) meter.sentLate(at);
  await new Promise((resolve) => setTimeout(resolve, 30));
  for (const until = performance.now() + 120; performance.now() < until; );
  await new Promise((resolve) => setTimeout(resolve, 30));
  const { sendMs, loopMs } = meter.stop();
  assert.deepEqual(sendMs, { p50: 50, p99: 99, most: 100 });
  assert.ok(loopMs.most >= 100, String(loopMs.most));
});

test('a run that sent nothing has no lag', () => {
  const { sendMs } = new LagMeter().stop();
  assert.deepEqual(sendMs, { p50: 0, p99: 0, most: 0 });
});
