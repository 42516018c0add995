/** `holdfast twin`: the engine model alone, behind vLLM's HTTP surface and under vLLM's names for its flags. */

import { type ExitCode, listenError, UserError } from '../shared/errors.js';
import { createLog } from '../shared/log.js';
import { startTwin, type TwinOptions } from '../twin/server.js';
import { type Command, HELP_FLAG } from './command.js';
import { type Flags, type Given, readFlags } from './flags.js';
import { untilStopped } from './stopping.js';

const FLAGS = {
  host: { value: 'HOST', help: 'address to listen on (127.0.0.1)' },
  port: { value: 'PORT', help: 'port to listen on; 0 for a free one (8000)' },
  profile: {
    value: 'NAME',
    help: 'model and device whose speed it has: qwen2.5-7b, llama-3.1-8b or qwen3-14b (qwen2.5-7b)',
  },
  model: { value: 'NAME', help: "the name that requests ask for (the profile's)" },
  'time-scale': { value: 'N', help: 'engine seconds per second (1)' },
  'max-num-seqs': { value: 'N', help: 'executions in one batch' },
  'max-num-batched-tokens': { value: 'N', help: 'tokens in one step' },
  seed: { value: 'N', help: 'seeds the random ids (0)' },
  ...HELP_FLAG,
} as const satisfies Flags;

const DEFAULT_PORT = 8000;

/** The options of the twin that are numbers, by flag. */
const NUMBERS = {
  port: 'port',
  'time-scale': 'timeScale',
  'max-num-seqs': 'maxNumSeqs',
  'max-num-batched-tokens': 'maxNumBatchedTokens',
  seed: 'seed',
} as const;

const TEXTS = { host: 'host', profile: 'profile', model: 'servedModelName' } as const;

/** The twin's options as the flags give them. */
export function twinOptions(given: Given<typeof FLAGS>): TwinOptions {
  const options: Record<string, string | number> = { port: DEFAULT_PORT };
  for (const [flag, option] of Object.entries(TEXTS)) {
    const text = given[flag as keyof typeof TEXTS]?.[0];
    if (text !== undefined) options[option] = text;
  }
  for (const [flag, option] of Object.entries(NUMBERS)) {
    const text = given[flag as keyof typeof NUMBERS]?.[0];
    if (text === undefined) continue;
    if (!/^\d+(?:\.\d+)?$/.test(text)) {
      throw new UserError('bad_usage', `--${flag} must be a number, not ${JSON.stringify(text)}`);
    }
    options[option] = Number(text);
  }
  return options;
}

export const TWIN: Command = {
  name: 'twin',
  summary: 'Serves a model of a vLLM engine, with its queue, batch and meter, and no weights',
  usage: 'holdfast twin [--port PORT] [--time-scale N] [flag]...',
  flags: FLAGS,
  notes:
    'Example:\n  holdfast twin --port 8000 --time-scale 10\n  holdfast serve --upstream http://127.0.0.1:8000\n',
  run: async (args, { signals }): Promise<ExitCode> => {
    const options = twinOptions(readFlags('twin', FLAGS, args));
    const log = createLog();
    const twin = await startTwin(options).catch((error: unknown) => {
      if (error instanceof RangeError)
        throw new UserError('bad_usage', inFlagWords(error.message), { cause: error });
      throw listenError(error, options.host ?? '127.0.0.1', options.port ?? DEFAULT_PORT);
    });
    log.info('the twin is listening', { url: twin.url, options: { ...options } });
    return untilStopped(signals, log, () => twin.close());
  },
};

/** A `RangeError` of the twin with the flag's name for its option's. */
function inFlagWords(message: string): string {
  for (const [flag, option] of Object.entries({ ...NUMBERS, ...TEXTS })) {
    if (message.startsWith(`${option} `)) return `--${flag}${message.slice(option.length)}`;
  }
  return message;
}
