/** `holdfast serve`: the gateway in front of the named engines, or of a built-in twin when none is named. */

import { randomBytes } from 'node:crypto';
import { stringify } from 'yaml';
import { type Family, scalar } from '../../core/meter/exposition.js';
import type { AllowedKeys } from '../gateway/allowed-keys.js';
import { type Certificate, certificateOf } from '../gateway/certificate.js';
import { fileView, type GatewayConfig } from '../gateway/config.js';
import { Metrics } from '../gateway/metrics.js';
import { ProcessMeter } from '../gateway/process-meter.js';
import { pseudonyms } from '../gateway/pseudonym.js';
import { type Gateway, startGateway } from '../gateway/server.js';
import { warnings } from '../gateway/warnings.js';
import { EXIT, type ExitCode } from '../shared/errors.js';
import { FileWatch } from '../shared/file-watch.js';
import { createLog, errorText, type Log } from '../shared/log.js';
import { LogOutput, standardError } from '../shared/log-output.js';
import { SystemClock } from '../shared/system-clock.js';
import { startTwin, type Twin } from '../twin/server.js';
import { CertificateFiles } from './certificate-files.js';
import { type Command, HELP_FLAG, type World } from './command.js';
import { type Configuration, configurationOf } from './configuration.js';
import { type Flags, readFlags } from './flags.js';
import { KeyFile, keysAt } from './key-file.js';
import { Reload, type ReloadParts } from './reload.js';
import { ReloadMeter } from './reload-meter.js';
import { SETTING_FLAGS, type SettingFlags } from './setting-flags.js';
import { untilStopped } from './stopping.js';

/** What requests to the built-in twin ask for; the line to try, the README and its test say the same. */
const TWIN_MODEL = 'twin';

const SERVE_FLAGS = {
  ...SETTING_FLAGS,
  'check-config': { help: 'print the settings in force as YAML and end; holdfast config says more' },
  ...HELP_FLAG,
} as const satisfies Flags;

export const SERVE: Command = {
  name: 'serve',
  summary: 'Stands in front of inference engines and makes the work of a call happen once',
  usage: 'holdfast serve [--upstream URL]... [--port PORT] [--config FILE] [flag]...',
  flags: SERVE_FLAGS,
  notes: `Flags win over variables (HOLDFAST_CONTROL_ROOM is control.room), they over the file, the file over the
defaults; holdfast config --show says where each option came from.
A changed file is taken over while running, at once or on SIGHUP, as far as its keys may change; a file that does
not fit leaves what is in force, and is said in the log and in holdfast_config_reloads_total.
The log goes to stderr, one JSON object a line. SIGTERM or SIGINT ends in order, a second one at once.

Example:
  holdfast serve --upstream http://127.0.0.1:8000
  holdfast config --show > holdfast.yaml   # every setting, as a file to start from
  holdfast serve --config holdfast.yaml
`,
  run: async (args, world): Promise<ExitCode> => {
    const given = readFlags('serve', SERVE_FLAGS, args);
    const configuration = configurationOf(given, world.env);
    return given['check-config'] === undefined
      ? serve(configuration, given, world)
      : checked(configuration, world);
  },
};

function checked({ config, warnings: more }: Configuration, world: World): ExitCode {
  for (const warning of [...more, ...warnings(config)]) world.err(`warning: ${warning}\n`);
  world.out(stringify(fileView(config)));
  return EXIT.ok;
}

