/** `holdfast trial` as a command: its tables, its bytes, its record, its refusals. */

import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Ended, holdfast } from '../support/command.js';

const PLAN = `stages:
  - { name: base, rate: { capacity: 0.6 }, seconds: 60 }
  - { name: pulse, rate: { capacity: 2 }, seconds: 60 }
  - { name: hold, rate: { capacity: 0.4 }, seconds: 180 }
`;

function trial(...args: string[]): Promise<Ended> {
  return holdfast(['trial', ...args]);
}

async function withPlan(use: (plan: string, directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-trial-'));
  try {
    const plan = join(directory, 'plan.yaml');
    await writeFile(plan, PLAN);
    await use(plan, directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}

test('stdout is the same bytes under the same flags, and talk goes to stderr', async () => {
  await withPlan(async (plan) => {
    const args = ['--scenario', 'retries=on cancel=on', '--plan', plan, '--seeds', '2'];
    const [one, other] = [await trial(...args), await trial(...args)];
    assert.equal(one.code, 0, one.stderr);
    assert.equal(one.stdout, other.stdout);
    assert.match(one.stdout, /hold: delivered by the horizon, %/);
    assert.match(one.stderr, /2 of 2 runs/);
  });
});

test('a plan with several kinds of clients is told by kind as well, in the table, in JSON and in a comparison', async () => {
  await withPlan(async (plan) => {
    const kinds =
      'clients:\n  - { name: hold, class: interactive }\n  - { name: late, class: batch, weight: 2 }\n';
    await writeFile(plan, `${PLAN}${kinds}`);
    const args = ['--scenario', 'coalesce', '--plan', plan, '--seeds', '1'];
    const { code, stdout, stderr } = await trial(...args);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^client hold: calls +\d+$/m);
    assert.match(stdout, /^client late: delivered by the deadline, % +[\d.]+$/m);
    const { runs } = JSON.parse((await trial(...args, '--json')).stdout) as {
      runs: { total: { calls: number }; clients: { stage: string; calls: number }[] }[];
    };
    const [run] = runs;
    assert.deepEqual(
      run?.clients.map(({ stage }) => stage),
      ['client hold', 'client late'],
    );
    assert.equal(
      run.clients.reduce((sum, { calls }) => sum + calls, 0),
      run.total.calls,
    );
    const compared = await trial(...args, '--compare', 'deadline');
    assert.match(compared.stdout, /^client hold delivered by the horizon, % +[\d.]+/m);
  });
});

test('a record holds every call, attempt and execution, and the series', async () => {
  await withPlan(async (plan, directory) => {
    const { code, stderr } = await trial(
      '--scenario',
      'coalesce',
      '--plan',
      plan,
      '--seeds',
      '1',
      '--record',
      directory,
    );
    assert.equal(code, 0, stderr);
    const read = (name: string): Promise<string> =>
      readFile(join(directory, 'coalesce-seed-1', name), 'utf8');
    const head = JSON.parse(await read('run.json')) as { calls: number; attached: number };
    assert.equal((await read('calls.jsonl')).trim().split('\n').length, head.calls);
    const attempt = JSON.parse((await read('attempts.jsonl')).split('\n')[0] ?? '') as object;
    for (const field of ['call', 'attempt', 'plannedMs', 'sentMs', 'leftMs', 'ending'])
      assert.ok(field in attempt);
    const execution = JSON.parse((await read('executions.jsonl')).split('\n')[0] ?? '') as object;
    for (const field of [
      'createdMs',
      'firstStepMs',
      'computedPromptTokens',
      'hiddenPromptTokens',
      'inFlightPromptTokens',
    ])
      assert.ok(field in execution, field);
    assert.match(await read('series.csv'), /^atMs,running,waiting,/);
  });
});

test('a comparison pairs the seeds of two scenarios', async () => {
  await withPlan(async (plan) => {
    const { code, stdout } = await trial(
      '--scenario',
      'retries=on cancel=on',
      '--compare',
      'coalesce',
      '--plan',
      plan,
      '--seeds',
      '2',
      '--json',
    );
    assert.equal(code, 0);
    const { differences } = JSON.parse(stdout) as { differences: { figure: string; seeds: number }[] };
    assert.ok(
      differences.some(({ figure, seeds }) => figure === 'hold delivered by the horizon, %' && seeds === 2),
    );
  });
});

test('what does not fit is refused in words, with exit code 2', async () => {
  const refused = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await trial(...args);
    assert.equal(code, 2, args.join(' '));
    assert.equal(stdout, '');
    return stderr;
  };
  assert.match(await refused('--scenario', 'coalese'), /did you mean "coalesce"\?/);
  assert.match(await refused('--seeds', '0'), /--seeds must be a whole number from 1/);
  assert.match(await refused('--set', 'control.rom=3'), /did you mean control\.room\?/);
  assert.match(await refused('--set', 'control.room=0'), /room/);
  assert.match(await refused('--set', 'cost.efficency=1'), /did you mean cost\.efficiency\?/);
  assert.match(await refused('--set', 'cost.efficiency=0'), /cost\.efficiency must be a number/);
  assert.match(await refused('--sweep', '--published'), /one of --published and --sweep/);
  assert.match(await refused('--plan', '/nowhere/plan.yaml'), /cannot read the plan/);
});

test('the list names every arm and variant', async () => {
  const { code, stdout } = await trial('--list');
  assert.equal(code, 0);
  for (const name of [
    'gateway-cap-newest',
    'coalesce pulse=1.5',
    'budget step=2048',
    'coalesce model=qwen3-14b',
  ]) {
    assert.ok(stdout.split('\n').includes(name), name);
  }
});

test('a run that does not meet a threshold ends the trial with exit code 3, all met with 0', async () => {
  await withPlan(async (plan) => {
    const args = ['--scenario', 'coalesce', '--plan', plan, '--seeds', '2'];
    const met = await trial(...args, '--expect', 'total.executions_per_call <= 1');
    assert.equal(met.code, 0, met.stdout);
    assert.match(met.stdout, /^met +seed 2: total\.executions_per_call <= 1 +is 1$/m);
    const unmet = await trial(...args, '--expect', 'hold.calls < 1', '--json');
    assert.equal(unmet.code, 3);
    const { thresholds } = JSON.parse(unmet.stdout) as { thresholds: { seed: number; met: boolean }[] };
    assert.deepEqual(
      thresholds.map(({ seed, met: is }) => [seed, is]),
      [
        [1, false],
        [2, false],
      ],
    );
    const wrong = await trial(...args, '--expect', 'hld.calls < 1');
    assert.deepEqual([wrong.code, wrong.stdout], [2, '']);
    assert.match(wrong.stderr, /--expect .*character 1: there is no hld/);
  });
});
