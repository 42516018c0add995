/** `holdfast twin`: the engine model alone, behind vLLM's HTTP surface and under vLLM's names for its flags. */

import { type ExitCode, listenError, UserError } from '../shared/errors.js';
import { createLog, type Log } from '../shared/log.js';
import { startTwin, type Twin } from '../twin/server.js';
import { TraceFile } from '../twin/trace-file.js';
import type { Command, World } from './command.js';
import { FIT } from './fit.js';
import { readFlags } from './flags.js';
import { untilStopped } from './stopping.js';
import { TWIN_FLAGS } from './twin-flags.js';
import { DEFAULT_PORT, type TwinCommandSettings, twinSettingsOf } from './twin-settings.js';

export const TWIN: Command = {
  name: 'twin',
  summary: 'Serves a model of a vLLM engine, with its queue, batch and meter, and no weights',
  usage: 'holdfast twin [--port PORT] [--profile NAME|FILE] [--time-scale N] [flag]...',
  flags: TWIN_FLAGS,
  subcommands: [FIT],
  notes: `N takes vLLM's suffixes: 32k is 32,000, 32K is 32,768. Flags win over the file, the file over the defaults.
holdfast twin fit CSV makes a profile of one's own engine; docs/twin.md has the formats of profile, CSV and trace.

Example:
  holdfast twin --port 8000 --max-num-queued-reqs 64 --time-scale 10 --trace trace.jsonl
  holdfast serve --upstream http://127.0.0.1:8000
`,
  run: async (args, world): Promise<ExitCode> => {
    const settings = twinSettingsOf(readFlags('twin', TWIN_FLAGS, args));
    const log = createLog();
    const trace =
      settings.trace === undefined
        ? undefined
        : new TraceFile(settings.trace, (message) => log.warn(message));
    try {
      return await serve(settings, trace, log, world);
    } finally {
      trace?.close();
    }
  },
};

async function serve(
  settings: TwinCommandSettings,
  trace: TraceFile | undefined,
  log: Log,
  { signals }: World,
): Promise<ExitCode> {
  const { options } = settings;
  const twin = await start(settings, trace);
  const profile = typeof options.profile === 'object' ? { profile: options.profile.name } : {};
  const named = settings.trace === undefined ? {} : { trace: settings.trace };
  log.info('the twin is listening', { url: twin.url, options: { ...options, ...profile, ...named } });
  return untilStopped(signals, log, () => twin.close());
}

async function start(
  { options, inUserWords }: TwinCommandSettings,
  trace: TraceFile | undefined,
): Promise<Twin> {
  try {
    return await startTwin(options, trace?.sink);
  } catch (error) {
    if (error instanceof RangeError) {
      throw new UserError('bad_usage', inUserWords(error.message), { cause: error });
    }
    throw listenError(error, options.host ?? '127.0.0.1', options.port ?? DEFAULT_PORT);
  }
}