async function serve(configuration: Configuration, given: SettingFlags, world: World): Promise<ExitCode> {
  const { config: named } = configuration;
  const allowed = keysAt(named.allowedKeysFile);
  const certificate = certificateOf(named.tls);
  const output = new LogOutput(standardError(), named.log.bufferBytes);
  const flush = (): void => output.flush();
  process.on('exit', flush);
  const log = createLog({ level: named.log.level, to: output });
  const twin = named.upstreams.length === 0 ? await startTwin({ servedModelName: TWIN_MODEL }) : undefined;
  const config = twin === undefined ? named : { ...named, upstreams: [{ url: twin.url }] };
  const meter = new ProcessMeter();
  const reloads = new ReloadMeter(Date.now);
  let unwatch = (): void => {};
  let keyFile: KeyFile | undefined;
  let certificateFiles: CertificateFiles | undefined;
  try {
    const more = (): Family[] => [...meter.families(), ...reloads.families(), lostLines(output)];
    const gateway = await start(config, { log, allowed, certificate, more });
    keyFile = new KeyFile(config.allowedKeysFile, { log, allow: (keys) => gateway.allow(keys) });
    const certify = (next: Certificate): void => gateway.certify(next);
    if (certificate !== undefined)
      certificateFiles = new CertificateFiles(config.tls, certificate, { log, certify });
    // Before anybody is told that it listens: a SIGHUP that nobody hears ends the process.
    const mayHaveKeys = configuration.file !== undefined || config.allowedKeysFile !== undefined;
    const others: Followed[] = mayHaveKeys ? [keyFile] : [];
    if (certificateFiles !== undefined) others.push(certificateFiles);
    unwatch = following(configuration, world, others, {
      given,
      env: world.env,
      log,
      meter: reloads,
      apply: (next) => {
        log.setLevel(next.log.level);
        gateway.reconfigure(next);
        keyFile?.use(next.allowedKeysFile);
      },
    });
    for (const warning of [...configuration.warnings, ...warnings(config)]) log.warn(warning);
    announce(gateway, config, world, log);
    if (twin !== undefined) world.err(lineToTry(gateway, twin, config.tls.certFile));
    return await untilStopped(world.signals, log, () => gateway.drain());
  } finally {
    unwatch();
    keyFile?.close();
    certificateFiles?.close();
    meter.close();
    output.flush();
    process.off('exit', flush);
    await twin?.close();
  }
}

/** Something of a file that is read again when somebody asks for it. */
interface Followed {
  asked(): void;
}

/** Follows the file, where there is one, whenever it changes; all that is followed is read on SIGHUP. The answer ends it. */
function following(
  configuration: Configuration,
  { signals }: World,
  others: readonly Followed[],
  parts: ReloadParts,
): () => void {
  const { file } = configuration;
  const reload = file === undefined ? undefined : new Reload({ ...configuration, file }, parts);
  const all: readonly Followed[] = reload === undefined ? others : [...others, reload];
  // Without any file a SIGHUP is what it is for every process: its terminal has gone.
  if (all.length === 0) return () => {};
  const unlisten = signals.onReload?.(() => {
    for (const followed of all) followed.asked();
  });
  const watch =
    file === undefined || reload === undefined ? undefined : watchOf(file.path, reload, parts.log);
  return () => {
    unlisten?.();
    watch?.close();
  };
}

function watchOf(path: string, reload: Reload, log: Log): FileWatch {
  const unwatchable = 'the folder of the configuration cannot be watched: it is looked at every few seconds';
  return new FileWatch(path, {
    changed: () => reload.changed(),
    unwatchable: (error) => log.warn(unwatchable, { error: errorText(error) }),
  });
}

function lostLines({ lost }: LogOutput): Family {
  return scalar(
    'holdfast_log_lines_lost_total',
    'counter',
    'Log lines that nobody will see: the reader of the log was too slow, or writing failed.',
    lost,
  );
}

interface StartParts {
  readonly log: Log;
  readonly allowed: AllowedKeys | undefined;
  readonly certificate: Certificate | undefined;
  readonly more: () => readonly Family[];
}

function start(config: GatewayConfig, { log, allowed, certificate, more }: StartParts): Promise<Gateway> {
  const pseudonym = pseudonyms();
  return startGateway(config, {
    clock: new SystemClock(),
    allowed,
    certificate,
    log,
    metrics: new Metrics({ pseudonym, more }),
    pseudonym,
    wallClock: Date.now,
    randomBytes,
  });
}

/** The settings in force are said whole, secrets hidden. */
function announce(gateway: Gateway, config: GatewayConfig, world: World, log: Log): void {
  log.info('listening', { url: gateway.url, version: world.version, options: fileView(config) });
  if (gateway.adminUrl !== undefined) log.info('listening for operators', { url: gateway.adminUrl });
}

/** The request takes the twin two to three seconds and its client leaves after one, so that a retry is seen to attach. */
function lineToTry({ url }: Gateway, twin: Twin, certFile: string | undefined): string {
  const trust = certFile === undefined ? '' : ` --cacert ${certFile}`;
  return `
holdfast listens on ${url}, in front of a built-in twin of an engine on ${twin.url}
(no --upstream was named). Ask for more than curl is willing to wait for, and see its retry attach:

  curl${trust} --silent --show-error --include --max-time 1 --retry 3 \\
    ${url}/v1/chat/completions \\
    --header 'Content-Type: application/json' \\
    --data '{"model": "${TWIN_MODEL}", "max_tokens": 300, "ignore_eos": true, "messages": [{"role": "user", "content": "Hold fast."}]}'

  curl${trust} --silent ${url}/metrics | grep -E '^holdfast_(calls|attempts|executions)_total'

`;
}
