/** `holdfast calibrate`: an engine's capacity Ĉ by staged rates, kept with what it was measured of. */

import {
  CALIBRATION_DEFAULTS,
  type CalibrationOptions,
  type CalibrationResult,
  calibrationOptions,
} from '../../core/drill/calibrate.js';
import { type Arrivals, type Plan, PUBLISHED_PLAN, type Workload } from '../../core/drill/plan.js';
import { type EngineOptions, engineOptions } from '../../core/engine/options.js';
import { calibrateEngine, VIRTUAL_CALIBRATION } from '../../core/trial/calibrate.js';
import { type CapacityOf, defaultStore, keepCapacity } from '../probe/capacity-store.js';
import { liveEngine } from '../probe/engine-facts.js';
import { LiveCalibration } from '../probe/live-calibration.js';
import { readPlanFile } from '../probe/plan-file.js';
import { EXIT, type ExitCode, UserError } from '../shared/errors.js';
import { shown } from '../shared/options.js';
import { profileNamed } from '../twin/profile-file.js';
import { calibrationText, stageLine } from './calibrate-text.js';
import { type Command, HELP_FLAG, type World } from './command.js';
import { DRILL_FLAGS } from './drill-flags.js';
import { liveSettings } from './drill-settings.js';
import { virtualEngine } from './engine-fingerprint.js';
import { type Flags, type Given, readFlags } from './flags.js';
import { positive, wholeNumber } from './numbers.js';
import { changesOf } from './trial-changes.js';

/** Of a server, the same as a drill's. */
const SERVER_FLAGS = {
  model: DRILL_FLAGS.model,
  api: DRILL_FLAGS.api,
  prompts: DRILL_FLAGS.prompts,
  vocabulary: DRILL_FLAGS.vocabulary,
  plain: DRILL_FLAGS.plain,
  key: DRILL_FLAGS.key,
  engine: DRILL_FLAGS.engine,
  'prompt-tokens': DRILL_FLAGS['prompt-tokens'],
  'response-tokens': DRILL_FLAGS['response-tokens'],
  'time-scale': DRILL_FLAGS['time-scale'],
  'most-lag': DRILL_FLAGS['most-lag'],
} as const satisfies Flags;

/** Of the engine model. */
const MODEL_FLAGS = ['profile', 'set', 'arrivals'] as const;

const FLAGS = {
  profile: {
    value: 'NAME',
    help: 'calibrate the engine model with this profile, in virtual time (qwen2.5-7b)',
  },
  set: {
    value: 'KEY=VALUE',
    many: true,
    help: 'change the model: engine.maxNumSeqs=64, cost.efficiency=0.9',
  },
  plan: { value: 'FILE', help: 'take the workload of this plan, YAML or JSON (the standard one)' },
  first: { value: 'N', help: 'calls per second to begin with (1)' },
  lowest: { value: 'N', help: 'go no lower than this, calls per second (0.01)' },
  highest: { value: 'N', help: 'go no higher than this, calls per second (1000)' },
  grain: { value: 'SHARE', help: 'how near the first growing rate has to come to Ĉ (0.03; model 0.02)' },
  settle: { value: 'S', help: 'seconds at the head of each stage that are not judged (60; model 300)' },
  judged: { value: 'S', help: 'seconds of each stage that are judged, at least (120; model 900)' },
  limit: { value: 'S', help: 'seconds of load, all stages together (7200; model 100000)' },
  arrivals: { value: 'even|poisson', help: 'how calls are spaced; chance clusters look like growth (even)' },
  seed: { value: 'N', help: 'the seed of the first stage (1)' },
  store: { value: 'FILE', help: 'keep the result here (capacities.json in $XDG_STATE_HOME/holdfast)' },
  json: { help: 'print JSON instead of a table' },
  ...SERVER_FLAGS,
  ...HELP_FLAG,
} as const satisfies Flags;

type CalibrateFlags = Given<typeof FLAGS>;

export const CALIBRATE: Command = {
  name: 'calibrate',
  summary: 'Finds an engine’s capacity Ĉ: the highest rate at which its waiting queue does not grow',
  usage: 'holdfast calibrate [URL | --profile NAME] [--plan FILE] [flag]...',
  flags: FLAGS,
  notes: `URL is an engine or a gateway with OpenAI's API; without one the engine model is calibrated, in virtual time. A
server must serve nobody else meanwhile. Ctrl-C ends the search. docs/calibrate.md tells how it is judged.

The result goes to stdout, a line a stage to stderr. Ends with 0 when Ĉ was found and kept, with 4 when it could
not be told (the reason is printed, nothing is kept), with 2 when a flag, plan or option does not fit.

Example:
  holdfast calibrate --profile qwen2.5-7b
  holdfast calibrate http://127.0.0.1:8000 --prompt-tokens 360-440 --response-tokens 20-60 --first 2
  holdfast calibrate --profile qwen3-14b --set engine.maxNumBatchedTokens=2048 --json
`,
  run: async (args, world): Promise<ExitCode> => {
    const operands: string[] = [];
    const given = readFlags('calibrate', FLAGS, args, operands);
    const [url, ...more] = operands;
    if (more.length > 0) throw new UserError('bad_usage', 'calibrate takes one URL, or none');
    const others = url === undefined ? Object.keys(SERVER_FLAGS) : MODEL_FLAGS;
    const stray = others.find((flag) => given[flag as keyof CalibrateFlags] !== undefined);
    if (stray !== undefined) {
      const why = url === undefined ? 'needs the URL of a server' : 'is for the engine model, without a URL';
      throw new UserError('bad_usage', `calibrate: --${stray} ${why}`);
    }
    return url === undefined ? virtual(given, world) : await live(url, given, world);
  },
};

