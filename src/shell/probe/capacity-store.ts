/** Capacities that were measured, in a JSON file: each with what it was measured of, so that a stale one is known. */

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { Workload } from '../../core/drill/plan.js';
import { UserError } from '../shared/errors.js';
import { errorText } from '../shared/log.js';
import { shown } from '../shared/options.js';
import { readTextFile } from '../shared/text-file.js';

const FORMAT = 'holdfast-capacities/1';
const LARGEST_FILE_BYTES = 4 * 1024 * 1024;
const MOST_ENTRIES = 1_000;
const DIGEST_LETTERS = 16;

const positive = z.number().positive().max(1e6);

const ENTRY = z.strictObject({
  target: z.string().min(1).max(2_048),
  model: z.string().min(1).max(512),
  workload: z.string().min(1).max(64),
  engine: z.record(z.string().max(128), z.string().max(512)),
  capacity: positive,
  grain: z.number().positive().max(1),
  servedPerSecond: positive.nullable(),
  signal: z.enum(['waiting', 'first-byte']),
  measuredAt: z.iso.datetime(),
});

const FILE = z.strictObject({ format: z.literal(FORMAT), capacities: z.array(ENTRY).max(MOST_ENTRIES) });

/** What a capacity belongs to. It is found by the first three, and stale when any fact of `engine` has changed. */
export interface CapacityOf {
  /** The URL, or `virtual time`. */
  readonly target: string;
  readonly model: string;
  /** {@link workloadDigest} of what was asked. */
  readonly workload: string;
  /** Everything known of the engine that may move its capacity: version, lengths, cache. */
  readonly engine: Readonly<Record<string, string>>;
}

/** One measured capacity, calls per second. */
export type KeptCapacity = Readonly<z.infer<typeof ENTRY>>;

export type FoundCapacity =
  | { readonly kind: 'known'; readonly kept: KeptCapacity }
  /** Measured of an engine that differs in these facts. */
  | { readonly kind: 'stale'; readonly kept: KeptCapacity; readonly differs: readonly string[] }
  | { readonly kind: 'none' };

/** `$XDG_STATE_HOME/holdfast/capacities.json`, by the XDG rule under `~/.local/state` where that is not set. */
export function defaultStore(env: Readonly<Record<string, string | undefined>>): string {
  const home = env.XDG_STATE_HOME;
  const state = home === undefined || home === '' ? join(env.HOME ?? homedir(), '.local', 'state') : home;
  return join(state, 'holdfast', 'capacities.json');
}

/** A short name of a workload: equal for equal ones, whatever the order of their keys. */
export function workloadDigest(workload: Workload): string {
  return createHash('sha256').update(canonical(workload)).digest('hex').slice(0, DIGEST_LETTERS);
}

function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${canonical(field)}`).join(',')}}`;
}

/** What the file at `path` knows of it; a file that is not there knows nothing. */
export function capacityFor(path: string, asked: CapacityOf): FoundCapacity {
  const kept = readCapacities(path).find((entry) => isSame(entry, asked));
  if (kept === undefined) return { kind: 'none' };
  const facts = new Set([...Object.keys(kept.engine), ...Object.keys(asked.engine)]);
  const differs = [...facts].filter((fact) => kept.engine[fact] !== asked.engine[fact]);
  const said = differs.map(
    (fact) => `${fact} was ${kept.engine[fact] ?? 'not told'}, is ${asked.engine[fact] ?? 'not told'}`,
  );
  return said.length === 0 ? { kind: 'known', kept } : { kind: 'stale', kept, differs: said };
}

/** Puts `entry` in the place of the one it replaces. The file is whole at every moment; the oldest entry goes. */
export function keepCapacity(path: string, entry: KeptCapacity): void {
  const others = readCapacities(path).filter((other) => !isSame(other, entry));
  const capacities = [...others, entry].slice(-MOST_ENTRIES);
  const beside = `${path}.${process.pid}.tmp`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(beside, `${JSON.stringify({ format: FORMAT, capacities }, null, 2)}\n`);
    renameSync(beside, path);
  } catch (cause) {
    rmSync(beside, { force: true });
    throw new UserError('output_unwritable', `cannot keep the capacity: ${errorText(cause)}`, { cause });
  }
}

function isSame(a: Omit<CapacityOf, 'engine'>, b: Omit<CapacityOf, 'engine'>): boolean {
  return a.target === b.target && a.model === b.model && a.workload === b.workload;
}

function readCapacities(path: string): readonly KeptCapacity[] {
  if (!existsSync(path)) return [];
  const content = readTextFile({ path, what: 'the capacities', largestBytes: LARGEST_FILE_BYTES });
  const read = FILE.safeParse(json(content, path));
  if (read.success) return read.data.capacities;
  const reasons = read.error.issues
    .slice(0, 5)
    .map((issue) => `  ${issue.path.map(String).join('.') || 'the file'}: ${issue.message}`);
  throw broken(path, `\n${reasons.join('\n')}`);
}

function json(content: string, path: string): unknown {
  try {
    return JSON.parse(content) as unknown;
  } catch (cause) {
    throw broken(path, ` ${errorText(cause)}`);
  }
}

function broken(path: string, why: string): UserError {
  const message = `${shown(path)} holds no capacities as holdfast calibrate writes them; move it away, or name another with --store:${why}`;
  return new UserError('input_invalid', message);
}
