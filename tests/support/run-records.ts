/** Records of runs for tests of reports: small overloads in virtual time, and what a drill could not have seen. */

import type { Plan } from '../../src/core/drill/plan.js';
import { PUBLISHED_PLAN } from '../../src/core/drill/plan.js';
import type { RunRecord } from '../../src/core/drill/run.js';
import { runRecordOf } from '../../src/core/trial/run-record.js';
import { settingsOf } from '../../src/core/trial/scenario.js';
import { runTrial } from '../../src/core/trial/trial.js';

/** The published overload in small: some hundreds of calls. */
export const SMALL_PLAN: Plan = {
  ...PUBLISHED_PLAN,
  name: 'small',
  stages: [
    { name: 'base', rate: { capacity: 0.6 }, seconds: 60 },
    { name: 'pulse', rate: { capacity: 2.7 }, seconds: 60 },
    { name: 'hold', rate: { capacity: 0.6 }, seconds: 180 },
  ],
  clients: PUBLISHED_PLAN.clients.map((client) => Object.assign({}, client, { deadlineSeconds: 40 })),
  horizonSeconds: 240,
};

const made = new Map<string, RunRecord>();

export function trialRecord(scenario: string, seed = 1, plan: Plan = SMALL_PLAN): RunRecord {
  const key = `${scenario} ${seed} ${plan.name}`;
  const known = made.get(key) ?? runRecordOf(scenario, runTrial(settingsOf(scenario, seed, { plan })));
  made.set(key, known);
  return known;
}

/** The same run as a drill against a server that tells nothing but its answers. */
export function blindDrill(record: RunRecord): RunRecord {
  const { head } = record;
  const blind = (stage: RunRecord['head']['total']): RunRecord['head']['total'] =>
    Object.assign({}, stage, { executions: undefined });
  return {
    ...record,
    head: {
      ...head,
      kind: 'drill',
      target: 'http://127.0.0.1:8000',
      capacity: null,
      stages: head.stages.map(blind),
      total: blind(head.total),
      recovery: { ...head.recovery, backlogSeconds: null },
      executionsCountedBy: null,
    },
    executions: [],
    samples: [],
  };
}
