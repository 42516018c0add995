/** What a seed makes of a plan. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Plan, PUBLISHED_CLIENT, PUBLISHED_PLAN } from './plan.js';
import { perSecond, planCalls } from './planning.js';

test('the same seed plans the same calls, another seed others', () => {
  assert.deepEqual(planCalls(PUBLISHED_PLAN, 1, 2.78), planCalls(PUBLISHED_PLAN, 1, 2.78));
  assert.notDeepEqual(planCalls(PUBLISHED_PLAN, 1, 2.78), planCalls(PUBLISHED_PLAN, 2, 2.78));
});

test('counted arrivals bring exactly rate × seconds calls a stage, in order, inside their stage', () => {
  const calls = planCalls({ ...PUBLISHED_PLAN, arrivals: 'counted' }, 3, 2.78);
  const counts = [0, 1, 2].map((stage) => calls.filter((call) => call.stage === stage).length);
  assert.deepEqual(counts, [200, 803, 1_201]);
  const ends = [120_000, 227_000, 947_000];
  for (const [at, call] of calls.entries()) {
    assert.ok(call.atMs >= (calls[at - 1]?.atMs ?? 0));
    assert.ok(call.atMs < (ends[call.stage] ?? 0));
    assert.equal(call.index, at);
  }
});

test('other policies of the client leave arrivals and lengths as they are', () => {
  const other: Plan = {
    ...PUBLISHED_PLAN,
    clients: [{ ...PUBLISHED_CLIENT, retries: 0, key: false }],
  };
  const shape = (plan: Plan): unknown =>
    planCalls(plan, 5, 2.78).map(({ atMs, promptTokens, responseTokens }) => [
      atMs,
      promptTokens,
      responseTokens,
    ]);
  assert.deepEqual(shape(other), shape(PUBLISHED_PLAN));
});

test('even arrivals are a gap apart, Poisson and gamma ones keep the rate', () => {
  const stage = { name: 'only', rate: { perSecond: 10 }, seconds: 1_000 };
  const count = (arrivals: Plan['arrivals']): number =>
    planCalls({ ...PUBLISHED_PLAN, arrivals, stages: [stage] }, 1).length;
  assert.equal(count('even'), 9_999);
  assert.ok(Math.abs(count('poisson') - 10_000) < 400);
  assert.ok(Math.abs(count({ burstiness: 0.5 }) - 10_000) < 600);
});

test('lengths keep to their distribution', () => {
  const calls = planCalls(PUBLISHED_PLAN, 1, 2.78);
  for (const { promptTokens, responseTokens } of calls) {
    assert.ok(promptTokens >= 10_800 && promptTokens <= 13_200);
    assert.ok(responseTokens >= 1 && responseTokens <= 4_096);
  }
  const mean = calls.reduce((sum, { responseTokens }) => sum + responseTokens, 0) / calls.length;
  assert.ok(Math.abs(mean - 340) < 15, `mean ${mean}`);
});

test('clients of several kinds come in their shares', () => {
  const [kind] = PUBLISHED_PLAN.clients;
  assert.ok(kind !== undefined);
  const clients = [
    { ...kind, name: 'many', weight: 3 },
    { ...kind, name: 'few', weight: 1 },
  ];
  const calls = planCalls({ ...PUBLISHED_PLAN, clients }, 1, 2.78);
  const share = calls.filter(({ client }) => client.name === 'many').length / calls.length;
  assert.ok(Math.abs(share - 0.75) < 0.04, `share ${share}`);
});

test('a multiple of a capacity that nobody knows is refused in words', () => {
  assert.throws(() => perSecond({ capacity: 0.6 }, undefined), /0\.6 × capacity needs a capacity/);
});
