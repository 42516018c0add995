/** `holdfast report`: one run's folder as a page of pictures, or several side by side. */

import { join } from 'node:path';
import { summaryOf } from '../../core/report/summary.js';
import { readRunFolder } from '../probe/run-reading.js';
import { EXIT, type ExitCode, UserError } from '../shared/errors.js';
import { type Command, HELP_FLAG } from './command.js';
import { type Flags, readFlags } from './flags.js';
import { checkPage, differencesOf, writePage, writePictures } from './report-file.js';

const FLAGS = {
  out: {
    value: 'FILE.html',
    help: 'where to write the page (report.html in the one DIR; comparison.html here)',
  },
  svg: { value: 'FOLDER', help: 'write each picture as a file too: delivered.svg, arrivals.svg, …' },
  json: { help: 'print the numbers as JSON, and write files only with --out and --svg' },
  ...HELP_FLAG,
} as const satisfies Flags;

export const REPORT: Command = {
  name: 'report',
  summary: 'Makes a page of pictures from a recorded run, or from several side by side',
  usage: 'holdfast report DIR... [--out FILE.html] [--json]',
  flags: FLAGS,
  notes: `DIR is a folder that --record made. Runs of one name are one arm, told apart by their seeds; differences
are paired by seed, from the first arm to each of the others. The page is one file, without scripts, and fetches
nothing. Ends with 0; with 2 when a folder cannot be read or does not fit.

Example:
  holdfast trial --scenario coalesce --record runs
  holdfast report runs/coalesce-seed-1
  holdfast report runs/* --out comparison.html --svg pictures
`,
  run: async (args, world): Promise<ExitCode> => {
    const folders: string[] = [];
    const given = readFlags('report', FLAGS, args, folders);
    const [folder] = folders;
    if (folder === undefined)
      throw new UserError('bad_usage', 'report takes a DIR, the folder of a recorded run');
    checkPage(1, folders.length);
    const records = folders.map(readRunFolder);
    checkPage(new Set(records.map(({ head }) => head.name)).size, records.length);
    const json = given.json !== undefined;
    if (json) {
      const numbers = { runs: records.map(summaryOf), differences: differencesOf(records) };
      world.out(`${JSON.stringify(numbers, null, 2)}\n`);
    }
    const pictures = given.svg?.[0];
    if (pictures !== undefined) writePictures(pictures, records, world);
    const usual = folders.length === 1 ? join(folder, 'report.html') : 'comparison.html';
    const out = given.out?.[0] ?? (json ? undefined : usual);
    if (out !== undefined) writePage(out, records, world);
    return EXIT.ok;
  },
};
