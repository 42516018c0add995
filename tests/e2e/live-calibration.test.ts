/** Ĉ over HTTP: of the twin it is what the same search finds of the same engine in virtual time. */

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type CalibrationResult, calibrationOptions } from '../../src/core/drill/calibrate.js';
import type { Workload } from '../../src/core/drill/plan.js';
import { profile } from '../../src/core/engine/profiles.js';
import { calibrateEngine } from '../../src/core/trial/calibrate.js';
import { liveEngine } from '../../src/shell/probe/engine-facts.js';
import { LiveCalibration } from '../../src/shell/probe/live-calibration.js';
import { startTwin, type Twin } from '../../src/shell/twin/server.js';
import { holdfast as command, type Ended } from '../support/command.js';

const TIME_SCALE = 10;
const WORKLOAD: Workload = {
  promptTokens: { kind: 'fixed', tokens: 500 },
  sharedPrefixTokens: 0,
  responseTokens: { kind: 'fixed', tokens: 50 },
};
const OPTIONS = calibrationOptions({
  firstPerSecond: 4,
  coarse: 1.6,
  grain: 0.1,
  settleSeconds: 10,
  judgedSeconds: 20,
});

function calibration(twin: Twin): LiveCalibration {
  const url = new URL(`http://127.0.0.1:${twin.port}`);
  return new LiveCalibration({
    server: {
      url,
      engines: [],
      model: profile('qwen2.5-7b').model,
      api: 'completions',
      prompts: 'tokens',
      vocabulary: 256,
      salt: 'test',
      plain: false,
      credential: () => 'nobody',
      timeScale: TIME_SCALE,
    },
    workload: WORKLOAD,
    options: OPTIONS,
    judged: () => {},
  });
}

function holdfast(...args: string[]): Promise<Ended> {
  return command(args, { limitMs: 300_000 });
}

/** The options of an engine of which both tests know all. */
const ENGINE = { maxNumSeqs: 2, maxNumBatchedTokens: 2_048 };

test('Ĉ of the twin over HTTP is Ĉ of its engine in virtual time, and a drill takes what was kept', async (t) => {
  const { cost, numGpuBlocks, maxModelLen } = profile('qwen2.5-7b');
  const virtual = calibrateEngine({
    cost,
    engine: { ...ENGINE, numGpuBlocks, maxModelLen },
    workload: WORKLOAD,
    options: OPTIONS,
  });
  assert.ok(virtual.verdict === 'found');
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-live-'));
  const store = join(directory, 'capacities.json');
  const twin = await startTwin({ ...ENGINE, port: 0, timeScale: TIME_SCALE });
  t.after(async () => {
    await twin.close();
    rmSync(directory, { recursive: true });
  });
  const asked = ['--prompt-tokens', '500', '--response-tokens', '50', '--time-scale', String(TIME_SCALE)];
  // Five seconds late in a stage of thirty: this is about the search, on whatever machine.
  const more = [...asked, '--most-lag', '5', '--store', store];
  const search = ['--first', '4', '--grain', '0.1', '--settle', '10', '--judged', '20', '--json'];
  const ended = await holdfast('calibrate', twin.url, ...more, ...search);
  const live = JSON.parse(ended.stdout) as CalibrationResult;
  if (live.verdict === 'could_not_tell' && live.reason === 'generator_behind') {
    t.skip('this machine is too busy for a generator that keeps up');
    return;
  }
  assert.ok(live.verdict === 'found', ended.stdout);
  assert.deepEqual([ended.code, live.signal], [0, 'waiting']);
  const apart = live.capacity / virtual.capacity - 1;
  assert.ok(Math.abs(apart) <= 0.2, `${live.capacity} over HTTP, ${virtual.capacity} in virtual time`);

  const drill = () => holdfast('drill', twin.url, ...more, '--stages', 'only 0.5c 5s', '--json');
  const drilled = await drill();
  assert.match(drilled.stderr, /^capacity \d+\.\d+ calls\/s, as measured of http/m);
  assert.equal((JSON.parse(drilled.stdout) as { capacity: number }).capacity, live.capacity);
  writeFileSync(store, readFileSync(store, 'utf8').replace('"version": "0.30.0"', '"version": "0.29.0"'));
  const stale = await drill();
  assert.equal(stale.code, 2);
  assert.match(stale.stderr, /not used, since the server has changed: .*version was 0\.29\.0, is 0\.30\.0/);
  assert.match(stale.stderr, /none is known/);
});

test('flags of a server need one, flags of the model none', async () => {
  const wrong = await Promise.all([
    holdfast('calibrate', '--time-scale', '2'),
    holdfast('calibrate', 'http://127.0.0.1:9', '--profile', 'qwen2.5-7b'),
    holdfast('calibrate', 'http://127.0.0.1:9'),
  ]);
  assert.deepEqual(
    wrong.map(({ code }) => code),
    [2, 2, 1],
  );
  assert.match(wrong[0]?.stderr ?? '', /--time-scale needs the URL of a server/);
  assert.match(wrong[1]?.stderr ?? '', /--profile is for the engine model/);
  assert.match(wrong[2]?.stderr ?? '', /cannot ask .* for a model/);
});

test('a search that is stopped says so', async () => {
  const twin = await startTwin({ ...ENGINE, port: 0, timeScale: TIME_SCALE });
  try {
    const search = calibration(twin);
    const running = search.run();
    search.stop();
    const result = await running;
    assert.deepEqual([result.verdict, 'reason' in result && result.reason], ['could_not_tell', 'stopped']);
  } finally {
    await twin.close();
  }
});

test('the facts of a server are its version, its length and its cache', async () => {
  const twin = await startTwin({ ...ENGINE, port: 0, blockSize: 32 });
  try {
    const { model } = profile('qwen2.5-7b');
    const url = new URL(`http://127.0.0.1:${twin.port}/`);
    const of = await liveEngine(url, model, WORKLOAD, 'Bearer nobody');
    assert.deepEqual([of.target, of.model], [`http://127.0.0.1:${twin.port}`, model]);
    assert.equal(of.engine.max_model_len, '32768');
    assert.equal(of.engine['cache.block_size'], '32');
    assert.ok(of.engine.version !== undefined);
  } finally {
    await twin.close();
  }
  const { engine } = await liveEngine(new URL('http://127.0.0.1:9'), 'm', WORKLOAD, 'Bearer nobody');
  assert.deepEqual(engine, {});
});
