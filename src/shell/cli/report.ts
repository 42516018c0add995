/** `holdfast report`: one run's folder as a page of pictures, or several side by side. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunRecord } from '../../core/drill/run.js';
import { reportPage } from '../../core/report/report-page.js';
import { summaryOf } from '../../core/report/summary.js';
import { readRunFolder } from '../probe/run-reading.js';
import { EXIT, type ExitCode, UserError } from '../shared/errors.js';
import { errorText } from '../shared/log.js';
import { type Command, HELP_FLAG, type World } from './command.js';
import { type Flags, readFlags } from './flags.js';

const FLAGS = {
  out: { value: 'FILE.html', help: 'where to write the page (report.html in the first DIR)' },
  json: { help: 'print the numbers as JSON, and write a page only with --out' },
  ...HELP_FLAG,
} as const satisfies Flags;

export const REPORT: Command = {
  name: 'report',
  summary: 'Makes a page of pictures from a recorded run',
  usage: 'holdfast report DIR [--out FILE.html] [--json]',
  flags: FLAGS,
  notes: `DIR is a folder that holdfast trial --record made. The page is one file, without scripts, and fetches
nothing. Ends with 0, with 2 when a folder cannot be read or does not fit.

Example:
  holdfast trial --scenario coalesce --seeds 1 --record runs
  holdfast report runs/coalesce-seed-1 --out coalesce.html
`,
  run: async (args, world): Promise<ExitCode> => {
    const folders: string[] = [];
    const given = readFlags('report', FLAGS, args, folders);
    const [folder] = folders;
    if (folder === undefined || folders.length > 1) {
      throw new UserError('bad_usage', 'report takes one DIR, a folder of a recorded run');
    }
    const record = readRunFolder(folder);
    const json = given.json !== undefined;
    if (json) world.out(`${JSON.stringify({ runs: [summaryOf(record)] }, null, 2)}\n`);
    const out = given.out?.[0] ?? (json ? undefined : join(folder, 'report.html'));
    if (out !== undefined) writePage(out, [record], world);
    return EXIT.ok;
  },
};

/** Throws a {@link UserError} where it cannot be written. */
export function writePage(
  path: string,
  [record]: readonly [RunRecord, ...RunRecord[]],
  { err }: Pick<World, 'err'>,
): void {
  try {
    writeFileSync(path, reportPage(record));
  } catch (cause) {
    throw new UserError('output_unwritable', `cannot write the report: ${errorText(cause)}`, { cause });
  }
  err(`report: ${path}\n`);
}
