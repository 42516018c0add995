/** A soak of twenty seconds: every law holds, every scene is played, and a planted leak is found. */

import { equal, ok } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../support/root.js';
import { GAUGES, type Sample } from './subject.js';

const COMMAND = join(ROOT, 'dist', 'tests', 'soak', 'run.js');

function soak(args: readonly string[]): {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
} {
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, ...args], {
    encoding: 'utf8',
    timeout: 120_000,
  });
  return { code: status, out: stdout, err: stderr };
}

test('twenty seconds of mixed load break no law', () => {
  const { out, err } = soak(['--minutes', '0.33', '--seed', '7', '--every', '2', '--json']);
  ok(out !== '', err);
  const result = JSON.parse(out) as {
    readonly broken: readonly string[];
    readonly scenes: Readonly<Record<string, number>>;
    readonly samples: readonly Sample[];
    readonly live: { readonly verdict: string };
  };
  equal(result.broken.join('\n'), '');
  equal(Object.keys(result.scenes).length, 10, JSON.stringify(result.scenes));
  equal(result.live.verdict, 'undecided', 'twenty seconds cannot tell');
  const busiest = (name: string): number =>
    Math.max(...result.samples.map(({ gauges }) => gauges[name] ?? 0));
  for (const name of [
    'holdfast_attempts_open',
    'holdfast_running_executions',
    'holdfast_replay_bytes',
  ] as const) {
    ok(GAUGES.includes(name));
    ok(busiest(name) > 0, `${name} was never above 0`);
  }
});

test('a gateway that leaks is found out', () => {
  const flags = ['--minutes', '0.3', '--warm-up', '0.05', '--every', '1', '--lanes', '2', '--seed', '7'];
  const { code, out } = soak([...flags, '--plant-leak']);
  equal(code, 3, out);
});

test('a flag that does not fit is said, and what there is', () => {
  equal(soak(['--minutes', 'x']).code, 2);
  equal(soak(['--minuets', '3']).code, 2);
  const { code, out } = soak(['--help']);
  equal(code, 0);
  ok(/Example: npm run soak/.test(out));
});