async function live(url: string, given: CalibrateFlags, world: World): Promise<ExitCode> {
  const options = optionsOf(given, {});
  const asked = Object.fromEntries(
    [...Object.keys(SERVER_FLAGS), 'plan'].flatMap((flag) => {
      const values = given[flag as keyof CalibrateFlags];
      return values === undefined ? [] : [[flag, values] as const];
    }),
  );
  // A capacity is stated so that none is looked for; no stage here is a multiple of it.
  const settings = await liveSettings(url, { ...asked, capacity: ['1'] }, world);
  const workload = withoutTrace(settings.plan).workload;
  const { model, credential, plan } = settings;
  const of = await liveEngine(
    settings.url,
    model,
    workload,
    `Bearer ${credential(plan.clients[0]?.tenant ?? '')}`,
  );
  world.err(`${of.target}, model ${model}, workload ${of.workload}, ${JSON.stringify(options)}\n`);
  let stages = 0;
  const search = new LiveCalibration({
    server: { ...settings, salt: `calibrate-${Date.now().toString(36)}` },
    workload,
    options,
    judged: (stage) => world.err(stageLine(stage, (stages += 1))),
  });
  const unlisten = world.signals.listen(() => {
    world.err('\nstopping\n');
    search.stop();
  });
  try {
    return told(await search.run(), of, given, world);
  } finally {
    unlisten();
  }
}

const PLACES = ['engine', 'cost'] as const;

function virtual(given: CalibrateFlags, world: World): ExitCode {
  const profile = profileNamed(given.profile?.[0] ?? 'qwen2.5-7b');
  const { engine: changed, cost: costs } = changesOf(given.set ?? [], PLACES);
  const engine: Partial<EngineOptions> = {
    numGpuBlocks: profile.numGpuBlocks,
    maxModelLen: profile.maxModelLen,
    ...changed,
  };
  const cost = { ...profile.cost, ...costs };
  const workload = workloadOf(given);
  const options = optionsOf(given, VIRTUAL_CALIBRATION);
  checked(() => engineOptions(engine));
  const of = virtualEngine(profile.name, workload, cost, engine);
  world.err(`${of.target}, profile ${of.model}, workload ${of.workload}, ${JSON.stringify(options)}\n`);
  let stages = 0;
  const result = checked(() =>
    calibrateEngine({
      cost,
      engine,
      workload,
      arrivals: arrivalsOf(given),
      options,
      judged: (stage) => world.err(stageLine(stage, (stages += 1))),
    }),
  );
  return told(result, of, given, world);
}

/** Prints the result, and keeps a capacity that was found. */
function told(result: CalibrationResult, of: CapacityOf, given: CalibrateFlags, world: World): ExitCode {
  const json = given.json !== undefined;
  world.out(json ? `${JSON.stringify({ ...of, ...result }, null, 2)}\n` : calibrationText(result));
  if (result.verdict === 'could_not_tell') return EXIT.invalid;
  const store = given.store?.[0] ?? defaultStore(world.env);
  const { capacity, grain, servedPerSecond, signal } = result;
  const measuredAt = new Date().toISOString();
  keepCapacity(store, {
    ...of,
    engine: { ...of.engine },
    capacity,
    grain,
    servedPerSecond,
    signal,
    measuredAt,
  });
  world.err(`kept in ${store}\n`);
  return EXIT.ok;
}

function workloadOf(given: CalibrateFlags): Workload {
  const path = given.plan?.[0];
  return path === undefined ? PUBLISHED_PLAN.workload : withoutTrace(readPlanFile(path)).workload;
}

function withoutTrace(plan: Plan): Plan {
  if (plan.trace === undefined) return plan;
  throw new UserError(
    'input_invalid',
    'calibrate needs a plan with a workload; a trace has lengths of its own',
  );
}

function optionsOf(given: CalibrateFlags, defaults: Partial<CalibrationOptions>): CalibrationOptions {
  const number = (flag: keyof CalibrateFlags, otherwise: number): number => {
    const text = given[flag]?.[0];
    return text === undefined ? otherwise : positive(text, flag);
  };
  const base = { ...CALIBRATION_DEFAULTS, ...defaults };
  return checked(() =>
    calibrationOptions({
      ...base,
      firstPerSecond: number('first', base.firstPerSecond),
      lowestPerSecond: number('lowest', base.lowestPerSecond),
      highestPerSecond: number('highest', base.highestPerSecond),
      grain: number('grain', base.grain),
      settleSeconds: number('settle', base.settleSeconds),
      judgedSeconds: number('judged', base.judgedSeconds),
      mostSeconds: number('limit', base.mostSeconds),
      seed: wholeNumber(given.seed?.[0] ?? String(base.seed), 'seed', 2 ** 31),
    }),
  );
}

function arrivalsOf(given: CalibrateFlags): Arrivals {
  const word = given.arrivals?.[0] ?? 'even';
  if (word === 'even' || word === 'poisson') return word;
  throw new UserError('bad_usage', `--arrivals must be even or poisson, not ${shown(word)}`);
}

/** An option that does not fit, as what its user can put right. */
function checked<Value>(make: () => Value): Value {
  try {
    return make();
  } catch (error) {
    if (error instanceof RangeError) throw new UserError('bad_usage', error.message, { cause: error });
    throw error;
  }
}
