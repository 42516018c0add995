/** Plans from files: what is read, and what is refused with its line and reason. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UserError } from '../shared/errors.js';
import { readPlan, readPlanFile } from './plan-file.js';

const STAGE = 'stages:\n  - name: only\n    rate: { perSecond: 2 }\n    seconds: 60\n';

test('what a plan leaves out is the published one’s', () => {
  const plan = readPlan(STAGE, 'plan.yaml');
  assert.equal(plan.horizonSeconds, 840);
  assert.equal(plan.clients[0]?.retries, 3);
  assert.deepEqual(plan.stages, [{ name: 'only', rate: { perSecond: 2 }, seconds: 60 }]);
});

test('a client is one of the observed kinds with its fields changed', () => {
  const plan = readPlan(`${STAGE}clients:\n  - kind: openai-python\n    retries: 5\n`, 'plan.yaml');
  assert.equal(plan.clients[0]?.timer, 'silence');
  assert.equal(plan.clients[0]?.retries, 5);
});

test('JSON is read as well', () => {
  const plan = readPlan('{"stages": [{"name": "a", "rate": {"capacity": 0.6}, "seconds": 5}]}', 'plan.json');
  assert.deepEqual(plan.stages[0]?.rate, { capacity: 0.6 });
});

test('a bad plan is refused with file, line and reason', () => {
  const refused = (content: string): string => {
    try {
      readPlan(content, 'plan.yaml');
    } catch (error) {
      assert.ok(error instanceof UserError);
      assert.equal(error.exitCode, 2);
      return error.message;
    }
    throw new Error(`taken: ${content}`);
  };
  assert.match(refused(STAGE.replace('2 }', '-2 }')), /plan\.yaml.*\n.*line 3: stages\.0\.rate\.perSecond: /);
  assert.match(refused(STAGE.replace('    seconds: 60\n', '')), /line \d: stages\.0\.seconds: /);
  assert.match(refused(`${STAGE}stagse: 3\n`), /stagse/);
  assert.match(refused(`${STAGE}clients:\n  - kind: nobody\n`), /line 6: clients\.0\.kind: /);
  assert.match(refused('stages: ['), /line 1/);
  assert.match(refused(''), /the plan/);
  assert.throws(() => readPlanFile('/nowhere/plan.yaml'), /cannot read the plan/);
});
