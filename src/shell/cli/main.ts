#!/usr/bin/env node
/** The command `holdfast`: ties the commands to this process. */

import { readFileSync } from 'node:fs';
import type { Signals, StopSignal } from './command.js';
import { runCommandLine } from './dispatch.js';

const STOP_SIGNALS: readonly StopSignal[] = ['SIGINT', 'SIGTERM'];

const signals: Signals = {
  listen(heard) {
    for (const signal of STOP_SIGNALS) process.on(signal, heard);
    return () => {
      for (const signal of STOP_SIGNALS) process.off(signal, heard);
    };
  },
  onReload(heard) {
    process.on('SIGHUP', heard);
    return () => process.off('SIGHUP', heard);
  },
};

function version(): string {
  const manifest = JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8')) as {
    readonly version: string;
  };
  return manifest.version;
}

const code = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  signals,
  version: version(),
});

// A kept connection or a pending timer must not hold up the end. On POSIX, what was written to a pipe or a file has left.
process.exit(code);
