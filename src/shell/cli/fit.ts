/** `holdfast twin fit`: makes a profile of anyone's own engine from its measured steps. */

import { stepMs } from '../../core/engine/cost.js';
import { type Fit, fitCost } from '../../core/engine/fit.js';
import { ENGINE_DEFAULTS } from '../../core/engine/options.js';
import { EXIT, type ExitCode, UserError } from '../shared/errors.js';
import { coefficients, writeProfile } from '../twin/profile-file.js';
import { readSamples, type SampleLine } from '../twin/samples-file.js';
import { type Command, HELP_FLAG, type World } from './command.js';
import { type Flags, type Given, readFlags } from './flags.js';

const NAME = 'twin fit';

const FLAGS = {
  out: { value: 'FILE', help: 'write a profile that holdfast twin --profile takes' },
  model: { value: 'NAME', help: "the profile's model (fitted)" },
  'num-gpu-blocks': { value: 'N', help: "the profile's KV blocks of 16 tokens (65000)" },
  'max-model-len': { value: 'N', help: "the profile's most tokens of prompt and answer together (32768)" },
  json: { help: 'print the result as JSON' },
  ...HELP_FLAG,
} as const satisfies Flags;

type FitFlags = Given<typeof FLAGS>;

export const FIT: Command = {
  name: 'fit',
  summary: 'Fits the step time of a profile to measured steps, and says how far it stays from them',
  usage: 'holdfast twin fit CSV [--out FILE] [--json]',
  flags: FLAGS,
  notes: `The first line of CSV names its columns, one line a step follows: tokens of the step; pairs, the sum over prefill
chunks of n * (context before + n / 2); context, the sum of the contexts of decoding sequences; ms it took.

Example:
  holdfast twin fit steps.csv --out mine.json
  holdfast twin --profile ./mine.json
`,
  run: async (args, world): Promise<ExitCode> => {
    const operands: string[] = [];
    const given = readFlags(NAME, FLAGS, args, operands);
    const [path, ...more] = operands;
    if (path === undefined || more.length > 0) {
      throw new UserError('bad_usage', `${NAME} takes one file of samples: ${FIT.usage}`);
    }
    const samples = readSamples(path);
    const fit = fitted(path, samples);
    save(given, fit, world);
    world.out(given.json === undefined ? inWords(fit, samples) : inJson(fit, samples));
    return EXIT.ok;
  },
};

function fitted(path: string, samples: readonly SampleLine[]): Fit {
  try {
    return fitCost(samples);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new UserError('input_invalid', `${path}: ${cause.message}`, { cause });
  }
}

function save(given: FitFlags, { cost }: Fit, world: World): void {
  const path = given.out?.[0];
  if (path === undefined) {
    const idle = (['model', 'num-gpu-blocks', 'max-model-len'] as const).find(
      (name) => given[name] !== undefined,
    );
    if (idle !== undefined) throw new UserError('bad_usage', `${NAME} takes --${idle} with --out FILE only`);
    return;
  }
  writeProfile(path, {
    model: given.model?.[0] ?? 'fitted',
    numGpuBlocks: wholeOf(given, 'num-gpu-blocks', ENGINE_DEFAULTS.numGpuBlocks),
    maxModelLen: wholeOf(given, 'max-model-len', ENGINE_DEFAULTS.maxModelLen),
    cost,
  });
  world.err(`the profile is in ${path}\n`);
}

const MOST = 2 ** 24;

function wholeOf(given: FitFlags, name: 'num-gpu-blocks' | 'max-model-len', otherwise: number): number {
  const text = given[name]?.[0];
  if (text === undefined) return otherwise;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= 2 && value <= MOST) return value;
  throw new UserError(
    'bad_usage',
    `--${name} must be a whole number from 2 to ${MOST}, not ${JSON.stringify(text)}`,
  );
}

interface Worst {
  readonly line: number;
  readonly measuredMs: number;
  readonly fittedMs: number;
}

function worstOf({ cost }: Fit, samples: readonly SampleLine[]): Worst {
  const off = (sample: SampleLine): number => Math.abs(stepMs(cost, sample) / sample.ms - 1);
  const worst = samples.reduce((most, each) => (off(each) > off(most) ? each : most));
  return { line: worst.line, measuredMs: worst.ms, fittedMs: stepMs(cost, worst) };
}

function inWords(fit: Fit, samples: readonly SampleLine[]): string {
  const percent = (share: number): string => `${(100 * share).toFixed(2)} %`;
  const { line, measuredMs, fittedMs } = worstOf(fit, samples);
  const where = `line ${line}: ${measuredMs} ms measured, ${fittedMs.toPrecision(4)} ms fitted`;
  const rows: [string, string][] = [
    ['samples', String(samples.length)],
    ...Object.entries(coefficients(fit.cost)).map(([name, value]): [string, string] => [
      name,
      String(Number(value.toPrecision(5))),
    ]),
    ['mean residual', percent(fit.meanResidual)],
    ['max residual', `${percent(fit.maxResidual)} (${where})`],
  ];
  return rows.map(([name, value]) => `${name.padEnd(15)}${value}\n`).join('');
}

function inJson(fit: Fit, samples: readonly SampleLine[]): string {
  const { line, measuredMs, fittedMs } = worstOf(fit, samples);
  const result = {
    samples: samples.length,
    cost: coefficients(fit.cost),
    mean_residual: fit.meanResidual,
    max_residual: fit.maxResidual,
    worst: { line, measured_ms: measuredMs, fitted_ms: fittedMs },
  };
  return `${JSON.stringify(result)}\n`;
}
