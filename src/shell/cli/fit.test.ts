/** `holdfast twin fit` finds the times it was given, writes a profile the twin takes, and refuses bad lines in place. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Random } from '../../core/chance/random.js';
import { stepMs } from '../../core/engine/cost.js';
import { profile } from '../../core/engine/profiles.js';
import { readProfile } from '../twin/profile-file.js';
import { runCommandLine } from './dispatch.js';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-fit-'));
after(() => rmSync(folder, { recursive: true }));

async function fit(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ['', ''];
  const code = await runCommandLine(['twin', 'fit', ...args], {
    env: {},
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    signals: { listen: () => () => {} },
    version: '1.2.3',
  });
  return { code, out, err };
}

function csv(name: string, ...lines: string[]): string {
  const path = join(folder, name);
  writeFileSync(path, `${lines.join('\n')}\n`);
  return path;
}

/** Steps of the profile, columns in another order than the documented one. */
function steps(count: number): string {
  const random = new Random(3, 'fit');
  const { cost } = profile('qwen3-14b');
  const lines = Array.from({ length: count }, () => {
    const decodes = random.integer(0, 100);
    const chunk = decodes === 0 ? random.integer(16, 8_192) : random.integer(0, 4) * 500;
    const prefillPairs = chunk * (random.integer(0, 9_000) + chunk / 2);
    const load = {
      tokens: decodes + chunk,
      prefillPairs,
      decodeContext: decodes * random.integer(200, 9_000),
    };
    return [stepMs(cost, load), load.tokens, load.prefillPairs, load.decodeContext].join(', ');
  });
  return csv('steps.csv', '# measured on a good day', 'ms,tokens,pairs,context', '', ...lines);
}

test('the times of a profile are found again, and the file it writes is one that --profile takes', async () => {
  const path = join(folder, 'mine.json');
  const { code, out, err } = await fit(
    steps(200),
    '--out',
    path,
    '--model',
    'mine',
    '--num-gpu-blocks',
    '500',
  );
  assert.deepEqual([code, err], [0, `the profile is in ${path}\n`]);
  assert.match(
    out,
    /^samples {8}200\nhost_ms {8}0\n[\s\S]*\nmean residual {2}0\.\d\d %\nmax residual {3}\d\.\d\d % \(line \d+: /,
  );
  const read = readProfile(path);
  assert.deepEqual([read.model, read.numGpuBlocks, read.maxModelLen], ['mine', 500, 32_768]);
  const load = { tokens: 4_096, prefillPairs: 4_096 * 3_000, decodeContext: 0 };
  const off = stepMs(read.cost, load) / stepMs(profile('qwen3-14b').cost, load) - 1;
  assert.ok(Math.abs(off) < 0.01, `${off}`);
});

test('--json prints one object with full figures', async () => {
  const { out } = await fit(steps(50), '--json');
  const result = JSON.parse(out) as {
    samples: number;
    cost: object;
    max_residual: number;
    worst: { line: number };
  };
  assert.equal(result.samples, 50);
  const names = 'host_ms efficiency fixed_ms weights_ms token_ms pair_ms context_ms';
  assert.equal(Object.keys(result.cost).join(' '), names);
  assert.ok(result.max_residual < 0.01 && result.worst.line > 3);
});

test('bad lines are refused with file, line and reason, all of them', async () => {
  const path = csv(
    'bad.csv',
    'tokens,pairs,context,ms',
    '1,0,100,5',
    '1.5,0,100,5',
    '1,0,100',
    '1,0,100,fast',
    '1,0,100,0',
    '0,0,0,1',
  );
  const { code, out, err } = await fit(path);
  assert.deepEqual([code, out], [2, '']);
  const lines = err.trimEnd().split('\n');
  assert.equal(lines[0], 'holdfast: the samples do not fit:');
  assert.deepEqual(lines.slice(1), [
    `  ${path}:3: tokens must be a whole number from 1 to 16777216, not "1.5"`,
    `  ${path}:4: 3 values for 4 columns`,
    `  ${path}:5: ms must be a number from 0.000001 to 10000000, not "fast"`,
    `  ${path}:6: ms must be a number from 0.000001 to 10000000, not "0"`,
    `  ${path}:7: tokens must be a whole number from 1 to 16777216, not "0"`,
  ]);
});

test('heads, files and arguments that do not fit are refused with what would', async () => {
  const cases: [args: string[], message: RegExp][] = [
    [
      [csv('a.csv', 'tokens,pairs,contexts,ms')],
      /a\.csv:1: there is no column "contexts"; did you mean context\?/,
    ],
    [[csv('b.csv', 'tokens,pairs,ms')], /b\.csv:1: the column context is missing/],
    [[csv('c.csv', 'tokens,tokens,pairs,context,ms')], /the column tokens is there twice/],
    [
      [csv('d.csv', '1,2,3,4')],
      /there is no column "1"; the first line must name the columns tokens,pairs,context,ms/,
    ],
    [[csv('e.csv', '')], /e\.csv: is empty/],
    [[csv('f.csv', 'tokens,pairs,context,ms', '1,0,1,1')], /at least 10 steps/],
    [[join(folder, 'none.csv')], /cannot read the samples: .*ENOENT/],
    [[], /takes one file of samples: holdfast twin fit CSV/],
    [['a', 'b'], /takes one file of samples/],
    [[csv('g.csv', ''), '--ouch', 'x'], /twin fit knows no flag --ouch/],
  ];
  for (const [args, message] of cases) {
    const { code, err } = await fit(...args);
    assert.match(err, message);
    assert.equal(code, 2, err);
  }
  assert.match((await fit('--help')).out, /^Usage: holdfast twin fit CSV[\s\S]*Example:/);
  assert.match((await fit(steps(20), '--model', 'm')).err, /--model with --out FILE only/);
});
