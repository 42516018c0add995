/** `holdfast pulse`: what it prints is what it says, and can be pasted into a plan. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPlan } from '../probe/plan-file.js';
import { runCommandLine } from './dispatch.js';

async function pulse(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ['', ''];
  const code = await runCommandLine(['pulse', ...args], {
    env: {},
    out: (text) => (out += text),
    err: (text) => (err += text),
    signals: { listen: () => () => {} },
    version: '1.2.3',
  });
  return { code, out, err };
}

test('the published pulse comes out, with stages that a plan file takes', async () => {
  const { code, out } = await pulse('--capacity', '2.78', '--seconds', '107', '--deadline', '120');
  assert.equal(code, 0);
  assert.match(out, /182 s of work, 1\.52 deadlines, 506 calls/);
  assert.match(out, /The loop can start: .* Once started it feeds itself: load × 4 attempts = 2\.40 Ĉ/);
  const plan = readPlan(out.slice(out.indexOf('stages:')), 'pasted');
  assert.deepEqual(
    plan.stages.map(({ name, rate, seconds }) => [name, rate, seconds]),
    [
      ['base', { capacity: 0.6 }, 120],
      ['pulse', { capacity: 2.7 }, 107],
      ['hold', { capacity: 0.6 }, 720],
    ],
  );
});

test('--json has the same numbers', async () => {
  const { out } = await pulse('--backlog', '0.5', '--load', '0.2', '--json');
  const told = JSON.parse(out) as Record<string, unknown>;
  assert.ok(Math.abs(Number(told.seconds) - 60 / 1.7) < 1e-9);
  assert.deepEqual([told.startsLoop, told.sustainsLoop], [false, false]);
});

test('what has no sense is refused with 2', async () => {
  const refusals: readonly (readonly [readonly string[], RegExp])[] = [
    [['--backlog', '1', '--seconds', '3'], /one of --backlog and --seconds/],
    [['--height', '1'], /--height must be a number from 1\.001/],
    [['--load', '1.2'], /--load must be a number from 0 to 0\.999/],
    [['--deadline', 'soon'], /--deadline must be a number above 0/],
  ];
  for (const [args, says] of refusals) {
    const { code, err } = await pulse(...args);
    assert.match(err, says);
    assert.equal(code, 2);
  }
});
