/** `holdfast report` as a command: from recorded runs to a page, and what it refuses. */

import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { holdfast as command, type Ended } from '../support/command.js';
import { readMarkup } from '../support/xml.js';

const PLAN = `stages:
  - { name: base, rate: { capacity: 0.6 }, seconds: 60 }
  - { name: pulse, rate: { capacity: 2 }, seconds: 60 }
  - { name: hold, rate: { capacity: 0.4 }, seconds: 180 }
`;

function holdfast(...args: string[]): Promise<Ended> {
  return command(args);
}

/** A folder with a plan, and runs recorded of it. */
async function withRuns(
  scenarios: readonly string[],
  seeds: number,
  use: (directory: string, plan: string) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-report-'));
  try {
    const plan = join(directory, 'plan.yaml');
    await writeFile(plan, PLAN);
    for (const scenario of scenarios) {
      const args = ['--scenario', scenario, '--plan', plan, '--seeds', String(seeds), '--record', directory];
      const { code, stderr } = await holdfast('trial', ...args);
      assert.equal(code, 0, stderr);
    }
    await use(directory, plan);
  } finally {
    await rm(directory, { recursive: true });
  }
}

test('a recorded run becomes the page that lies beside its record', async () => {
  await withRuns(['coalesce'], 1, async (directory) => {
    const folder = join(directory, 'coalesce-seed-1');
    const beside = await readFile(join(folder, 'report.html'), 'utf8');
    const out = join(directory, 'page.html');
    const { code, stdout, stderr } = await holdfast('report', folder, '--out', out);
    assert.equal(code, 0, stderr);
    assert.equal(stdout, '');
    assert.match(stderr, /page\.html/);
    assert.equal(await readFile(out, 'utf8'), beside);
    assert.deepEqual(readMarkup(beside).problems, []);
  });
});

test('--json prints the numbers and writes no page unless asked', async () => {
  await withRuns(['coalesce'], 1, async (directory) => {
    const folder = join(directory, 'coalesce-seed-1');
    await rm(join(folder, 'report.html'));
    const { code, stdout } = await holdfast('report', folder, '--json');
    assert.equal(code, 0);
    const { runs } = JSON.parse(stdout) as {
      runs: { stages: { calls: number; fates: Record<string, number> }[] }[];
    };
    const [stage] = runs[0]?.stages ?? [];
    assert.equal(
      Object.values(stage?.fates ?? {}).reduce((sum, count) => sum + count, 0),
      stage?.calls,
    );
    await assert.rejects(readFile(join(folder, 'report.html')));
  });
});

test('what is no run is refused in words, with exit code 2', async () => {
  await withRuns(['coalesce'], 1, async (directory) => {
    const folder = join(directory, 'coalesce-seed-1');
    assert.match((await holdfast('report')).stderr, /takes .*DIR/);
    assert.match((await holdfast('report', directory)).stderr, /cannot read the run: .*run\.json/);
    await writeFile(join(folder, 'attempts.jsonl'), '{"call":0,\n');
    const { code, stderr } = await holdfast('report', folder);
    assert.equal(code, 2);
    assert.match(stderr, /attempts\.jsonl, line 1: not JSON/);
  });
});

test('a page that cannot be written is told so', async () => {
  await withRuns(['coalesce'], 1, async (directory, plan) => {
    const { code, stderr } = await holdfast(
      'report',
      join(directory, 'coalesce-seed-1'),
      '--out',
      join(plan, 'x.html'),
    );
    assert.equal(code, 1);
    assert.match(stderr, /cannot write the report/);
  });
});

test('several folders become one comparison, paired by seed', async () => {
  await withRuns(['coalesce', 'retries=on cancel=on'], 2, async (directory) => {
    const folders = ['coalesce', 'retries_on_cancel_on'].flatMap((name) =>
      [1, 2].map((seed) => join(directory, `${name}-seed-${seed}`)),
    );
    const out = join(directory, 'comparison.html');
    const pictures = join(directory, 'pictures');
    const args = [...folders, '--out', out, '--svg', pictures, '--json'];
    const { code, stdout, stderr } = await holdfast('report', ...args);
    assert.equal(code, 0, stderr);
    const { runs, differences } = JSON.parse(stdout) as {
      runs: object[];
      differences: { a: string; b: string; rows: { figure: string; seeds: number }[] }[];
    };
    assert.equal(runs.length, 4);
    assert.deepEqual(
      differences.map(({ a, b }) => [a, b]),
      [['coalesce', 'retries=on cancel=on']],
    );
    assert.ok(
      differences[0]?.rows.some(({ figure, seeds }) => figure === 'hold attempts per call' && seeds === 2),
    );
    const page = await readFile(out, 'utf8');
    assert.match(page, /From coalesce to retries=on cancel=on/);
    assert.deepEqual(readMarkup(page).problems, []);
    for (const name of ['seeds', 'arrivals', 'waiting', 'latency', 'prefill', 'attempts']) {
      const picture = await readFile(join(pictures, `${name}.svg`), 'utf8');
      assert.deepEqual(readMarkup(picture).problems, [], name);
    }
  });
});

test('a trial writes its own page: of one run, and of two arms', async () => {
  await withRuns([], 1, async (directory, plan) => {
    const args = ['trial', '--scenario', 'coalesce', '--plan', plan, '--seeds', '1', '--report'];
    const [one, two] = [join(directory, 'one.html'), join(directory, 'two.html')];
    assert.equal((await holdfast(...args, one)).code, 0);
    assert.match(await readFile(one, 'utf8'), /<h1>coalesce<\/h1>/);
    assert.equal((await holdfast(...args, two, '--compare', 'retries=on cancel=on')).code, 0);
    assert.match(await readFile(two, 'utf8'), /From coalesce to retries=on cancel=on/);
  });
});

test('a page that cannot be had is refused before anything is played', async () => {
  const refused = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await holdfast('trial', ...args);
    assert.notEqual(code, 0, args.join(' '));
    assert.equal(stdout, '');
    assert.ok(!/of \d+ runs/.test(stderr), stderr);
    return stderr;
  };
  assert.match(await refused('--report', join('nowhere', 'page.html')), /nowhere is no folder/);
  assert.match(await refused('--svg', 'sweep.svg'), /--svg with --sweep/);
  assert.match(await refused('--published', '--report', 'page.html'), /--report without --published/);
  assert.match(await refused('--seeds', '200', '--report', 'page.html'), /at most 100 runs/);
});
