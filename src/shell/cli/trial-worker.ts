/** A worker thread of `holdfast trial`: plays one run after another and answers with what is told of it. */

import { parentPort } from 'node:worker_threads';
import { settingsOf, summaryOf } from '../../core/trial/scenario.js';
import { runTrial } from '../../core/trial/trial.js';
import type { TrialTask } from './trial-pool.js';
import { writeRecord } from './trial-record.js';

const port = parentPort;
if (port === null) throw new Error('this file is a worker thread');

port.on('message', ({ scenario, seed, changes, recordIn }: TrialTask) => {
  const run = runTrial(settingsOf(scenario, seed, changes));
  const summary = summaryOf(scenario, run);
  if (recordIn !== undefined) writeRecord(recordIn, summary, run);
  port.postMessage(summary, []);
});
