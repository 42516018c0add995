/** The configuration file of a gateway: read whole within a bound, and against the table of settings. */

import { UserError } from '../shared/errors.js';
import { complaintList, fileLayer } from '../shared/settings/file.js';
import type { Layer } from '../shared/settings/reading.js';
import { merge } from '../shared/settings/resolve.js';
import type { Environment } from '../shared/settings/substitution.js';
import { readTextFile } from '../shared/text-file.js';
import { type GatewaySettings, PREFIX, SETTINGS } from './config.js';
import { keyHint } from './config-hints.js';

/** Nobody writes more by hand, and nothing that a machine writes should be read here. */
const LARGEST_FILE_BYTES = 1024 * 1024;

/** The text of the file at `path`; a {@link UserError} says why it cannot be had. */
export function readConfigText(path: string): string {
  return readTextFile({
    path,
    what: 'the configuration',
    largestBytes: LARGEST_FILE_BYTES,
    code: 'config_unreadable',
  });
}

/**
 * What `text` says and what of it does not fit; `source` is how complaints call it. Throws a {@link UserError} when
 * it is not YAML or JSON at all. `env` is what its texts may refer to.
 */
export function configLayer(text: string, source: string, env: Environment): Layer {
  return fileLayer(SETTINGS, text, { source, env, prefix: PREFIX, hint: keyHint });
}

/** The same, with whatever does not fit said in one {@link UserError}. */
export function fittingLayer(text: string, source: string, env: Environment): Layer {
  const layer = configLayer(text, source, env);
  if (layer.complaints.length === 0) return layer;
  throw new UserError('config_invalid', complaintList(`${source} does not fit`, layer.complaints));
}

/** The settings in `text`. An empty text leaves everything out. */
export function readSettings(text: string, source: string, env: Environment = {}): GatewaySettings {
  return merge(SETTINGS, [fittingLayer(text, source, env)]).given;
}

/** The settings of the file at `path`; a {@link UserError} says all that is wrong with it. */
export function readConfigFile(path: string, env: Environment = process.env): GatewaySettings {
  return readSettings(readConfigText(path), path, env);
}
