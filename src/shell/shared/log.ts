/** The log: JSON lines on stderr that can only hold the fields listed here, so no prompt or credential gets in. */

import { type DestinationStream, pino } from 'pino';
import { LogOutput, standardError } from './log-output.js';

/** Every field that a line may have; anything else is dropped, at run time too. */
export interface LogFields {
  // Who and what: ids of ours, and HMACs of hashes.
  readonly call?: string | undefined;
  readonly execution?: string | undefined;
  readonly attempt?: string | undefined;
  readonly tenant?: string | undefined;
  readonly ordinal?: number | undefined;
  // How it went: words of closed unions.
  readonly decision?: string | undefined;
  readonly evidence?: readonly string[] | undefined;
  readonly candidates?: number | undefined;
  readonly outcome?: string | undefined;
  readonly ending?: string | undefined;
  readonly warning?: string | undefined;
  readonly reached?: boolean | undefined;
  // What was asked for.
  readonly route?: string | undefined;
  readonly family?: string | undefined;
  readonly model?: string | undefined;
  readonly stream?: boolean | undefined;
  // Where its call stood when an execution began.
  readonly tier?: string | undefined;
  readonly class?: string | undefined;
  /** What the deadline rested on. */
  readonly basis?: string | undefined;
  /** From then until the call's first attempt and its last one were expected to end; below 0: they had. */
  readonly deadline_in_ms?: number | undefined;
  readonly give_up_in_ms?: number | undefined;
  // Figures.
  readonly status?: number | undefined;
  readonly age_ms?: number | undefined;
  readonly queue_ms?: number | undefined;
  readonly first_byte_ms?: number | undefined;
  readonly retry_after_ms?: number | undefined;
  // Of an engine: its configured name, what it met, and for how long it is let be.
  readonly engine?: string | undefined;
  readonly failure?: string | undefined;
  readonly rest_ms?: number | undefined;
  readonly lag_ms?: number | undefined;
  readonly bytes?: number | undefined;
  readonly prompt_tokens?: number | undefined;
  readonly cached_prompt_tokens?: number | undefined;
  readonly completion_tokens?: number | undefined;
  readonly attempts?: number | undefined;
  readonly executions?: number | undefined;
  readonly count?: number | undefined;
  // The process.
  /** Keys of the configuration. */
  readonly keys?: readonly string[] | undefined;
  readonly url?: string | undefined;
  readonly upstream?: string | undefined;
  readonly signal?: string | undefined;
  readonly version?: string | undefined;
  readonly seed?: number | undefined;
  /** A flat view of the settings in force, which hold no secret. */
  readonly options?: Readonly<Record<string, unknown>> | undefined;
  /** Name, code and message of an error, never its stack or its cause. */
  readonly error?: string | undefined;
}

const FIELDS: Readonly<Record<keyof LogFields, true>> = {
  call: true,
  execution: true,
  attempt: true,
  tenant: true,
  ordinal: true,
  decision: true,
  evidence: true,
  candidates: true,
  outcome: true,
  ending: true,
  warning: true,
  reached: true,
  route: true,
  family: true,
  model: true,
  stream: true,
  tier: true,
  class: true,
  basis: true,
  deadline_in_ms: true,
  give_up_in_ms: true,
  status: true,
  age_ms: true,
  queue_ms: true,
  first_byte_ms: true,
  retry_after_ms: true,
  engine: true,
  failure: true,
  rest_ms: true,
  lag_ms: true,
  bytes: true,
  prompt_tokens: true,
  cached_prompt_tokens: true,
  completion_tokens: true,
  attempts: true,
  executions: true,
  count: true,
  keys: true,
  url: true,
  upstream: true,
  signal: true,
  version: true,
  seed: true,
  options: true,
  error: true,
};

/** Longest text of one field, in characters; a client chooses the model's name. */
const LONGEST_TEXT = 256;

export type Say = (message: string, fields?: LogFields) => void;

/** Levels as in pino; `fatal` is for what ends the process. */
export interface Log {
  readonly debug: Say;
  readonly info: Say;
  readonly warn: Say;
  readonly error: Say;
  readonly fatal: Say;
}

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** A log whose level may be changed. */
export interface LevelledLog extends Log {
  setLevel(level: LogLevel): void;
}

export interface LogParts {
  readonly level?: LogLevel;
  /** Where lines go; stderr when absent. */
  readonly to?: DestinationStream;
}

/** A log with lines like `{"level":"info","time":"…","msg":"attempt ended","call":"…"}`. */
export function createLog({ level = 'info', to }: LogParts = {}): LevelledLog {
  const lines = pino(
    {
      level,
      base: null,
      timestamp: wallTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    to ?? flushedAtExit(new LogOutput(standardError())),
  );
  const say =
    (at: 'debug' | 'info' | 'warn' | 'error' | 'fatal'): Say =>
    (message, fields) => {
      if (lines.isLevelEnabled(at)) lines[at](listed(fields), message);
    };
  return {
    debug: say('debug'),
    info: say('info'),
    warn: say('warn'),
    error: say('error'),
    fatal: say('fatal'),
    setLevel: (next) => {
      lines.level = next;
    },
  };
}

function flushedAtExit(output: LogOutput): LogOutput {
  process.on('exit', () => output.flush());
  return output;
}

let saidMs = 0;
let saidTime = '';

/** The time as pino's lines have it; written once a millisecond, since a busy gateway says many lines in one. */
function wallTime(): string {
  const now = Date.now();
  if (now !== saidMs) {
    saidMs = now;
    saidTime = `,"time":"${new Date(now).toISOString()}"`;
  }
  return saidTime;
}

/** A log that says nothing. */
export const SILENT: Log = createLog({ level: 'silent', to: { write: () => {} } });

/** How an error may be told in a log: its name, code and message, in one bounded line. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return clipped(String(error));
  const code = 'code' in error && typeof error.code === 'string' ? ` ${error.code}` : '';
  return clipped(`${error.name}${code}: ${error.message}`);
}

function listed(fields: LogFields | undefined): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  if (fields === undefined) return kept;
  for (const name of Object.keys(fields) as (keyof LogFields)[]) {
    const value = fields[name];
    if (value === undefined || !Object.hasOwn(FIELDS, name)) continue;
    kept[name] = typeof value === 'string' ? clipped(value) : value;
  }
  return kept;
}

function clipped(text: string): string {
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT - 1)}…`;
}
