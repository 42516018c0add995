/** Writes a trial down whole: the record that every run has, what only a trial knows, and its report. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunRecord } from '../../core/drill/run.js';
import { reportPage } from '../../core/report/report-page.js';
import type { RunSummary } from '../../core/trial/scenario.js';
import type { TrialRecord } from '../../core/trial/trial.js';
import { folderName, writeRunFolder } from '../probe/run-folder.js';

/** A folder named after the run, in `directory`. Throws a `UserError` where it cannot be written. */
export function writeRecord(
  directory: string,
  summary: RunSummary,
  run: TrialRecord,
  record: RunRecord,
): void {
  const folder = join(directory, folderName(summary.scenario, summary.seed));
  const { retries, attached, refused, planned } = run;
  const { scenario, figures } = summary;
  const head = { ...record.head, scenario, retries, attached, refused, figures };
  writeRunFolder(folder, { ...record, head }, planned);
  writeFileSync(join(folder, 'report.html'), reportPage(record));
}
