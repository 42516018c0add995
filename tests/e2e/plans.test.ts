/** Plans and traces at the command line: what is played, and what is refused with file, line and reason. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { holdfast as command, type Ended } from '../support/command.js';

const DIRECTORY = mkdtempSync(join(tmpdir(), 'holdfast-plans-'));
after(() => rmSync(DIRECTORY, { recursive: true }));

function holdfast(...args: string[]): Promise<Ended> {
  return command(args, { env: { XDG_STATE_HOME: DIRECTORY } });
}

function file(name: string, content: string): string {
  const path = join(DIRECTORY, name);
  writeFileSync(path, content);
  return path;
}

const STAGE = '  - { name: only, rate: { perSecond: 1 }, seconds: 10 }\n';
const LINE = '{"timestamp": 1000, "input_length": 600, "output_length": 9, "hash_ids": [1, 2]}\n';

test('a bad plan is refused with 2, its file, line and reason', async () => {
  const bad: readonly (readonly [name: string, content: string, says: RegExp])[] = [
    [
      'negative.yaml',
      `stages:\n${STAGE.replace('1 }', '-1 }')}`,
      /negative\.yaml.*\n {2}line 2: stages\.0\.rate/,
    ],
    [
      'endless.yaml',
      `stages:\n${STAGE.replace(', seconds: 10', '')}`,
      /endless\.yaml.*\n {2}line 2: stages\.0\.seconds/,
    ],
    ['unknown.yaml', `stages:\n${STAGE}horizon: 3\n`, /unknown\.yaml.*\n {2}.*horizon/],
    ['neither.yaml', 'name: nothing\n', /neither\.yaml.*\n {2}.*needs stages, or a trace/],
  ];
  for (const [name, content, says] of bad) {
    const { code, stdout, stderr } = await holdfast('trial', '--plan', file(name, content));
    assert.match(stderr, says);
    assert.deepEqual([code, stdout], [2, '']);
  }
});

test('a trace line cut in half is refused with 2, its file, line and reason', async () => {
  const path = file('half.jsonl', LINE + LINE.slice(0, 40));
  for (const args of [
    ['--trace', path],
    ['--plan', file('half.yaml', 'trace: { file: half.jsonl }\n')],
  ]) {
    const { code, stderr } = await holdfast('trial', ...args);
    assert.match(stderr, /half\.jsonl is no trace to play: line 2: is cut off/);
    assert.equal(code, 2);
  }
});

test('a trace is played, and what of it is left out is said', async () => {
  const path = file(
    'whole.jsonl',
    LINE + LINE.replace('1000', '4000') + LINE.replace('"output_length": 9', '"output_length": 0'),
  );
  const { code, stdout, stderr } = await holdfast(
    'trial',
    '--trace',
    path,
    '--seeds',
    '1',
    '--trace-speed',
    '0.5',
  );
  assert.equal(code, 0, stderr);
  assert.match(stderr, /whole\.jsonl: 2 calls in 6 s; left out: 1 without an answer/);
  assert.match(stdout, /trace: calls +2\n/);
  assert.match(stdout, /trace: delivered by the deadline, % +100\.0\n/);
});

test('a recorded run of a trace can be read back, and its own trace be played again', async () => {
  const path = file('short.jsonl', LINE + LINE.replace('1000', '4000'));
  const runs = join(DIRECTORY, 'runs');
  const played = await holdfast('trial', '--trace', path, '--seeds', '1', '--record', runs);
  assert.equal(played.code, 0, played.stderr);
  const folder = join(runs, 'holdfast-seed-1');
  const report = await holdfast('report', folder, '--json');
  assert.equal(report.code, 0, report.stderr);
  const again = await holdfast('trial', '--trace', join(folder, 'trace.jsonl'), '--seeds', '1');
  assert.equal(again.code, 0, again.stderr);
  assert.equal(again.stdout, played.stdout);
});

test('calls that the engine cannot hold are refused with the flag that leaves them out', async () => {
  const path = file('long.jsonl', LINE + LINE.replace('600', '40000').replace('[1, 2]', '[]'));
  const { code, stderr } = await holdfast('trial', '--trace', path);
  assert.match(stderr, /has 1 calls of more than 32768 tokens.*--trace-most-tokens 32768/);
  assert.equal(code, 2);
  const fitting = await holdfast('trial', '--trace', path, '--trace-most-tokens', '32768', '--seeds', '1');
  assert.equal(fitting.code, 0, fitting.stderr);
  const idle = await holdfast('trial', '--trace-limit', '3');
  assert.match(idle.stderr, /--trace-limit needs a trace/);
});

test('Ĉ of a workload of its own is taken from what calibrate kept, and said to be missing or stale', async () => {
  const plan = file(
    'small.yaml',
    `stages:\n  - { name: only, rate: { capacity: 0.5 }, seconds: 10 }\nworkload:\n  promptTokens: { kind: fixed, tokens: 500 }\n  sharedPrefixTokens: 0\n  responseTokens: { kind: fixed, tokens: 50 }\n`,
  );
  const engine = ['--plan', plan, '--set', 'engine.maxNumSeqs=4'];
  const trial = (...more: string[]) => holdfast('trial', ...engine, '--seeds', '1', ...more);
  assert.match(
    (await trial()).stderr,
    /warning: Ĉ is taken as 2\.78 calls\/s.*none is kept for the workload/,
  );
  const found = await holdfast('calibrate', ...engine, '--settle', '20', '--judged', '60', '--first', '4');
  assert.equal(found.code, 0, found.stderr);
  assert.match((await trial()).stderr, /^Ĉ is \d+\.\d+ calls\/s, measured 2/);
  assert.match(
    (await trial('--set', 'engine.blockSize=32')).stderr,
    /warning: .* is stale \(engine\.blockSize was 16, is 32\)/,
  );
});
