/** What a trial says of an arm is what sockets say: drill, gateway and twin over HTTP against the same in virtual time. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Plan, PUBLISHED_CLIENT, PUBLISHED_PLAN } from '../../src/core/drill/plan.js';
import { goFirst } from '../support/priority.js';
import { type Comparison, compareLive } from './compare-live.js';

/** The published overload with a quarter of its deadline and less of the rest: its collapse is the same. */
const PLAN: Plan = {
  ...PUBLISHED_PLAN,
  name: 'short',
  stages: [
    { name: 'base', rate: { capacity: 0.6 }, seconds: 20 },
    { name: 'pulse', rate: { capacity: 2.7 }, seconds: 18 },
    { name: 'hold', rate: { capacity: 0.6 }, seconds: 80 },
  ],
  clients: [{ ...PUBLISHED_CLIENT, deadlineSeconds: 30 }],
  horizonSeconds: 140,
};
/** Tried one after the other while a process is late: what a busy machine did is no verdict on the gateway. */
const TIME_SCALES = [10, 5, 2.5] as const;

async function played(arm: string): Promise<Comparison> {
  let compared: Comparison | undefined;
  for (const timeScale of TIME_SCALES) {
    compared = await compareLive({ arm, plan: PLAN, seed: 1, timeScale });
    if (compared.invalid.length === 0) return compared;
  }
  throw new Error(`too busy a machine even at the slowest pace: ${compared?.invalid.join('; ')}`);
}

goFirst(() => undefined);

for (const arm of ['retries=on cancel=on', 'coalesce']) {
  test(`${arm}: delivered shares within 3 points and executions per call within 2 %, by virtual time and by HTTP`, async () => {
    const { pairs } = await played(arm);
    assert.deepEqual(
      pairs.filter(({ agrees }) => !agrees),
      [],
    );
    const retried = pairs.find(({ figure }) => figure === 'executions per call');
    assert.ok((retried?.live ?? 0) > (arm === 'coalesce' ? 0.95 : 2), 'the plan is an overload');
  });
}
