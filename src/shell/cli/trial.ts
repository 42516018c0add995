/** `holdfast trial`: clients, control and engine on one virtual clock; half an hour of overload in a second. */

import { controlOptions } from '../../core/control/options.js';
import { judge, type Threshold } from '../../core/drill/threshold.js';
import { engineOptions } from '../../core/engine/options.js';
import { svgFile } from '../../core/report/picture.js';
import { sweepPage, sweepPicture } from '../../core/report/sweep-chart.js';
import { ARMS, armOf } from '../../core/trial/arms.js';
import { clairvoyant } from '../../core/trial/clairvoyant.js';
import { numbersOf, pairedDifferences } from '../../core/trial/comparison.js';
import { publishedMatrix, scenarioNames } from '../../core/trial/matrix.js';
import { armNameOf, compareFigure, PUBLISHED_FIGURES } from '../../core/trial/published.js';
import { type Changes, type RunSummary, settingsOf } from '../../core/trial/scenario.js';
import { recoveredAfter, type SweepPoint, sweepPoints, sweepTable } from '../../core/trial/sweep.js';
import { readPlanFile } from '../probe/plan-file.js';
import { EXIT, type ExitCode, UserError } from '../shared/errors.js';
import { nearest, shown } from '../shared/options.js';
import { type Command, HELP_FLAG, type World } from './command.js';
import { type Flags, type Given, readFlags } from './flags.js';
import { positive, wholeNumber } from './numbers.js';
import { progress } from './progress.js';
import { checkPage, checkReportPath, writePage, writeReport } from './report-file.js';
import { thresholdsOf, verdictLines } from './thresholds.js';
import { checkLengths, planAsked, TRACE_FLAGS, traceNote } from './trace-flags.js';
import { keptCapacity } from './trial-capacity.js';
import { changesOf } from './trial-changes.js';
import { playAll, type TrialTask } from './trial-pool.js';
import { boundsText, comparisonText, figuresText, type RunBound, scenarioText } from './trial-text.js';

const FLAGS = {
  scenario: { value: 'NAME', help: 'the arm to run, pulse=, step= and model= behind it (holdfast)' },
  list: { help: 'print the names of all scenarios and end' },
  plan: { value: 'FILE', help: 'run this plan, YAML or JSON, instead of the published one' },
  ...TRACE_FLAGS,
  seeds: { value: 'N', help: 'run seeds 1 to N (3)' },
  set: {
    value: 'KEY=VALUE',
    many: true,
    help: 'change an option: control.room=100, engine.maxNumSeqs=64, cost.efficiency=0.9',
  },
  capacity: { value: 'N', help: 'Ĉ in calls per second, instead of the profile’s' },
  store: {
    value: 'FILE',
    help: 'where holdfast calibrate keeps capacities, for a plan with a workload of its own',
  },
  compare: { value: 'NAME', help: 'a second scenario: print paired differences from --scenario to it' },
  published: { help: 'run the whole matrix of the published experiment and print published against ours' },
  sweep: { help: 'run --scenario over pulse heights, deadlines and loads and print where it recovers' },
  record: {
    value: 'DIR',
    help: 'write each run whole: record, calls, attempts, executions, time series, report',
  },
  report: {
    value: 'FILE.html',
    help: 'write a page of pictures: of one run, of several side by side, of a sweep',
  },
  svg: { value: 'FILE.svg', help: 'with --sweep: write its picture alone' },
  expect: { value: 'EXPR', many: true, help: "a threshold for each run, such as 'hold.delivered > 99%'" },
  bound: { help: 'print beside each run how many of its calls could have been on time at all' },
  json: { help: 'print JSON instead of tables' },
  ...HELP_FLAG,
} as const satisfies Flags;

const DEFAULT_SCENARIO = 'holdfast';
const DEFAULT_SEEDS = 3;
const MOST_SEEDS = 1_000;

export const TRIAL: Command = {
  name: 'trial',
  summary:
    'Plays an overload in virtual time: retrying clients, the gateway’s control, the engine’s scheduler',
  usage: 'holdfast trial [--scenario NAME | --published | --sweep] [--seeds N] [flag]...',
  flags: FLAGS,
  notes: `Results go to stdout, the same bytes for the same flags; progress goes to stderr. Ends with 0 when all
runs were played and met every threshold (docs/drill.md has their form), with 2 when a flag, plan, option or
threshold does not fit, with 3 when a run did not meet a threshold.

Example:
  holdfast trial --scenario 'retries=on cancel=on' --compare coalesce --seeds 5
  holdfast trial --scenario 'retries=on cancel=on' --compare holdfast --seeds 1 --report overload.html
  holdfast trial --scenario 'budget pulse=1.5' --record runs
  holdfast trial --expect 'total.delivered >= 100%' --expect 'total.executions_per_call <= 1.05'
  holdfast trial --scenario deadline --seeds 5 --bound
  holdfast trial --published
`,
  run: async (args, world): Promise<ExitCode> => {
    const given = readFlags('trial', FLAGS, args);
    if (given.list !== undefined) return list(world);
    const asked = askedOf(given, world);
    if (given.published !== undefined) return published(asked, world);
    if (given.sweep !== undefined) return sweep(asked, world);
    return given.compare === undefined
      ? scenario(asked, world)
      : compare(asked, given.compare[0] ?? '', world);
  },
};

