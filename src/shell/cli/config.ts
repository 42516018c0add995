/** `holdfast config`: the shape of the configuration file, whether a file fits it, and what is in force. */

import { gatewayConfig, SETTINGS } from '../gateway/config.js';
import { configLayer, fittingLayer, readConfigText, readSettings } from '../gateway/config-file.js';
import { warnings } from '../gateway/warnings.js';
import { EXIT, type ExitCode, UserError } from '../shared/errors.js';
import { fileSchema } from '../shared/settings/resolve.js';
import { type Command, HELP_FLAG, type World } from './command.js';
import { shownAsJson, shownAsYaml } from './config-show.js';
import { configurationOf } from './configuration.js';
import { type Flags, readFlags } from './flags.js';
import { SETTING_FLAGS } from './setting-flags.js';

const FLAGS = {
  schema: { help: 'print the JSON Schema (2020-12) of the file' },
  check: { value: 'FILE', help: 'say whether the file fits, and all that does not' },
  show: { help: 'print the options in force, each with where it came from; secrets are hidden' },
  json: { help: 'print --check and --show as JSON' },
  ...SETTING_FLAGS,
  ...HELP_FLAG,
} as const satisfies Flags;

export const CONFIG: Command = {
  name: 'config',
  summary: 'Checks a configuration file, shows the options in force, prints the schema',
  usage: 'holdfast config --schema | --check FILE | --show [--config FILE] [flag]...',
  flags: FLAGS,
  notes: `--show takes the flags of holdfast serve, and so says what the same command line would serve with.
Exits with 0 when everything fits, whatever was warned about, and with 2 when something does not.

Example:
  holdfast config --schema > holdfast.schema.json
  holdfast config --check holdfast.yaml
  HOLDFAST_CONTROL_ROOM=256 holdfast config --show --config holdfast.yaml
`,
  run: async (args, world): Promise<ExitCode> => {
    const given = readFlags('config', FLAGS, args);
    const json = given.json !== undefined;
    const asked = [given.schema, given.check, given.show].filter((each) => each !== undefined);
    if (asked.length !== 1) {
      throw new UserError('bad_usage', 'config takes one of --schema, --check FILE and --show');
    }
    if (given.schema !== undefined) return schema(world);
    const [checked] = given.check ?? [];
    if (checked !== undefined) return json ? checkAsJson(checked, world) : check(checked, world);
    const found = configurationOf(given, world.env);
    for (const warning of [...found.warnings, ...warnings(found.config)]) world.err(`warning: ${warning}\n`);
    world.out(json ? shownAsJson(found) : shownAsYaml(found));
    return EXIT.ok;
  },
};

function schema(world: World): ExitCode {
  const text = JSON.stringify(fileSchema(SETTINGS, 'Configuration of holdfast serve'), undefined, 2);
  world.out(`${text}\n`);
  return EXIT.ok;
}

/** The file alone: what flags and variables say beside it is not looked at, what it refers to is. */
function check(path: string, world: World): ExitCode {
  const text = readConfigText(path);
  fittingLayer(text, path, world.env);
  const warned = warningsOf(path, text, world);
  for (const warning of warned) world.err(`warning: ${warning}\n`);
  world.out(`${path} fits${warned.length === 0 ? '' : `, with ${warned.length} to look at`}\n`);
  return EXIT.ok;
}

function checkAsJson(path: string, world: World): ExitCode {
  const text = readConfigText(path);
  const complaints = complaintsOf(path, text, world);
  const fits = complaints.length === 0;
  const warned = fits ? warningsOf(path, text, world) : [];
  world.out(`${JSON.stringify({ file: path, fits, complaints, warnings: warned }, undefined, 2)}\n`);
  return fits ? EXIT.ok : EXIT.usage;
}

function complaintsOf(path: string, text: string, world: World): readonly string[] {
  try {
    return configLayer(text, path, world.env).complaints;
  } catch (error) {
    if (error instanceof UserError) return [error.message];
    throw error;
  }
}

function warningsOf(path: string, text: string, world: World): readonly string[] {
  return warnings(gatewayConfig(readSettings(text, path, world.env)));
}
