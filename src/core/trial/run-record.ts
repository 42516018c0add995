/** A trial as a run's record, the same as a drill's, so that one writer and one report serve both. */

import { runHead } from '../drill/head.js';
import type { RunRecord } from '../drill/run.js';
import { backlogOf } from './figures.js';
import type { TrialRecord } from './trial.js';

/** `name` is what a comparison calls it: the scenario. */
export function runRecordOf(name: string, run: TrialRecord): RunRecord {
  const { plan, seed, capacity, planned, calls, attempts, executions, samples } = run;
  const facts = {
    name,
    kind: 'trial',
    target: 'virtual time',
    seed,
    capacity,
    timeScale: 1,
    invalid: [],
    stopped: false,
    generator: null,
    executionsCountedBy: 'the engine model',
  } as const;
  const head = runHead({ facts, plan, planned, calls, attempts, executions, backlog: backlogOf(run) });
  return { head, calls, attempts, executions, samples };
}
