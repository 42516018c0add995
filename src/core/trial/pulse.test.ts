/** The pulse formulae against arithmetic, the published experiment and the simulated engine. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PUBLISHED_PLAN } from '../drill/plan.js';
import { type PulseQuestion, pulseOf } from '../drill/pulse.js';
import { settingsOf } from './scenario.js';
import { runTrial } from './trial.js';

const PUBLISHED: PulseQuestion = {
  capacity: 2.78,
  deadlineSeconds: 120,
  attempts: 4,
  load: 0.6,
  height: 2.7,
  serviceSeconds: 0,
  pulse: { seconds: 107 },
};

test('the published pulse, 107 s at 2.7 Ĉ, leaves the published 182 s of work: 1.5 deadlines', () => {
  const pulse = pulseOf(PUBLISHED);
  assert.equal(Math.round(pulse.backlogSeconds), 182);
  assert.equal(pulse.backlogDeadlines.toFixed(1), '1.5');
  assert.ok(pulse.startsLoop && pulse.sustainsLoop && !pulse.retriesInPulse);
  assert.ok(Math.abs(pulse.loopGain - 2.4) < 1e-12);
  assert.equal(pulse.holdSeconds, PUBLISHED_PLAN.stages[2]?.seconds);
  assert.equal(pulse.baseSeconds, PUBLISHED_PLAN.stages[0]?.seconds);
});

test('the length for a backlog and the backlog of that length are each other’s inverse', () => {
  const { seconds } = pulseOf({ ...PUBLISHED, pulse: { backlogDeadlines: 1.5 } });
  assert.ok(Math.abs(seconds - 180 / 1.7) < 1e-9);
  assert.ok(Math.abs(pulseOf({ ...PUBLISHED, pulse: { seconds } }).backlogDeadlines - 1.5) < 1e-12);
});

test('a backlog within the deadline starts no loop, a load with its attempts below 1 sustains none', () => {
  const harmless = pulseOf({ ...PUBLISHED, pulse: { backlogDeadlines: 0.99 } });
  assert.equal(harmless.startsLoop, false);
  assert.equal(
    pulseOf({ ...PUBLISHED, serviceSeconds: 30, pulse: { backlogDeadlines: 0.8 } }).startsLoop,
    true,
  );
  assert.equal(pulseOf({ ...PUBLISHED, load: 0.25 }).sustainsLoop, false);
  assert.equal(pulseOf({ ...PUBLISHED, load: 0.26 }).sustainsLoop, true);
});

test('a question without a sense is refused by name', () => {
  assert.throws(() => pulseOf({ ...PUBLISHED, height: 1 }), /height must be a number from 1\.001/);
  assert.throws(() => pulseOf({ ...PUBLISHED, load: 1 }), /load must be/);
  assert.throws(() => pulseOf({ ...PUBLISHED, pulse: { backlogDeadlines: -1 } }), /backlog must be/);
  assert.throws(() => pulseOf({ ...PUBLISHED, pulse: { seconds: Number.NaN } }), /seconds must be/);
});

/** Seconds that calls of the pulse's last ten seconds wait for their first token, with as many arrivals as planned. */
function simulatedWait(seed: number): number {
  const settings = settingsOf('retries=off cancel=off', seed);
  const { executions } = runTrial({ ...settings, plan: { ...settings.plan, arrivals: 'counted' } });
  const last = executions.filter(({ createdMs }) => createdMs >= 217_000 && createdMs < 227_000);
  const waits = last.map(({ createdMs, firstTokenMs }) => ((firstTokenMs ?? Number.NaN) - createdMs) / 1_000);
  return waits.reduce((sum, wait) => sum + wait, 0) / waits.length;
}

test('the wait at the end of the pulse in the engine model is the fluid backlog within 10 %', () => {
  const { backlogSeconds } = pulseOf({ ...PUBLISHED, pulse: { seconds: 102 } });
  const seeds = [1, 2, 3];
  const mean = seeds.reduce((sum, seed) => sum + simulatedWait(seed), 0) / seeds.length;
  assert.ok(Math.abs(mean / backlogSeconds - 1) < 0.1, `${mean} s against ${backlogSeconds} s`);
});
