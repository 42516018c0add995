/** Hands a command line to one of the commands, and says in words what went wrong. */

import { EXIT, type ExitCode, UserError } from '../shared/errors.js';
import { nearest, shown } from '../shared/options.js';
import { CALIBRATE } from './calibrate.js';
import { asksForHelp, type Command, helpOf, type World } from './command.js';
import { CONFIG } from './config.js';
import { DRILL } from './drill.js';
import { PULSE } from './pulse.js';
import { REPORT } from './report.js';
import { SERVE } from './serve.js';
import { TRIAL } from './trial.js';
import { TWIN } from './twin.js';

const COMMANDS: readonly Command[] = [SERVE, CONFIG, TWIN, TRIAL, DRILL, CALIBRATE, PULSE, REPORT];

function overview(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length));
  const lines = COMMANDS.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}\n`).join('');
  return `Usage: holdfast COMMAND [flag]...

Keeps LLM calls alive through overload: a retry is given the work its call already has.

Commands:
${lines}
holdfast COMMAND --help tells its flags; holdfast --version the version.

Example:
  holdfast serve --upstream http://127.0.0.1:8000
`;
}

/** Runs one command line; the answer is the exit code. Never throws for what its user can put right. */
export async function runCommandLine(args: readonly string[], world: World): Promise<ExitCode> {
  try {
    return await dispatch(args, world);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    world.err(`holdfast: ${error.message}\n`);
    return error.exitCode;
  }
}

async function dispatch([first, ...rest]: readonly string[], world: World): Promise<ExitCode> {
  if (first === '--version' || first === '-v') {
    world.out(`${world.version}\n`);
    return EXIT.ok;
  }
  if (first === '--help' || first === '-h' || (first === 'help' && rest[0] === undefined)) {
    world.out(overview());
    return EXIT.ok;
  }
  if (first === undefined) {
    world.err(overview());
    return EXIT.usage;
  }
  const asked = first === 'help' ? rest[0] : first;
  const named = COMMANDS.find(({ name }) => name === asked);
  if (named === undefined) throw unknownCommand(asked ?? '');
  const words = first === 'help' ? rest.slice(1) : rest;
  const within = named.subcommands?.find(({ name }) => name === words[0]);
  const command = within ?? named;
  if (first === 'help' || asksForHelp(words)) {
    world.out(helpOf(command));
    return EXIT.ok;
  }
  return command.run(within === undefined ? words : words.slice(1), world);
}

function unknownCommand(asked: string): UserError {
  const names = COMMANDS.map(({ name }) => name);
  const near = nearest(asked, names);
  const hint = near === undefined ? `the commands are ${names.join(', ')}` : `did you mean ${near}?`;
  return new UserError('bad_usage', `there is no command ${shown(asked)}; ${hint}`);
}
