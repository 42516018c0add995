/** Writes the page of a run, or of several side by side. */

import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { RunRecord } from '../../core/drill/run.js';
import { armsOf, MOST_ARMS, MOST_RUNS, pairsOf } from '../../core/report/arms.js';
import { comparisonPage, comparisonPictures, type Differences } from '../../core/report/comparison-page.js';
import { svgFile } from '../../core/report/picture.js';
import { picturesOf, reportPage } from '../../core/report/report-page.js';
import { numbersOf, pairedDifferences } from '../../core/trial/comparison.js';
import { UserError } from '../shared/errors.js';
import { errorText } from '../shared/log.js';
import type { World } from './command.js';

/** Paired differences from the first arm to each of the others. */
export function differencesOf(records: readonly RunRecord[]): readonly Differences[] {
  const [first, ...others] = armsOf(records);
  if (first === undefined) return [];
  return others.map((other) => {
    const pairs = pairsOf(first, other);
    const numbers = (side: 0 | 1): readonly Record<string, number | null>[] =>
      pairs.map((pair) => numbersOf(pair[side].head));
    return { a: first.name, b: other.name, rows: pairedDifferences(numbers(0), numbers(1)) };
  });
}

/** One run's report, or the comparison of several. Throws a {@link UserError} where it cannot be written. */
export function writePage(path: string, records: readonly RunRecord[], { err }: Pick<World, 'err'>): void {
  const [first, ...rest] = records;
  if (first === undefined) return;
  writeReport(path, rest.length === 0 ? reportPage(first) : comparisonPage(records, differencesOf(records)));
  err(`report: ${path}\n`);
}

/** Each picture of one run, or of several side by side, in a file of its own in `folder`, which is made if missing. */
export function writePictures(
  folder: string,
  records: readonly RunRecord[],
  { err }: Pick<World, 'err'>,
): void {
  const [first, ...rest] = records;
  if (first === undefined) return;
  try {
    mkdirSync(folder, { recursive: true });
  } catch (cause) {
    throw new UserError('output_unwritable', `cannot write the pictures: ${errorText(cause)}`, { cause });
  }
  for (const picture of rest.length === 0 ? picturesOf(first) : comparisonPictures(records)) {
    writeReport(join(folder, `${picture.id}.svg`), svgFile(picture));
  }
  err(`pictures: ${folder}\n`);
}

/** Refuses what a page cannot show; said before runs are played for it. */
export function checkPage(arms: number, runs: number): void {
  if (arms > MOST_ARMS || runs > MOST_RUNS) {
    const most = `at most ${MOST_RUNS} runs of ${MOST_ARMS} names`;
    throw new UserError('bad_usage', `a report shows ${most}, not ${runs} of ${arms}`);
  }
}

/** Throws a {@link UserError} where `content` cannot be written. */
export function writeReport(path: string, content: string): void {
  try {
    writeFileSync(path, content);
  } catch (cause) {
    throw new UserError('output_unwritable', `cannot write the report: ${errorText(cause)}`, { cause });
  }
}

/** Says that a report cannot be written there before minutes of work are lost to it. */
export function checkReportPath(path: string): void {
  const folder = dirname(path);
  const there = statSync(folder, { throwIfNoEntry: false });
  if (there?.isDirectory() === true) return;
  throw new UserError('output_unwritable', `cannot write the report: ${folder} is no folder`);
}
