/** `holdfast drill`: an overload on purpose against a real server, over real HTTP, open loop. */

import { join } from 'node:path';
import type { RunHead } from '../../core/drill/run.js';
import { judge } from '../../core/drill/threshold.js';
import { type LiveEnd, LiveRun, type LiveSettings } from '../probe/live-run.js';
import { folderName, makeRunFolder, writeRunFolder } from '../probe/run-folder.js';
import { EXIT, type ExitCode, UserError } from '../shared/errors.js';
import type { Command, World } from './command.js';
import { DRILL_FLAGS } from './drill-flags.js';
import { liveProgress } from './drill-progress.js';
import { liveSettings } from './drill-settings.js';
import { drillText } from './drill-text.js';
import { readFlags } from './flags.js';
import { checkReportPath, writePage } from './report-file.js';
import { thresholdsOf, verdictLines } from './thresholds.js';

export const DRILL: Command = {
  name: 'drill',
  summary: 'Plays an overload against a real server: retrying clients, open loop, every planned call counted',
  usage: 'holdfast drill URL [--plan FILE | --stages STAGES] [--capacity N] [--expect EXPR]... [flag]...',
  flags: DRILL_FLAGS,
  notes: `URL is a gateway or an engine with OpenAI's API. The table goes to stdout, progress to stderr. Ctrl-C stops sending,
closes every connection and reports what was; a second one ends at once. docs/drill.md has plans, thresholds and files.

Ends with 0 when the run was valid and met every threshold, with 1 when the server could not be asked or a file not be
written, with 2 when a flag, plan or threshold does not fit, with 3 when a threshold was not met, with 4 when the run
proves nothing: the generator fell behind, or the run was stopped before every call had ended.

Example:
  holdfast drill http://127.0.0.1:8000 --stages 'base 2/s 10s, pulse 20/s 10s, hold 2/s 20s' \\
    --prompt-tokens 200 --response-tokens 20 --deadline 5 --expect 'hold.delivered > 99%'
`,
  run: async (args, world): Promise<ExitCode> => {
    const operands: string[] = [];
    const given = readFlags('drill', DRILL_FLAGS, args, operands);
    const [url, ...more] = operands;
    if (url === undefined || more.length > 0) {
      throw new UserError('bad_usage', 'drill takes one URL, such as http://127.0.0.1:8000');
    }
    const page = given.report?.[0];
    if (page !== undefined) checkReportPath(page);
    const settings = await liveSettings(url, given, world);
    const stages = settings.plan.stages.map(({ name }) => name);
    const thresholds = thresholdsOf(given.expect ?? [], stages);
    const record = given.record?.[0];
    const folder = record === undefined ? undefined : join(record, folderName(settings.name, settings.seed));
    if (folder !== undefined) makeRunFolder(folder);
    const end = await drilled(settings, world);
    if (end === undefined) return EXIT.failed;
    const { head } = end.run;
    if (folder !== undefined) {
      writeRunFolder(folder, end.run, end.planned);
      writePage(join(folder, 'report.html'), [end.run], world);
    }
    if (page !== undefined) writePage(page, [end.run], world);
    const verdicts = thresholds.map((threshold) => judge(threshold, head));
    if (given.json !== undefined)
      world.out(`${JSON.stringify({ ...head, thresholds: verdicts }, null, 2)}\n`);
    else world.out(`${drillText(head)}${verdictLines(verdicts)}`);
    return codeOf(
      head,
      verdicts.every(({ met }) => met),
    );
  },
};

/** Undefined when a second signal ended the run at once. */
async function drilled(settings: LiveSettings, world: World): Promise<LiveEnd | undefined> {
  const run = liveRun(settings);
  const { name, url, plan, seed, capacity, timeScale, model } = settings;
  const options = {
    url: url.href,
    plan: plan.name,
    seed,
    capacity,
    timeScale,
    model,
    calls: run.planned.length,
  };
  world.err(`${name}: ${JSON.stringify(options)}\n`);
  const progress = liveProgress(world, run, settings);
  let unlisten = (): void => {};
  const atOnce = new Promise<undefined>((resolve) => {
    let stopping = false;
    unlisten = world.signals.listen(() => {
      if (stopping) resolve(undefined);
      else {
        stopping = true;
        world.err('\nstopping: no more is sent, what was is reported; a second signal ends at once\n');
        run.stop();
      }
    });
  });
  try {
    return await Promise.race([run.run(), atOnce]);
  } finally {
    unlisten();
    progress.end();
  }
}

function liveRun(settings: LiveSettings): LiveRun {
  try {
    return new LiveRun(settings);
  } catch (cause) {
    if (cause instanceof RangeError) throw new UserError('bad_usage', cause.message, { cause });
    throw cause;
  }
}

function codeOf({ invalid, stopped }: RunHead, met: boolean): ExitCode {
  if (invalid.length > 0 || stopped) return EXIT.invalid;
  return met ? EXIT.ok : EXIT.unmet;
}
