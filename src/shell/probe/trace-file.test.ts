/** Recorded traces: the three formats as they are published, and what is refused with file, line and reason. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { PUBLISHED_PLAN } from '../../core/drill/plan.js';
import { planCalls } from '../../core/drill/planning.js';
import { planOfTrace } from '../../core/drill/trace.js';
import { UserError } from '../shared/errors.js';
import { readPlan } from './plan-file.js';
import { readTraceFile, type TraceSource } from './trace-file.js';

const DIRECTORY = mkdtempSync(join(tmpdir(), 'holdfast-trace-'));
after(() => rmSync(DIRECTORY, { recursive: true }));
let files = 0;

function file(content: string): string {
  const path = join(DIRECTORY, `trace-${(files += 1)}`);
  writeFileSync(path, content);
  return path;
}

const read = (content: string, more: Partial<TraceSource> = {}) =>
  readTraceFile({ file: file(content), ...more });

function refusal(content: string, more: Partial<TraceSource> = {}): string {
  try {
    read(content, more);
  } catch (error) {
    assert.ok(error instanceof UserError, String(error));
    assert.equal(error.exitCode, 2);
    return error.message;
  }
  throw new Error(`taken: ${content}`);
}

const MOONCAKE = `{"timestamp": 27482, "input_length": 1025, "output_length": 52, "hash_ids": [46, 47, 9]}
{"timestamp": 30535, "input_length": 600, "output_length": 26, "hash_ids": [46, 48]}
`;
const AZURE = `TIMESTAMP,ContextTokens,GeneratedTokens
2023-11-16 18:15:46.6805900,374,44
2023-11-16 18:15:50.9951690,396,109
`;
const BURSTGPT = `Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type
5,ChatGPT,472,18,490,Conversation log
45,ChatGPT,1087,0,1087,Conversation log
118,GPT-4,417,276,693,API log
`;

test('a Mooncake trace has times in milliseconds from its first call, lengths, and blocks', () => {
  assert.deepEqual(read(MOONCAKE).calls, [
    { atMs: 0, promptTokens: 1_025, responseTokens: 52, blocks: [46, 47, 9] },
    { atMs: 3_053, promptTokens: 600, responseTokens: 26, blocks: [46, 48] },
  ]);
});

test('an Azure trace has dates to the seventh digit, with a zone or without', () => {
  const { calls } = read(AZURE);
  assert.deepEqual([calls[0]?.promptTokens, calls[1]?.responseTokens], [374, 109]);
  assert.ok(Math.abs((calls[1]?.atMs ?? 0) - 4_314.579) < 0.001);
  const zoned = AZURE.replace('18:15:46.6805900', '18:15:46.680590+00:00').replace(
    '18:15:50.9951690',
    '19:15:50.995169+01:00',
  );
  assert.ok(Math.abs((read(zoned).calls[1]?.atMs ?? 0) - 4_314.579) < 0.001);
});

test('a BurstGPT trace has seconds, in both layouts; calls without a response are left out and counted', () => {
  const trace = read(BURSTGPT);
  assert.deepEqual(
    trace.calls.map(({ atMs, promptTokens }) => [atMs, promptTokens]),
    [
      [0, 472],
      [113_000, 417],
    ],
  );
  assert.equal(trace.leftOut.failed, 1);
  const later = `Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type
19440110.0,1722ac82-0a46-4bf0-aa08-89794e7a2b3f,43,GPT-4,906,446,1352,Conversation log
`;
  assert.deepEqual(read(later).calls, [{ atMs: 0, promptTokens: 906, responseTokens: 446 }]);
});

test('speed, limit and the longest call are options', () => {
  assert.equal(read(MOONCAKE, { speed: 2 }).calls[1]?.atMs, 1_526.5);
  assert.equal(read(MOONCAKE, { limit: 1 }).calls.length, 1);
  const short = read(MOONCAKE, { mostTokens: 700 });
  assert.deepEqual([short.calls.length, short.leftOut.tooLong], [1, 1]);
});

test('lines a little out of order are sorted, a limit counts the earliest', () => {
  const turned = MOONCAKE.split('\n').toReversed().join('\n');
  assert.deepEqual(read(turned).calls, read(MOONCAKE).calls);
  assert.equal(read(turned, { limit: 1 }).calls[0]?.promptTokens, 1_025);
});

test('what is left out is counted up to the limit only', () => {
  const failing = BURSTGPT.replace('417,276', '417,0');
  assert.equal(read(failing).leftOut.failed, 2);
  assert.equal(read(failing, { limit: 1 }).leftOut.failed, 0);
});

test('our own traces are read back without their retries', () => {
  const own = (attempt: number, timestamp: number): string =>
    `{"timestamp":${timestamp},"input_length":600,"output_length":7,"hash_ids":[0,1],"call":0,"attempt":${attempt},"retry_of":null,"deadline":9,"left_at":8,"ending":"answered"}\n`;
  const trace = read(own(0, 5) + own(1, 9_000));
  assert.deepEqual([trace.calls.length, trace.leftOut.retries], [1, 1]);
});

test('what is no trace is refused with file, line and reason', () => {
  const half = MOONCAKE.slice(0, -40);
  assert.match(refusal(half), /trace-\d+ is no trace to play: line 2: is cut off or no JSON/);
  assert.match(
    refusal(MOONCAKE.replace('"input_length": 600', '"input_length": -600')),
    /line 2: input_length/,
  );
  assert.match(refusal(MOONCAKE.replace('"output_length": 26', '"delay": 26')), /line 2: has a key "delay"/);
  assert.match(refusal(MOONCAKE.replace('[46, 48]', '[46, 48, 49]')), /line 2: has 3 hash_ids/);
  assert.match(refusal(AZURE.slice(0, -5)), /line 3: has 2 of 3 columns/);
  assert.match(refusal(AZURE.replace(',44', ',-44')), /line 2: GeneratedTokens must be a whole number/);
  assert.match(refusal(AZURE.replace('11-16', '02-31')), /line 2: TIMESTAMP must be a moment/);
  assert.match(refusal(AZURE.replace('GeneratedTokens', 'Generated')), /line 1: has a column "Generated"/);
  assert.match(refusal(BURSTGPT.replace('118', '-118')), /line 4: Timestamp must be a time from 0, not -118/);
  assert.match(refusal('a,b,c\n1,2,3\n'), /line 1: is the beginning of no trace; known are mooncake/);
  assert.match(refusal(''), /no call to play/);
  assert.match(refusal(MOONCAKE, { format: 'azure' }), /line 1: has a column/);
  assert.match(refusal(`{"x": "${'y'.repeat(2 ** 21)}"}`), /cannot read the trace .*line 1 does not end/);
  assert.throws(() => readTraceFile({ file: '/nowhere/trace' }), /cannot read the trace \/nowhere\/trace/);
});

test('time that goes back by more than ten minutes is refused', () => {
  assert.match(refusal(BURSTGPT.replace('118', '4').replace('\n5,', '\n900,')), /line 3: goes back by 855 s/);
});

test('a plan plays a trace in the place of stages, from its own folder, with its own clients', () => {
  file(MOONCAKE);
  const plan = (yaml: string) => readPlan(yaml, join(DIRECTORY, 'plan.yaml'));
  const traced = plan(`trace: { file: trace-${files}, speed: 2 }\nclients:\n  - retries: 1\n`);
  const calls = planCalls(traced, 1);
  assert.deepEqual(
    calls.map(({ atMs, stage, client }) => [atMs, stage, client.retries]),
    [
      [0, 0, 1],
      [1_526.5, 0, 1],
    ],
  );
  assert.throws(() => plan('clients: []\n'), /needs stages, or a trace in their place/);
  assert.throws(
    () =>
      plan(`trace: { file: trace-${files} }\nstages:\n  - { name: a, rate: { perSecond: 1 }, seconds: 1 }\n`),
    /needs stages, or a trace in their place/,
  );
  assert.throws(() => plan('trace: { file: nowhere }\n'), /cannot read the trace/);
});

test('the stage of a traced plan is as long as the trace', () => {
  const { stages } = planOfTrace(PUBLISHED_PLAN, read(BURSTGPT));
  assert.deepEqual(stages, [{ name: 'trace', rate: { perSecond: 2 / 113 }, seconds: 113 }]);
});
