/** Profiles as files: a model on a device as JSON, so that anyone can add their own without touching code. */

import { writeFileSync } from 'node:fs';
import { z } from 'zod';
import type { StepCost } from '../../core/engine/cost.js';
import { PROFILES, type Profile } from '../../core/engine/profiles.js';
import { UserError } from '../shared/errors.js';
import { errorText } from '../shared/log.js';
import { nearest, shown } from '../shared/options.js';
import { readTextFile } from '../shared/text-file.js';

const LARGEST_FILE_BYTES = 64 * 1024;
const MOST_MS = 1e6;

/** A number in [low, high]; whatever else is there is told what would be right. */
function bounded(low: number, high: number): z.ZodNumber {
  const error = ({ input }: { readonly input?: unknown }): string =>
    `must be a number from ${low} to ${high}, not ${shown(input)}`;
  return z.number({ error }).gte(low, { error }).lte(high, { error });
}

function whole(low: number, high: number): z.ZodNumber {
  const error = ({ input }: { readonly input?: unknown }): string =>
    `must be a whole number from ${low} to ${high}, not ${shown(input)}`;
  return z.number({ error }).int({ error }).gte(low, { error }).lte(high, { error });
}

function mapping<Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Shape, z.core.$strict> {
  return z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== 'unrecognized_keys') return `must be a mapping of keys, not ${shown(issue.input)}`;
      const key = issue.keys[0] ?? '';
      const known = Object.keys(shape);
      const near = nearest(key, known);
      return `has a key ${shown(key)} that is not known; ${near === undefined ? `known here: ${known.join(', ')}` : `did you mean ${near}?`}`;
    },
  });
}

const LONGEST_NAME = 256;
const nameError = ({ input }: { readonly input?: unknown }): string =>
  `must be a name of 1 to ${LONGEST_NAME} characters, not ${shown(input)}`;

const FILE = mapping({
  model: z.string({ error: nameError }).min(1, { error: nameError }).max(LONGEST_NAME, { error: nameError }),
  num_gpu_blocks: whole(2, 2 ** 24),
  max_model_len: whole(2, 2 ** 24),
  cost: mapping({
    host_ms: bounded(0, MOST_MS),
    efficiency: bounded(1e-6, 1e6),
    fixed_ms: bounded(0, MOST_MS),
    weights_ms: bounded(0, MOST_MS),
    token_ms: bounded(0, MOST_MS),
    pair_ms: bounded(0, MOST_MS),
    context_ms: bounded(0, MOST_MS),
  }),
});

type ProfileFile = z.infer<typeof FILE>;

/** The built-in profile of that name, or the one in the file: what has a slash or ends in `.json` is a file. */
export function profileNamed(named: string): Profile {
  if (/[/\\]|\.json$/i.test(named)) return readProfile(named);
  const found = PROFILES.find(({ name }) => name === named);
  if (found !== undefined) return found;
  const names = PROFILES.map(({ name }) => name);
  const near = nearest(named, names);
  const hint = near === undefined ? `the built-in ones are ${names.join(', ')}` : `did you mean ${near}?`;
  const message = `there is no profile ${shown(named)}; ${hint} (a file has a slash or ends in .json)`;
  throw new UserError('bad_usage', message);
}

/** The profile in the file at `path`; a {@link UserError} says all that does not fit, each with its place. */
export function readProfile(path: string): Profile {
  const result = FILE.safeParse(parsed(path));
  if (!result.success) {
    const complaints = result.error.issues.map(({ path: at, message }) =>
      `  ${at.join('.')} ${message}`.replace(/^ {3}/, '  '),
    );
    throw new UserError('input_invalid', `the profile ${path} does not fit:\n${complaints.join('\n')}`);
  }
  return profileOf(path, result.data);
}

function parsed(path: string): unknown {
  const text = readTextFile({ path, what: 'the profile', largestBytes: LARGEST_FILE_BYTES });
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UserError('input_invalid', `the profile ${path} is not JSON: ${errorText(cause)}`, { cause });
  }
}

function profileOf(name: string, file: ProfileFile): Profile {
  const { cost } = file;
  return {
    name,
    model: file.model,
    numGpuBlocks: file.num_gpu_blocks,
    maxModelLen: file.max_model_len,
    cost: {
      hostMs: cost.host_ms,
      efficiency: cost.efficiency,
      fixedMs: cost.fixed_ms,
      weightsMs: cost.weights_ms,
      tokenMs: cost.token_ms,
      pairMs: cost.pair_ms,
      contextMs: cost.context_ms,
    },
  };
}

/** A step cost under the names of a profile file. */
export function coefficients(cost: StepCost): ProfileFile['cost'] {
  return {
    host_ms: cost.hostMs,
    efficiency: cost.efficiency,
    fixed_ms: cost.fixedMs,
    weights_ms: cost.weightsMs,
    token_ms: cost.tokenMs,
    pair_ms: cost.pairMs,
    context_ms: cost.contextMs,
  };
}

/** Writes a file that {@link readProfile} reads back. */
export function writeProfile(path: string, profile: Omit<Profile, 'name'>): void {
  const file: ProfileFile = {
    model: profile.model,
    num_gpu_blocks: profile.numGpuBlocks,
    max_model_len: profile.maxModelLen,
    cost: coefficients(profile.cost),
  };
  try {
    writeFileSync(path, `${JSON.stringify(file, undefined, 2)}\n`);
  } catch (cause) {
    throw new UserError('output_unwritable', `cannot write the profile: ${errorText(cause)}`, { cause });
  }
}
