/** The twin is told everything under vLLM's names, flags win over the file, and what does not fit is said in place. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { UserError } from '../shared/errors.js';
import { readFlags } from './flags.js';
import { TWIN_FLAGS } from './twin-flags.js';
import { type TwinCommandSettings, twinSettingsOf } from './twin-settings.js';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-twin-'));
after(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const settings = (...args: string[]): TwinCommandSettings =>
  twinSettingsOf(readFlags('twin', TWIN_FLAGS, args));

function refused(args: readonly string[], message: RegExp): void {
  assert.throws(
    () => settings(...args),
    (error) => error instanceof UserError && message.test(error.message) && error.exitCode === 2,
    args.join(' '),
  );
}

test('vLLM’s flags become the twin’s options, with vLLM’s suffixes', () => {
  assert.deepEqual(settings().options, { port: 8000 });
  const { options, trace } = settings(
    ...`--port 0 --model m --served-model-name n --max-model-len 32K --max-num-seqs 64
      --max-num-batched-tokens 2k --block-size 32 --num-gpu-blocks-override 1000
      --gpu-memory-utilization 0.5 --max-num-queued-reqs 0 --max-num-queued-tokens 1.5k
      --scheduling-policy priority --no-async-scheduling --no-enable-prefix-caching --seed 7
      --time-scale 2.5 --trace trace.jsonl`.split(/\s+/),
  );
  assert.deepEqual(options, {
    port: 0,
    model: 'm',
    servedModelName: 'n',
    maxModelLen: 32_768,
    maxNumSeqs: 64,
    maxNumBatchedTokens: 2_000,
    blockSize: 32,
    numGpuBlocks: 1_000,
    gpuMemoryUtilization: 0.5,
    maxNumQueuedReqs: 0,
    maxNumQueuedTokens: 1_500,
    schedulingPolicy: 'priority',
    asyncScheduling: false,
    enablePrefixCaching: false,
    seed: 7,
    timeScale: 2.5,
  });
  assert.equal(trace, 'trace.jsonl');
});

test('flags win over the file, the file over the defaults', () => {
  const config = file(
    'twin.yaml',
    '# a small one\nport: 9000\nmax-num-seqs: 4\nmax-num-queued-tokens: 32k\nno-async-scheduling: true\nprofile: qwen3-14b\n',
  );
  const { options } = settings('--config', config, '--max-num-seqs', '8', '--async-scheduling');
  assert.equal(typeof options.profile === 'object' ? options.profile.name : '', 'qwen3-14b');
  const { profile: _, ...rest } = options;
  assert.deepEqual(rest, {
    port: 9000,
    maxNumSeqs: 8,
    maxNumQueuedTokens: 32_000,
    asyncScheduling: true,
  });
  assert.deepEqual(settings('--config', file('empty.yaml', '# nothing\n')).options, { port: 8000 });
});

test('a flag that does not fit is refused with what would', () => {
  refused(
    ['--max-num-seqs', 'many'],
    /^--max-num-seqs must be a whole number such as 4096, 32k or 4K, not "many"$/,
  );
  refused(['--max-num-seqs', '0.5'], /^--max-num-seqs must be a whole number/);
  refused(['--max-num-seqs=-1'], /^--max-num-seqs must be a whole number/);
  refused(['--scheduling-policy', 'lifo'], /^--scheduling-policy must be fcfs or priority, not "lifo"$/);
  refused(
    ['--async-scheduling', '--no-async-scheduling'],
    /^--no-async-scheduling contradicts --async-scheduling$/,
  );
  refused(['--profile', 'qwen2.5-8b'], /no profile "qwen2.5-8b"; did you mean qwen2.5-7b\?/);
  refused(['--max-num-sequences', '4'], /knows no flag --max-num-sequences; did you mean --max-num-seqs\?/);
});

test('a key of the file that does not fit is refused with its line', () => {
  const cases: [text: string, message: RegExp][] = [
    [
      'port: 1\nmax_num_seqs: 4\n',
      /x\.yaml, line 2: max_num_seqs is not a setting; did you mean max-num-seqs\?$/,
    ],
    ['config: other.yaml\n', /line 1: config is not a setting/],
    ['seed: [1]\n', /line 1: seed must be a number, not \[1\]$/],
    ['seed:\n', /line 1: seed must be a number, not nothing$/],
    ['no-async-scheduling: maybe\n', /no-async-scheduling must be true or false, not "maybe"$/],
    ['- seed\n', /must be a mapping of flags/],
    ['seed: 1\nseed: 2\n', /is not plain YAML/],
    ['a: b: c\n', /is not plain YAML/],
  ];
  for (const [text, message] of cases) refused(['--config', file('x.yaml', text)], message);
  refused(['--config', join(folder, 'none.yaml')], /^cannot read the configuration: .*ENOENT/);
});

test('a value out of the twin’s bounds is said with the place it came from', () => {
  const { inUserWords } = settings('--config', file('y.yaml', 'block-size: 9999\n'), '--seed', '1');
  assert.match(
    inUserWords('blockSize must be a whole number'),
    /y\.yaml, line 1: block-size must be a whole number$/,
  );
  assert.equal(inUserWords('seed must be less'), '--seed must be less');
});
