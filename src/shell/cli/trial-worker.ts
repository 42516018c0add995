/** A worker thread of `holdfast trial`: plays one run after another and answers with what is told of it. */

import { parentPort } from 'node:worker_threads';
import { runRecordOf } from '../../core/trial/run-record.js';
import { settingsOf, summaryOf } from '../../core/trial/scenario.js';
import { runTrial } from '../../core/trial/trial.js';
import type { TrialAnswer, TrialTask } from './trial-pool.js';
import { writeRecord } from './trial-record.js';

const port = parentPort;
if (port === null) throw new Error('this file is a worker thread');

port.on('message', ({ scenario, seed, changes, recordIn, keep }: TrialTask) => {
  const run = runTrial(settingsOf(scenario, seed, changes));
  const summary = summaryOf(scenario, run);
  const record = recordIn !== undefined || keep === true ? runRecordOf(scenario, run) : undefined;
  if (recordIn !== undefined && record !== undefined) writeRecord(recordIn, summary, run, record);
  const answer: TrialAnswer = { summary, record: keep === true ? record : undefined };
  port.postMessage(answer, []);
});