/** What the flags ask for, checked. */
interface Asked {
  readonly scenario: string;
  readonly seeds: readonly number[];
  readonly changes: Changes;
  readonly recordIn: string | undefined;
  readonly report: string | undefined;
  readonly svg: string | undefined;
  readonly thresholds: readonly Threshold[];
  readonly bound: boolean;
  readonly json: boolean;
}

function askedOf(given: Given<typeof FLAGS>, world: World): Asked {
  const modes = (['published', 'sweep', 'compare'] as const).filter((mode) => given[mode] !== undefined);
  if (modes.length > 1) throw new UserError('bad_usage', `trial takes one of --${modes.join(' and --')}`);
  const [report, svg] = [given.report?.[0], given.svg?.[0]];
  if (svg !== undefined && given.sweep === undefined)
    throw new UserError('bad_usage', 'trial takes --svg with --sweep');
  if (report !== undefined && given.published !== undefined) {
    throw new UserError(
      'bad_usage',
      'trial takes --report without --published; --record writes one beside each run',
    );
  }
  for (const path of [report, svg]) if (path !== undefined) checkReportPath(path);
  const name = scenarioNamed(given.scenario?.[0] ?? DEFAULT_SCENARIO);
  const count = wholeNumber(given.seeds?.[0] ?? String(DEFAULT_SEEDS), 'seeds', MOST_SEEDS);
  const path = given.plan?.[0];
  const stated = given.capacity === undefined ? undefined : positive(given.capacity[0] ?? '', 'capacity');
  const asked: Changes = {
    ...changesOf(given.set ?? [], ['control', 'engine', 'cost']),
    plan: planAsked(given, path === undefined ? undefined : readPlanFile(path)),
    capacity: stated,
  };
  check(name, asked);
  if (asked.plan?.trace !== undefined) world.err(traceNote(asked.plan.trace));
  const capacity = stated ?? keptCapacity(name, asked, given.store?.[0], world);
  const changes = { ...asked, capacity };
  const seeds = Array.from({ length: count }, (_, at) => at + 1);
  const [mode] = modes;
  if (mode !== undefined && given.bound !== undefined) {
    throw new UserError('bad_usage', `trial takes --bound without --${mode}`);
  }
  if (mode !== undefined && given.expect !== undefined) {
    throw new UserError('bad_usage', `trial takes --expect without --${mode}`);
  }
  const stages = settingsOf(name, 1, changes).plan.stages.map((stage) => stage.name);
  return {
    scenario: name,
    seeds,
    changes,
    recordIn: given.record?.[0],
    report,
    svg,
    thresholds: thresholdsOf(given.expect ?? [], stages),
    bound: given.bound !== undefined,
    json: given.json !== undefined,
  };
}

function scenarioNamed(name: string): string {
  if (armOf(name) !== undefined) return name;
  const near = nearest(name, scenarioNames());
  const hint = near === undefined ? 'see holdfast trial --list' : `did you mean ${shown(near)}?`;
  throw new UserError('bad_usage', `there is no scenario ${shown(name)}; ${hint}`);
}

/** Options that do not fit are told before a thread is started. */
function check(name: string, changes: Changes): void {
  try {
    const { control, engine, capacity, plan } = settingsOf(name, 1, changes);
    controlOptions({ capacity, ...control });
    const { maxModelLen } = engineOptions(engine);
    if (plan.trace !== undefined) checkLengths(plan.trace, maxModelLen);
  } catch (error) {
    if (error instanceof RangeError) throw new UserError('bad_usage', error.message, { cause: error });
    throw error;
  }
}

function list({ out }: World): ExitCode {
  const about = new Map(ARMS.map((arm) => [arm.name, arm.about]));
  for (const name of new Set([...about.keys(), ...scenarioNames()])) {
    const words = about.get(name);
    out(words === undefined ? `${name}\n` : `${name}\n    ${words}\n`);
  }
  return EXIT.ok;
}

/** Plays all; writes their page where one was asked for. */
async function play(
  tasks: readonly TrialTask[],
  world: World,
  report?: string,
): Promise<readonly RunSummary[]> {
  if (report !== undefined) checkPage(new Set(tasks.map(({ scenario: name }) => name)).size, tasks.length);
  const asked = tasks.map((task) => Object.assign({ keep: report !== undefined }, task));
  const answers = await playAll(asked, progress(world, tasks.length, 'runs'));
  if (report !== undefined) {
    writePage(
      report,
      answers.flatMap(({ record }) => record ?? []),
      world,
    );
  }
  return answers.map(({ summary }) => summary);
}

