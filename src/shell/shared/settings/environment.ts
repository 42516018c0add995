/** Settings from variables: each has one, named after its key, and what is misspelt is said rather than ignored. */

import { nearest } from '../options.js';
import { Complaints, type Layer, type Said } from './reading.js';
import type { Environment } from './substitution.js';
import { type Leaf, leavesOf, readValue } from './table.js';

export interface EnvironmentParts {
  /** `HOLDFAST_`. */
  readonly prefix: string;
  readonly env: Environment;
  /** Variables of other names that are heard where ours is not set: the key each stands for. */
  readonly others?: Readonly<Record<string, string>>;
  /** Variables with the prefix that are no settings. */
  readonly apart?: ReadonlySet<string>;
}

/** The variable of a setting: `HOLDFAST_CONTROL_GRACE` of `control.grace`. */
export function variableOf(prefix: string, { keys }: Leaf): string {
  return prefix + keys.join('_').toUpperCase();
}

/**
 * What Kubernetes sets in every container beside a Service of our name. Its `HOLDFAST_PORT` is `tcp://…`, which
 * would be an error that nobody has made.
 */
function isServiceLink(prefix: string, name: string, text: string): boolean {
  const rest = name.slice(prefix.length);
  if (/^SERVICE_(?:HOST|PORT(?:_\w+)?)$/.test(rest) || /^PORT_\d+_(?:TCP|UDP|SCTP)(?:_\w+)?$/.test(rest))
    return true;
  return rest === 'PORT' && /^(?:tcp|udp|sctp):\/\//.test(text);
}

/** What the environment says of the settings of `group`, and a warning for each variable that is none of them. */
export function environmentLayer(
  group: object,
  { prefix, env, others = {}, apart = new Set() }: EnvironmentParts,
): Layer & { readonly warnings: readonly string[] } {
  const leaves = new Map(leavesOf(group).map((leaf) => [variableOf(prefix, leaf), leaf]));
  const said: Said[] = [];
  const complaints: string[] = [];
  const read = (leaf: Leaf, variable: string, text: string): void => {
    const heard = new Complaints({ place: (at) => placed(variable, leaf, at.length) });
    const value = readValue(leaf, leaf.setting.kind.fromText(text), leaf.keys, heard);
    complaints.push(...heard.all);
    if (value !== undefined) said.push({ leaf, value, origin: { from: 'environment', variable } });
  };
  for (const [name, key] of Object.entries(others)) {
    const leaf = [...leaves.values()].find((each) => each.key === key);
    const text = env[name] ?? '';
    if (leaf !== undefined && text !== '' && (env[variableOf(prefix, leaf)] ?? '') === '')
      read(leaf, name, text);
  }
  const warnings: string[] = [];
  for (const [name, text = ''] of Object.entries(env)) {
    if (!name.startsWith(prefix) || text === '' || isServiceLink(prefix, name, text)) continue;
    const leaf = leaves.get(name);
    if (leaf !== undefined) read(leaf, name, text);
    else if (!apart.has(name)) warnings.push(unknownVariable(name, [...leaves.keys()]));
  }
  return { said, complaints, warnings };
}

/** The place of a complaint: the variable alone, or the entry of its list. */
const placed = (variable: string, { keys }: Leaf, depth: number): string =>
  depth > keys.length ? `an entry of ${variable}` : variable;

function unknownVariable(name: string, known: readonly string[]): string {
  const near = nearest(name.slice(0, 128), known);
  const hint = near === undefined ? 'no setting has a variable like it' : `did you mean ${near}?`;
  return `the variable ${name.slice(0, 128)} is not a setting and has no effect; ${hint}`;
}
