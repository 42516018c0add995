/** The bound against what runs achieve: more has never been on time, and an idle engine can have all. */

import { equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { totalOutcome } from '../drill/outcome.js';
import { clairvoyant } from './clairvoyant.js';
import { leastWorkMs, mostTogether } from './least-work.js';
import { settingsOf } from './scenario.js';
import { runTrial } from './trial.js';

test('no run has more calls on time than the bound, and the order by deadline comes close to it', () => {
  for (const [scenario, least] of [
    ['coalesce', 0.5],
    ['deadline', 0.9],
  ] as const) {
    const settings = settingsOf(scenario, 1);
    const { most, mostAlike, calls } = clairvoyant(settings);
    const { deliveredByDeadline } = totalOutcome(runTrial(settings));
    ok(deliveredByDeadline <= most, `${scenario}: ${deliveredByDeadline} of at most ${most}`);
    ok(deliveredByDeadline >= least * most, `${scenario}: ${deliveredByDeadline} of ${most}`);
    ok(most < calls && mostAlike <= most + 1e-6);
  }
});

test('the least work of all calls of a saturated run is less than its time, and not much less', () => {
  const settings = settingsOf('retries=off cancel=off', 1);
  const { planned, executions } = runTrial(settings);
  const [from, to] = [200_000, 400_000];
  const together = mostTogether(planned, settings.engine);
  let work = 0;
  for (const { call, endedMs = 0 } of executions) {
    const its = planned[call];
    if (its === undefined || endedMs < from || endedMs >= to) continue;
    work += leastWorkMs(its, settings.cost, settings.engine, together);
  }
  ok(work <= to - from, `${work} ms of work in ${to - from} ms`);
  ok(work >= 0.95 * (to - from), `${work} ms of work in ${to - from} ms`);
});

test('an engine that is never busy can have every call on time', () => {
  const settings = settingsOf('deadline', 1);
  const stages = settings.plan.stages.map((stage) => ({ ...stage, rate: { capacity: 0.3 } }));
  const { most, calls } = clairvoyant({ ...settings, plan: { ...settings.plan, stages } });
  equal(Math.round(most), calls);
});