function tasksOf(name: string, { seeds, changes, recordIn }: Asked): TrialTask[] {
  return seeds.map((seed) => ({ scenario: name, seed, changes, recordIn }));
}

async function scenario(asked: Asked, world: World): Promise<ExitCode> {
  const runs = await play(tasksOf(asked.scenario, asked), world, asked.report);
  const { thresholds } = asked;
  const verdicts = runs.flatMap((run) =>
    thresholds.map((threshold) =>
      Object.assign({ seed: run.seed }, judge(threshold, { ...run, generator: null })),
    ),
  );
  const judged = thresholds.length === 0 ? {} : { thresholds: verdicts };
  const bounds = asked.bound ? boundsOf(asked, runs) : [];
  const bounded = asked.bound ? { bounds } : {};
  const lines = verdictLines(
    verdicts.map(({ seed, ...verdict }) => ({ ...verdict, text: `seed ${seed}: ${verdict.text}` })),
  );
  const text = `${scenarioText(asked.scenario, runs)}${asked.bound ? boundsText(bounds) : ''}${lines}`;
  world.out(asked.json ? json({ runs, ...judged, ...bounded }) : text);
  return verdicts.every(({ met }) => met) ? EXIT.ok : EXIT.unmet;
}

/** What could have been on time at all, seed by seed, beside what was. */
function boundsOf({ scenario: name, changes }: Asked, runs: readonly RunSummary[]): readonly RunBound[] {
  return runs.map(({ seed, total }) => ({
    seed,
    onTime: total.deliveredByDeadline,
    ...clairvoyant(settingsOf(name, seed, changes)),
  }));
}

async function compare(asked: Asked, other: string, world: World): Promise<ExitCode> {
  const [a, b] = [asked.scenario, scenarioNamed(other)];
  const runs = await play([...tasksOf(a, asked), ...tasksOf(b, asked)], world, asked.report);
  const numbers = runs.map((run) => Object.assign(numbersOf(run), run.figures));
  const rows = pairedDifferences(numbers.slice(0, asked.seeds.length), numbers.slice(asked.seeds.length));
  world.out(asked.json ? json({ a, b, differences: rows }) : comparisonText(a, b, rows));
  return EXIT.ok;
}

async function sweep(asked: Asked, world: World): Promise<ExitCode> {
  const points = sweepPoints();
  const [seed = 1] = asked.seeds;
  const tasks = points.map(({ pulse, load, deadlineSeconds }) => ({
    scenario: `${asked.scenario.replace(/ pulse=\S+/, '')} pulse=${pulse}`,
    seed,
    changes: { ...asked.changes, load, deadlineSeconds },
  }));
  const runs = await play(tasks, world);
  drawSweep(asked, points, runs, world);
  if (asked.json) {
    const rows = points.map((point, at) => Object.assign({ recovery: runs[at]?.recovery }, point));
    world.out(json({ scenario: asked.scenario, seed, points: rows }));
  } else {
    world.out(
      `${asked.scenario}, seed ${seed}: seconds after the pulse until the backlog is at its base and calls are\non time again; — where they are not when the hold ends, 720 s after it.\n\n${sweepTable(points, runs)}`,
    );
  }
  return EXIT.ok;
}

function drawSweep(
  { scenario: name, seeds, report, svg }: Asked,
  points: readonly SweepPoint[],
  runs: readonly RunSummary[],
  { err }: World,
): void {
  const cells = points.flatMap((point, at) => {
    const run = runs[at];
    return run === undefined ? [] : [Object.assign({ recoveredAfterSeconds: recoveredAfter(run) }, point)];
  });
  const drawn = { scenario: name, seed: seeds[0] ?? 1, cells };
  if (report !== undefined) writeReport(report, sweepPage(drawn));
  if (svg !== undefined) writeReport(svg, svgFile(sweepPicture(drawn)));
  for (const path of [report, svg]) if (path !== undefined) err(`report: ${path}\n`);
}

async function published(asked: Asked, world: World): Promise<ExitCode> {
  const { changes, recordIn } = asked;
  const tasks = publishedMatrix(asked.seeds).map((run) => Object.assign({ changes, recordIn }, run));
  const runs = await play(tasks, world);
  const rows = PUBLISHED_FIGURES.map((figure) => {
    const its = runs.filter((run) => run.scenario === armNameOf(figure));
    return compareFigure(
      figure,
      its.map((run) => run.figures[figure.figure] ?? Number.NaN),
    );
  });
  if (asked.json) world.out(json({ seeds: asked.seeds, figures: rows, runs }));
  else world.out(figuresText(rows));
  return EXIT.ok;
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
