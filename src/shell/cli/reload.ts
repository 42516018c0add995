/** A new configuration while the gateway runs: taken over as far as it may be, or refused whole and said why. */

import { type GatewayConfig, SETTINGS } from '../gateway/config.js';
import { readConfigText } from '../gateway/config-file.js';
import { warnings } from '../gateway/warnings.js';
import { UserError } from '../shared/errors.js';
import type { Log } from '../shared/log.js';
import { difference } from '../shared/settings/resolve.js';
import type { Environment } from '../shared/settings/substitution.js';
import { type Configuration, layered } from './configuration.js';
import type { ReloadMeter } from './reload-meter.js';
import type { SettingFlags } from './setting-flags.js';

/** Complaints of one file in the log, one line each. */
const MOST_LINES = 21;

export interface ReloadParts {
  readonly given: SettingFlags;
  readonly env: Environment;
  readonly log: Log;
  readonly meter: ReloadMeter;
  /** Puts settings in force; of those that are read once it takes none. */
  readonly apply: (config: GatewayConfig) => void;
}

export class Reload {
  readonly #parts: ReloadParts;
  readonly #path: string;
  /** The text that was read last, good or bad: a change of nothing but its date is none. */
  #text: string | undefined;
  /** The last text that was taken over. */
  #taken: string;
  #inForce: GatewayConfig;

  /** `configuration` is what is in force, and came from a file. */
  constructor(
    configuration: Configuration & { readonly file: NonNullable<Configuration['file']> },
    parts: ReloadParts,
  ) {
    this.#parts = parts;
    this.#path = configuration.file.path;
    this.#text = configuration.file.text;
    this.#taken = configuration.file.text;
    this.#inForce = configuration.config;
  }

  /** The file may have changed; nothing is said when it has not. */
  changed(): void {
    this.#read(false);
  }

  /** Somebody asked for it: something is said in any case. */
  asked(): void {
    this.#read(true);
  }

  #read(asked: boolean): void {
    try {
      const text = readConfigText(this.#path);
      if (text === this.#text && !asked) return;
      this.#text = text;
      this.#take(text);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      if (error.code === 'config_unreadable') this.#text = undefined;
      this.#refuse(error);
    }
  }

  #take(text: string): void {
    if (text.trim() === '' && this.#taken.trim() !== '') {
      throw new UserError(
        'config_invalid',
        `${this.#path} is empty, as a file is that is being written; {} stands for the defaults alone`,
      );
    }
    const { given, env, log, meter, apply } = this.#parts;
    const next = layered(given, env, { path: this.#path, text });
    const before = new Set(warnings(this.#inForce));
    const { taken, changed, waiting } = difference(SETTINGS, this.#inForce, next.config);
    if (changed.length > 0) apply(taken);
    this.#inForce = taken;
    this.#taken = text;
    meter.succeeded(changed.length > 0 ? 'applied' : 'unchanged', waiting.length);
    if (changed.length > 0) log.info('the configuration has changed and is in force', { keys: changed });
    else log.info('the configuration was read again; nothing that may change while running has changed');
    if (waiting.length > 0) {
      log.warn(`the file has other values for ${waiting.join(', ')}: they wait for a restart`, {
        keys: waiting,
      });
    }
    for (const warning of warnings(taken)) if (!before.has(warning)) log.warn(warning);
  }

  #refuse({ message }: UserError): void {
    const { log, meter } = this.#parts;
    meter.refused();
    const [head = '', ...lines] = message.split('\n').filter((line) => line.trim() !== '');
    log.error(`the configuration was not taken over, what was in force stays: ${head}`);
    for (const line of lines.slice(0, MOST_LINES)) log.error(line.trim());
  }
}
