/** Flags as data: parsed strictly, told in `--help`, and a misspelt one is answered with the one that was meant. */

import { parseArgs } from 'node:util';
import { UserError } from '../shared/errors.js';
import { nearest, shown } from '../shared/options.js';

export interface Flag {
  /** What its value stands for, as `--help` shows it (`URL`); absent for a flag without a value. */
  readonly value?: string;
  /** It may be given more than once. */
  readonly many?: boolean;
  /** One line for `--help`, without a full stop. */
  readonly help: string;
}

/** Flags by name, without the dashes. */
export type Flags = Readonly<Record<string, Flag>>;

/** What was given, in order; a flag without a value holds an empty text each time. */
export type Given<Known extends Flags> = { readonly [Name in keyof Known]?: readonly string[] };

/**
 * Reads `args`; throws a {@link UserError} for anything that `flags` does not have. What is no flag is added to
 * `operands`, and refused without it.
 */
export function readFlags<Known extends Flags>(
  command: string,
  flags: Known,
  args: readonly string[],
  operands?: string[],
): Given<Known> {
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, { value }]) => [
      name,
      { type: value === undefined ? ('boolean' as const) : ('string' as const), multiple: true },
    ]),
  );
  // Strict parsing would throw before we could say what was meant.
  const { tokens } = parseArgs({
    args: [...args],
    options,
    strict: false,
    tokens: true,
    allowPositionals: true,
  });
  const given: Record<string, string[]> = {};
  for (const token of tokens) {
    if (token.kind === 'positional') {
      if (operands === undefined) throw wrong(command, `takes no argument ${shown(token.value)}`);
      operands.push(token.value);
      continue;
    }
    if (token.kind === 'option-terminator') continue;
    const flag = Object.hasOwn(flags, token.name) ? flags[token.name] : undefined;
    if (flag === undefined) throw unknown(command, flags, token.rawName);
    const values = (given[token.name] ??= []);
    values.push(valueOf(command, token.rawName, flag, token.value, token.inlineValue === true));
    if (values.length > 1 && flag.many !== true) throw wrong(command, `takes ${token.rawName} once`);
  }
  return given;
}

function valueOf(
  command: string,
  name: string,
  { value }: Flag,
  given: string | undefined,
  inline: boolean,
): string {
  if (value === undefined) {
    if (given !== undefined) throw wrong(command, `takes ${name} without a value, not ${shown(given)}`);
    return '';
  }
  if (given === undefined || given === '' || (!inline && given.startsWith('-'))) {
    throw wrong(command, `needs a value after ${name}: ${name} ${value}`);
  }
  return given;
}

function unknown(command: string, flags: Flags, name: string): UserError {
  const near = nearest(
    name.replace(/^-+/, ''),
    Object.keys(flags).filter((flag) => flag.length > 1),
  );
  const hint = near === undefined ? `see holdfast ${command} --help` : `did you mean --${near}?`;
  return wrong(command, `knows no flag ${name.slice(0, 64)}; ${hint}`);
}

function wrong(command: string, what: string): UserError {
  return new UserError('bad_usage', `${command} ${what}`);
}

/** The flags as `--help` lists them, one a line. */
export function flagLines(flags: Flags): string {
  const heads = Object.entries(flags).map(
    ([name, { value }]) => `--${name}${value === undefined ? '' : ` ${value}`}`,
  );
  const width = Math.max(...heads.map((head) => head.length));
  return Object.values(flags)
    .map(
      ({ help, many }, at) =>
        `  ${(heads[at] ?? '').padEnd(width)}  ${help}${many === true ? ' (repeatable)' : ''}\n`,
    )
    .join('');
}
