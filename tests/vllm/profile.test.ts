/** The procedure that measures Ĉ, tried where the answer is known: on the twin's engine, and on noisy step times. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { normal } from '../../src/core/chance/distributions.js';
import { Random } from '../../src/core/chance/random.js';
import { stepMs } from '../../src/core/engine/cost.js';
import { fitCost, type StepSample } from '../../src/core/engine/fit.js';
import { linearCost } from '../../src/core/engine/profiles.js';
import { twinCapacity } from './capacity.js';
import { judged, ladder, type Reading, STAGE_MS } from './ladder.js';
import { averaged, paces } from './steps.js';

const COST = linearCost(6, 0.27);

test('wherever the ladder begins, it finds the same capacity, to its grain', async () => {
  const found = [];
  for (const first of [6, 8, 9.1, 12]) found.push((await twinCapacity(COST, first)).perSecond);
  assert.ok(Math.max(...found) / Math.min(...found) < 1.05, found.join(' '));
});

test('half the pace is half the capacity', async () => {
  const whole = await twinCapacity(COST, 8);
  const half = await twinCapacity(linearCost(12, 0.54), 4);
  assert.ok(Math.abs((half.perSecond / whole.perSecond) * 2 - 1) < 0.06);
});

test('one stage that grows and falls again is no capacity, two running are', () => {
  const gauge = (grown: (stage: number) => number): Reading[] =>
    Array.from({ length: 240 }, (_, at) => {
      const atMs = at * 500;
      const [stage, share] = [Math.floor(atMs / STAGE_MS), (atMs % STAGE_MS) / STAGE_MS];
      return { atMs, waiting: grown(stage) * share, finished: at };
    });
  assert.equal(
    judged(
      8,
      gauge((stage) => (stage === 2 ? 20 : 0)),
    ),
    'unknown',
  );
  assert.equal(
    judged(
      8,
      gauge(() => 20),
    ),
    'too fast',
  );
  const verdict = judged(
    8,
    gauge((stage) => (stage >= 3 ? 20 : 0)),
  );
  assert.ok(typeof verdict === 'object' && Math.abs(verdict.perSecond - 8 * 1.03 ** 2) < 1e-9);
});

test('the calls of a ladder are in order, and each stage is faster than the one before', () => {
  const calls = ladder(8);
  const gaps = calls.slice(1).map(({ atMs }, at) => atMs - (calls[at]?.atMs ?? 0));
  assert.ok(gaps.every((gap) => gap > 0 && gap <= 1000 / 8 + 1));
  assert.ok((gaps.at(-1) ?? 0) < (gaps[0] ?? 0) * 0.75);
});

test('a fit to averaged steps keeps the mean of noisy ones, which a fit to each of them would miss', () => {
  const random = new Random(1, 'noisy steps');
  const steps = Array.from({ length: 4000 }, () => {
    const tokens = random.integer(1, 256);
    // Mostly small noise, now and then a stall.
    const noise = random.uniform() < 0.1 ? 3 : 1 + 0.05 * normal(random);
    return { tokens, prefillPairs: 0, decodeContext: 0, ms: (6 + 0.27 * tokens) * noise };
  });
  const measured = steps.reduce((sum, { ms }) => sum + ms, 0);
  const over = ({ cost }: ReturnType<typeof fitCost>): number =>
    steps.reduce(
      (sum, { tokens }) => sum + cost.fixedMs + Math.cbrt(cost.weightsMs ** 3 + (cost.tokenMs * tokens) ** 3),
      0,
    ) / measured;
  assert.ok(Math.abs(over(fitCost(averaged(steps))) - 1) < 0.02);
  assert.ok(over(fitCost(steps)) < 0.95);
});

test('a slower machine is told from steps that hold more', () => {
  const random = new Random(3, 'paces');
  const cost = { ...COST, pairMs: 5e-5, contextMs: 5e-4 };
  const span = (most: number, slower: number): StepSample[] =>
    Array.from({ length: 2_000 }, () => {
      const batch = random.integer(most / 3, most);
      const load = {
        tokens: random.integer(batch, 256),
        prefillPairs: random.integer(0, 80_000),
        decodeContext: batch * random.integer(200, 500),
      };
      return { ...load, ms: stepMs(cost, load) * slower * Math.exp(normal(random) / 5) };
    });
  const [fast = 0, slow = 0] = paces([span(30, 1), span(70, 1.1)]);
  assert.ok(Math.abs(fast / slow / 1.1 - 1) < 0.02, `${fast} ${slow}`);
});
