/** Texts of a file that come from variables, so that secrets need not stand in it: `$NAME`, `${NAME}`, `$$` for a dollar. */

import { nearest } from '../options.js';
import type { Path } from './kind.js';
import { isMapping } from './table.js';

/** Variables by name; an empty one counts as not set. */
export type Environment = Readonly<Record<string, string | undefined>>;

const REFERENCE = /\$(?:\$|\{(?<braced>[^}]*)\}|(?<bare>[A-Za-z_]\w*))?/g;
const NAME = /^[A-Za-z_]\w*$/;

export interface Substitution {
  /** The text at this place was made from these variables. */
  readonly took: (at: Path, names: readonly string[]) => void;
  readonly complain: (at: Path, message: string) => void;
}

/** `raw` with every text in it replaced by what it refers to; keys, numbers and words such as true are left alone. */
export function substituted(raw: unknown, env: Environment, heard: Substitution, at: Path = []): unknown {
  if (typeof raw === 'string') return raw.includes('$') ? replaced(raw, env, heard, at) : raw;
  if (Array.isArray(raw)) return raw.map((each, index) => substituted(each, env, heard, [...at, index]));
  if (!isMapping(raw)) return raw;
  const copy = Object.entries(raw).map(([key, each]) => [key, substituted(each, env, heard, [...at, key])]);
  return Object.fromEntries(copy) as unknown;
}

function replaced(raw: string, env: Environment, heard: Substitution, at: Path): string {
  const names: string[] = [];
  const text = raw.replaceAll(REFERENCE, (found, ...rest: unknown[]) => {
    if (found === '$$') return '$';
    const { braced, bare } = rest.at(-1) as { readonly braced?: string; readonly bare?: string };
    const name = bare ?? braced ?? '';
    if (!NAME.test(name)) {
      heard.complain(
        at,
        'has a dollar that begins no name: write $NAME or ${NAME} for a variable, $$ for a dollar',
      );
      return found;
    }
    names.push(name);
    const value = env[name];
    if (value === undefined || value === '') heard.complain(at, missing(name, env[name], env));
    return value ?? '';
  });
  if (names.length > 0) heard.took(at, names);
  return text;
}

function missing(name: string, value: string | undefined, env: Environment): string {
  const near = value === undefined ? nearest(name, Object.keys(env)) : undefined;
  const hint = near === undefined ? 'set it, or write $$ for a dollar' : `did you mean $${near}?`;
  return `refers to $${name}, which is ${value === undefined ? 'not set' : 'empty'} in the environment; ${hint}`;
}
