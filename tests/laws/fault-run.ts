/** Runs a file of tests against the control with one piece of its code replaced, to see whether they notice. */

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../support/root.js';

const DIST = join(ROOT, 'dist');
const HOOKS = pathToFileURL(join(DIST, 'tests', 'laws', 'fault-hooks.js')).href;
const REGISTER = `data:text/javascript,import{register}from"node:module";register(${JSON.stringify(HOOKS)});`;

export interface Fault {
  readonly about: string;
  /** Of `src/core/control`, without its ending. */
  readonly file: string;
  /** A piece of the compiled file that is there once, and what stands in its place. */
  readonly was: string;
  readonly is: string;
  /** The file of tests, and the beginning of the name of one that has to fail. */
  readonly tests: string;
  readonly fails: string;
}

export interface Run {
  readonly failed: readonly string[];
  readonly said: string;
}

/** The tests of a compiled file, with the fault or without; `env` beside the usual. */
export function run(tests: string, fault?: Fault, more: Readonly<Record<string, string>> = {}): Run {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', REGISTER, '--test-reporter=tap', join(DIST, tests)],
    {
      encoding: 'utf8',
      timeout: 120_000,
      env: {
        ...env,
        ...more,
        ...(fault === undefined ? {} : { HOLDFAST_FAULT: JSON.stringify(fault) }),
      },
    },
  );
  const failed = [...stdout.matchAll(/^not ok \d+ - (.*)$/gm)].map(([, name]) => name as string);
  return { failed, said: `${stdout}${stderr}` };
}
