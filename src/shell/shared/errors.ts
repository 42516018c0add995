/** The one table of what can go wrong in the hands of whoever starts a command, and how such an error is said. */

/** Exit codes of every command. `unmet`: a threshold; `invalid`: it ran, and what came of it proves nothing. */
export const EXIT = { ok: 0, failed: 1, usage: 2, unmet: 3, invalid: 4 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Stable names of the errors a command may end with, and the exit code of each. */
export const ERROR_EXITS = {
  /** A command, flag or argument that does not exist or does not fit. */
  bad_usage: EXIT.usage,
  /** The configuration file cannot be read. */
  config_unreadable: EXIT.usage,
  /** The configuration file is not YAML or JSON. */
  config_syntax: EXIT.usage,
  /** A key or a value of the configuration does not fit. */
  config_invalid: EXIT.usage,
  /** A file that was named as input cannot be read. */
  input_unreadable: EXIT.usage,
  /** A file that was named as input does not hold what it should. */
  input_invalid: EXIT.usage,
  /** A file that was named as output cannot be written. */
  output_unwritable: EXIT.failed,
  /** The server that was named does not answer. */
  target_unreachable: EXIT.failed,
  /** Something else listens on the port. */
  port_in_use: EXIT.failed,
  /** The address is not this machine's, or not allowed. */
  address_unavailable: EXIT.failed,
} as const satisfies Record<string, ExitCode>;
export type ErrorCode = keyof typeof ERROR_EXITS;

/** Something that its reader can put right; said in full, without a stack. */
export class UserError extends Error {
  override readonly name = 'UserError';
  readonly code: ErrorCode;

  /** `message` says what was wrong, where, and what would be right. */
  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  get exitCode(): ExitCode {
    return ERROR_EXITS[this.code];
  }
}

/** What somebody has to change who wants another address to listen on. */
export interface ListenWords {
  readonly host: string;
  readonly port: string;
}

const FLAGS: ListenWords = { host: '--host', port: '--port' };

/** The error of a server that could not listen at `host`:`port`, as a {@link UserError} where it is one. */
export function listenError(cause: unknown, host: string, port: number, words = FLAGS): unknown {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  const where = `${host}:${port}`;
  if (code === 'EADDRINUSE') {
    const message = `cannot listen on ${where}: something else does; choose another with ${words.port}`;
    return new UserError('port_in_use', message, { cause });
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EACCES') {
    const why = code === 'EACCES' ? 'not allowed' : 'not an address of this machine';
    const message = `cannot listen on ${where}: ${why}; choose another with ${words.host} and ${words.port}`;
    return new UserError('address_unavailable', message, { cause });
  }
  return cause;
}
