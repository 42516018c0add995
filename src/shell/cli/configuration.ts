/** The configuration in force: flags over environment over file over defaults, each value with where it came from. */

import {
  type GatewayConfig,
  type GatewaySettings,
  gatewayConfig,
  PREFIX,
  SETTINGS,
} from '../gateway/config.js';
import { fittingLayer, readConfigText } from '../gateway/config-file.js';
import { UserError } from '../shared/errors.js';
import { environmentLayer } from '../shared/settings/environment.js';
import type { Origin } from '../shared/settings/reading.js';
import { merge } from '../shared/settings/resolve.js';
import type { Environment } from '../shared/settings/substitution.js';
import { flagLayer, type SettingFlags } from './setting-flags.js';

/** Names the file, as `--config` does. */
const FILE_VARIABLE = 'HOLDFAST_CONFIG';

/** Variables that are read by the tests of this project and by no command. */
const OF_TESTS = ['SEED', 'LONG', 'STEPS', 'REQUIRE_ALL', 'VLLM_CACHE', 'OVER_TLS'].map(
  (name) => PREFIX + name,
);
const APART: ReadonlySet<string> = new Set([FILE_VARIABLE, ...OF_TESTS]);

export interface Configuration {
  readonly config: GatewayConfig;
  /** By key. */
  readonly origins: ReadonlyMap<string, Origin>;
  /** The file that was read, and its text. */
  readonly file: { readonly path: string; readonly text: string } | undefined;
  /** Variables with our prefix that mean nothing. */
  readonly warnings: readonly string[];
}

/** The file that flags and environment name, if any. */
export function fileOf(given: SettingFlags, env: Environment): string | undefined {
  const named = env[FILE_VARIABLE] ?? '';
  return given.config?.[0] ?? (named === '' ? undefined : named);
}

/** Reads every source; a {@link UserError} says which flag, variable or key does not fit, and why. */
export function configurationOf(given: SettingFlags, env: Environment): Configuration {
  const path = fileOf(given, env);
  return layered(given, env, path === undefined ? undefined : { path, text: readConfigText(path) });
}

/** The same with a file whose text is at hand. */
export function layered(given: SettingFlags, env: Environment, file: Configuration['file']): Configuration {
  const filed = file === undefined ? [] : [fittingLayer(file.text, file.path, env)];
  const environment = environmentLayer(SETTINGS, {
    prefix: PREFIX,
    env,
    // Logging libraries agree on this name; ours wins over it.
    others: { LOG_LEVEL: 'log.level' },
    apart: APART,
  });
  const flags = flagLayer(given);
  const complaints = [...environment.complaints, ...flags.complaints];
  if (complaints.length > 0) throw new UserError('bad_usage', complaints.join('\n'));
  const { given: settings, origins } = merge(SETTINGS, [...filed, environment, flags]);
  return { config: completed(settings), origins, file, warnings: environment.warnings };
}

function completed(settings: GatewaySettings): GatewayConfig {
  try {
    return gatewayConfig(settings);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new UserError('config_invalid', cause.message, { cause });
  }
}
