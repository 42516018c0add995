/** `holdfast calibrate` as a command: its result, its exit codes, its store, its refusals. */

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type Ended, holdfast } from '../support/command.js';

const DIRECTORY = mkdtempSync(join(tmpdir(), 'holdfast-calibrate-'));
after(() => rmSync(DIRECTORY, { recursive: true }));

const PLAN = join(DIRECTORY, 'plan.yaml');
writeFileSync(
  PLAN,
  `stages:
  - { name: only, rate: { capacity: 0.6 }, seconds: 60 }
workload:
  promptTokens: { kind: fixed, tokens: 500 }
  sharedPrefixTokens: 0
  responseTokens: { kind: fixed, tokens: 50 }
`,
);
/** Short stages of a small engine: a second of work. */
const QUICK = [
  '--plan',
  PLAN,
  '--settle',
  '20',
  '--judged',
  '60',
  '--set',
  'engine.maxNumSeqs=4',
  '--first',
  '4',
];

function calibrate(store: string, ...args: string[]): Promise<Ended> {
  return holdfast(['calibrate', ...args], { env: { XDG_STATE_HOME: join(DIRECTORY, store) } });
}

test('a capacity that is found is printed with its evidence, and kept', async () => {
  const { code, stdout, stderr } = await calibrate('found', ...QUICK);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^Ĉ {2,}[\d.]+ calls\/s/);
  assert.match(stdout, /grows at {2,}[\d.]+ calls\/s, [\d.]+ % above \(grain 2\.0 %\)/);
  assert.match(stderr, /^stage 1: 4\.000 calls\/s for 95 s: steady/m);
  const json = await calibrate('found', ...QUICK, '--json');
  const result = JSON.parse(json.stdout) as { verdict: string; capacity: number; stages: object[] };
  assert.equal(result.verdict, 'found');
  assert.ok(result.stages.length > 4);
  const kept = JSON.parse(readFileSync(join(DIRECTORY, 'found', 'holdfast', 'capacities.json'), 'utf8')) as {
    capacities: { capacity: number; engine: Record<string, string> }[];
  };
  assert.equal(kept.capacities.length, 1);
  assert.equal(kept.capacities[0]?.capacity, result.capacity);
  assert.equal(kept.capacities[0]?.engine['engine.maxNumSeqs'], '4');
});

test('a capacity that cannot be told ends with 4 and the reason, and nothing is kept', async () => {
  const { code, stdout } = await calibrate('untold', ...QUICK, '--highest', '5');
  assert.equal(code, 4);
  assert.match(stdout, /^Ĉ could not be told: the queue did not grow up to the highest rate/);
  assert.equal(existsSync(join(DIRECTORY, 'untold')), false);
});

test('what does not fit is refused with 2 and in words', async () => {
  const refusals: readonly (readonly [args: readonly string[], says: RegExp])[] = [
    [['--profile', 'h200'], /there is no profile "h200"/],
    [['--grain', '0.9'], /grain must be a number from 0\.005 to 0\.2/],
    [['--first', '-1'], /needs a value after --first/],
    [['--set', 'engine.maxNumSeq=4'], /did you mean engine\.maxNumSeqs/],
    [['--set', 'engine.maxNumSeqs=0'], /maxNumSeqs must be a whole number/],
    [['--set', 'cost.efficiency=0'], /cost\.efficiency must be a number/],
    [['--arrivals', 'bursty'], /--arrivals must be even or poisson/],
    [['--plan', '/nowhere/plan.yaml'], /cannot read the plan/],
  ];
  const ended = await Promise.all(refusals.map(([args]) => calibrate('refused', ...args)));
  ended.forEach(({ code, stderr }, at) => {
    assert.match(stderr, refusals[at]?.[1] ?? /never/);
    assert.equal(code, 2);
  });
});
