/** What a command is: its words for `--help`, and what it does with its arguments. */

import type { ExitCode } from '../shared/errors.js';
import { type Flags, flagLines } from './flags.js';

/** The process as a command may see it; tests hand in their own. */
export interface World {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** For results. */
  readonly out: (text: string) => void;
  /** For talk. */
  readonly err: (text: string) => void;
  readonly signals: Signals;
  readonly version: string;
}

export type StopSignal = 'SIGINT' | 'SIGTERM';

export interface Signals {
  /** Calls `heard` at each stop signal until the answer is called. */
  listen(heard: (signal: StopSignal) => void): () => void;
  /** Calls `heard` at each SIGHUP until the answer is called; absent where there is no such signal. */
  readonly onReload?: (heard: () => void) => () => void;
}

export interface Command {
  readonly name: string;
  /** One line, for the list of commands. */
  readonly summary: string;
  readonly usage: string;
  readonly flags: Flags;
  /** What else `--help` says: an example at least. */
  readonly notes: string;
  /** Commands that are called by a second word. */
  readonly subcommands?: readonly Command[];
  readonly run: (args: readonly string[], world: World) => Promise<ExitCode>;
}

/** The text of `holdfast COMMAND --help`. */
export function helpOf({ usage, summary, flags, notes }: Command): string {
  return `Usage: ${usage}\n\n${summary}.\n\nFlags:\n${flagLines(flags)}\n${notes}`;
}

/** Every command's last flag. */
export const HELP_FLAG = { help: { help: 'print this and end' } } as const;

/** Whether `args` ask for help, wherever they do. */
export function asksForHelp(args: readonly string[]): boolean {
  return args.includes('--help') || args.includes('-h');
}
