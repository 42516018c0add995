/** The command as its users run it, to its end. */

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from './root.js';

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  /** Variables beside this process's own. */
  readonly env?: Readonly<Record<string, string>>;
  readonly limitMs?: number;
}

/** Resolves when the command has ended, however it did. */
export function holdfast(args: readonly string[], options: CommandOptions = {}): Promise<Ended> {
  const { env = {}, limitMs = 120_000 } = options;
  const main = join(ROOT, 'dist', 'src', 'shell', 'cli', 'main.js');
  const settings = { timeout: limitMs, env: { ...process.env, ...env } };
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], settings, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}
