/** `holdfast drill` against real servers: what is counted, what it says, and how it ends. */

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { AttemptRecord } from '../../src/core/drill/record.js';
import type { RunHead } from '../../src/core/drill/run.js';
import type { Verdict } from '../../src/core/drill/threshold.js';
import { runCommandLine } from '../../src/shell/cli/dispatch.js';
import { readRunFolder } from '../../src/shell/probe/run-reading.js';
import { SystemClock } from '../../src/shell/shared/system-clock.js';
import { startTwin, type Twin, type TwinOptions } from '../../src/shell/twin/server.js';
import { FakeEngine } from '../support/fake-engine.js';
import { startGatewayAt } from '../support/gateway-at.js';
import { within } from '../support/promised.js';
import { ROOT } from '../support/root.js';

const MAIN = join(ROOT, 'dist', 'src', 'shell', 'cli', 'main.js');
const SCALE = 10;

/** An overload of half a minute, four seconds of the wall clock. */
const OVERLOAD = words(
  "--stages 'base 2/s 5s, pulse 30/s 8s, hold 2/s 20s' --prompt-tokens 1500-2500 --response-tokens 20-60",
  `--deadline 5 --time-scale ${SCALE} --most-lag 600`,
);
/** Four seconds of few short calls. */
const QUICK = words("--stages 'only 5/s 4s' --prompt-tokens 50 --response-tokens 5", `--time-scale ${SCALE}`);

/** Arguments as a shell takes them apart. */
function words(...texts: string[]): readonly string[] {
  return [...texts.join(' ').matchAll(/'([^']*)'|\S+/g)].map((found) => found[1] ?? found[0]);
}

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  readonly said: () => string;
}

function start(t: TestContext, args: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
  const child = spawn(process.execPath, [MAIN, 'drill', ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr }));
  return { child, ended: within('the end of the drill', ended, 120_000), said: () => stderr };
}

async function drill(t: TestContext, ...args: string[]): Promise<Ended> {
  return start(t, args).ended;
}

type Told = RunHead & { readonly thresholds: readonly Verdict[] };

function told({ stdout, stderr }: Ended): Told {
  assert.notEqual(stdout, '', stderr);
  return JSON.parse(stdout) as Told;
}

async function twin(t: TestContext, options: TwinOptions = {}): Promise<Twin> {
  const started = await startTwin({ timeScale: SCALE, ...options });
  t.after(() => started.close());
  return started;
}

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'holdfast-drill-'));
  t.after(() => rmSync(path, { recursive: true }));
  return path;
}

/** Every planned call of every stage has one fate, and the stages sum to the whole. */
function assertBalanced({ stages, total, calls }: RunHead): void {
  for (const stage of [...stages, total]) {
    const { delivered, refused, abandoned, broken, open } = stage;
    assert.equal(delivered + refused + abandoned + broken + open, stage.calls, stage.stage);
    assert.ok(stage.deliveredByDeadline <= stage.deliveredByHorizon && stage.deliveredByHorizon <= delivered);
  }
  assert.equal(total.calls, calls);
  for (const field of ['calls', 'delivered', 'refused', 'abandoned', 'broken', 'open', 'attempts'] as const) {
    assert.equal(
      stages.reduce((sum, stage) => sum + stage[field], 0),
      total[field],
      field,
    );
  }
}

/** A busy server may read its last requests after their clients have left, and after the drill has looked. */
function assertCounted({ total }: RunHead, engine: Twin): void {
  const { executionsReceived } = engine.stats();
  const { executions = 0 } = total;
  const said = `${executions} counted of ${executionsReceived}`;
  assert.ok(executions <= executionsReceived && executions >= 0.8 * executionsReceived, said);
}

function lines(path: string): readonly unknown[] {
  const text = readFileSync(path, 'utf8').trim();
  return text === '' ? [] : text.split('\n').map((line) => JSON.parse(line) as unknown);
}

function attemptsIn(directory: string): readonly AttemptRecord[] {
  return lines(join(directory, 'attempts.jsonl')) as readonly AttemptRecord[];
}

test('an overload straight at the engine: retries happen, every attempt is an execution, all is counted and kept', async (t) => {
  const engine = await twin(t, { maxNumSeqs: 16 });
  const directory = folder(t);
  const page = join(directory, 'page.html');
  const files = ['--record', directory, '--report', page];
  const ended = await drill(t, engine.url, ...OVERLOAD, '--json', ...files, '--seed', '3');
  const head = told(ended);
  assert.equal(ended.code, 0, ended.stderr);
  assertBalanced(head);
  assert.deepEqual([head.kind, head.target, head.seed, head.timeScale], ['drill', engine.url, 3, SCALE]);
  assert.ok(head.total.attempts > head.calls, `${head.total.attempts} attempts of ${head.calls} calls`);
  assert.equal(head.executionsCountedBy, 'the engine: executions received');
  assertCounted(head, engine);
  assert.ok((head.total.executions ?? 0) <= head.total.attempts);
  const at = join(directory, 'drill-seed-3');
  const attempts = attemptsIn(at);
  assert.equal(attempts.length, head.total.attempts);
  assert.equal(lines(join(at, 'calls.jsonl')).length, head.calls);
  assert.equal(lines(join(at, 'trace.jsonl')).length, attempts.length);
  assert.equal((JSON.parse(readFileSync(join(at, 'run.json'), 'utf8')) as RunHead).format, head.format);
  assert.match(readFileSync(join(at, 'report.html'), 'utf8'), /<svg/);
  assert.equal(readFileSync(page, 'utf8'), readFileSync(join(at, 'report.html'), 'utf8'));
  assert.match(readFileSync(join(at, 'series.csv'), 'utf8'), /^atMs,running,waiting,kvCacheUsage,/);
  for (const { ending, execution, sentMs, plannedMs, leftMs } of attempts) {
    assert.ok(sentMs >= plannedMs - 1e-6 && leftMs >= sentMs);
    if (ending === 'delivered') assert.match(execution ?? '', /^cmpl-/);
  }
  assert.match(ended.stderr, /"seed":3/);
});

test('through the gateway, attempts meet the work their call has, and the record says so', async (t) => {
  const engine = await twin(t, { timeScale: 1 });
  const gateway = await startGatewayAt(engine.url, new SystemClock(), 1);
  t.after(() => gateway.close());
  const directory = folder(t);
  // Answers take longer than their clients wait, at the machine's own pace.
  const plan = words("--stages 'only 4/s 2s' --prompt-tokens 100 --response-tokens 400 --deadline 2");
  const flags = [...plan, '--most-lag', '600', '--json', '--record', directory, '--name', 'through'];
  const ended = await drill(t, gateway.url, ...flags, '--engine', engine.url);
  const head = told(ended);
  assert.equal(ended.code, 0, ended.stderr);
  assertBalanced(head);
  assert.equal(head.executionsCountedBy, 'the engine: executions received');
  assertCounted(head, engine);
  assert.ok(head.total.attempts > head.calls);
  assert.ok((head.total.executions ?? 0) < head.total.attempts);
  const attempts = attemptsIn(join(directory, 'through-seed-1'));
  const delivered = attempts.filter(({ ending }) => ending === 'delivered');
  assert.ok(delivered.some(({ attempt, outcome }) => attempt > 0 && outcome !== 'started'));
  assert.equal(new Set(delivered.map(({ execution }) => execution)).size, delivered.length);
  const [sample] = readFileSync(join(directory, 'through-seed-1', 'series.csv'), 'utf8').split('\n');
  assert.match(sample ?? '', /,line,/);
});

test('a gateway whose engine has no meter counts the executions itself', async (t) => {
  const engine = await twin(t);
  const gateway = await startGatewayAt(engine.url, new SystemClock(SCALE), SCALE);
  t.after(() => gateway.close());
  const flags = ['--stages', 'only 3/s 5s', '--prompt-tokens', '100', '--response-tokens', '5'];
  const head = told(
    await drill(t, `${gateway.url}/v1/`, ...flags, '--time-scale', '10', '--most-lag', '60', '--json'),
  );
  assert.equal(head.executionsCountedBy, 'the gateway: executions started');
  assert.equal(head.total.executions, head.calls);
});

test('streams, chat and text are answered as well', async (t) => {
  const engine = await twin(t, { maxModelLen: 4_000 });
  const flags = ['--stages', 'only 5/s 5s', '--prompt-tokens', '50', '--response-tokens', '5', '--json'];
  const scaled = ['--time-scale', '10', '--most-lag', '60'];
  for (const more of [
    ['--client', 'codex'],
    ['--api', 'chat'],
    ['--prompts', 'characters', '--plain'],
  ]) {
    const head = told(await drill(t, engine.url, ...flags, ...scaled, ...more));
    assert.ok(head.calls > 5);
    assert.equal(head.total.delivered, head.calls, more.join(' '));
  }
});

test('a recorded trace is played with the clients of a kind', async (t) => {
  const engine = await twin(t);
  const directory = folder(t);
  const trace = join(directory, 'trace.jsonl');
  const rows = [[0], [0, 1], [4, 5]].map((hash_ids, at) =>
    JSON.stringify({ timestamp: at * 1_000, input_length: 300 * (at + 1), output_length: 5, hash_ids }),
  );
  writeFileSync(trace, `${rows.join('\n')}\n`);
  const flags = ['--trace', trace, '--client', 'openai-node', '--json', '--record', directory];
  const head = told(await drill(t, engine.url, ...flags, '--time-scale', '10', '--most-lag', '600'));
  assert.deepEqual([head.calls, head.total.delivered], [3, 3]);
  const written = lines(join(directory, 'drill-seed-1', 'trace.jsonl')) as { input_length: number }[];
  assert.deepEqual(
    written.map(({ input_length }) => input_length).toSorted((a, b) => a - b),
    [300, 600, 900],
  );
});

test('thresholds decide the exit code: 0 all met, 3 one not; 4 comes before both when the generator fell behind', async (t) => {
  const engine = await twin(t);
  const met = ['--expect', 'only.delivered >= 99%', '--expect', 'total.executions_per_call <= 1'];
  const unmet = ['--expect', 'total.calls < 1'];
  const lag = ['--most-lag', '600'];
  const all = await drill(t, engine.url, ...QUICK, ...lag, ...met);
  assert.equal(all.code, 0, all.stdout);
  assert.match(all.stdout, /^met +only\.delivered >= 99% +is 100%$/m);
  const one = await drill(t, engine.url, ...QUICK, ...lag, ...met, ...unmet);
  assert.equal(one.code, 3, one.stdout);
  assert.match(one.stdout, /^NOT MET +total\.calls < 1 +is \d+$/m);
  const json = await drill(t, engine.url, ...QUICK, '--most-lag', '0.000001', ...unmet, '--json');
  assert.equal(json.code, 4);
  const head = told(json);
  assert.match(head.invalid.join(), /the generator fell behind: 1 % of the attempts went out/);
  assert.deepEqual(
    head.thresholds.map(({ met: is }) => is),
    [false],
  );
});

test('what does not fit is refused before anything is sent, with exit code 2', async (t) => {
  const engine = await FakeEngine.start();
  t.after(() => engine.stop());
  const refused = async (...args: string[]): Promise<string> => {
    let [out, err] = ['', ''];
    const code = await runCommandLine(['drill', ...args], {
      env: {},
      out: (text) => (out += text),
      err: (text) => (err += text),
      signals: { listen: () => () => {} },
      version: '0',
    });
    assert.deepEqual([code, out], [2, ''], args.join(' '));
    return err;
  };
  const at = [engine.url, '--model', 'm'];
  assert.match(await refused(), /drill takes one URL/);
  assert.match(await refused('localhost'), /is no URL; one looks like http/);
  assert.match(await refused('ftp://127.0.0.1'), /must begin with http/);
  assert.match(await refused(...at), /multiples of the capacity.*--capacity/);
  assert.match(await refused(...at, '--stages', 'only 5 4s'), /the rate of only/);
  assert.match(
    await refused(...at, ...QUICK, '--expect', 'hold.delivered > 1%'),
    /--expect .*character 1: there is no hold; there is only, total/,
  );
  assert.match(await refused(...at, ...QUICK, '--time-scale', '30'), /takes --time-scale once/);
  assert.match(await refused(...at, ...QUICK, '--client', 'codx'), /did you mean codex\?/);
  assert.match(await refused(...at, ...QUICK, '--api', 'chat', '--prompts', 'tokens'), /takes no token ids/);
  assert.match(
    await refused(...at, ...QUICK, '--key', 'NOT_SET_ANYWHERE'),
    /neither an environment variable/,
  );
  assert.match(await refused(...at, '--plan', '/nowhere.yaml', ...QUICK), /one of --plan and --stages/);
  assert.match(await refused(...at, ...QUICK, '--trace', 'x.jsonl'), /one of --trace and --stages/);
  assert.match(await refused(...at, '--trace-speed', '2'), /--trace-speed needs a trace/);
  assert.equal(engine.calls.items.length, 0);
});

test('a server that is not there: without a model it is said at once, with one every attempt breaks off by name', async (t) => {
  const engine = await FakeEngine.start();
  const { url } = engine;
  await engine.stop();
  const asked = await drill(t, url, ...QUICK);
  assert.equal(asked.code, 1);
  assert.match(asked.stderr, /cannot ask http.*\/v1\/models for a model: .*ECONNREFUSED.*--model/);
  const directory = folder(t);
  const flags = ['--model', 'm', '--most-lag', '600', '--json', '--record', directory];
  const head = told(await drill(t, url, ...QUICK, ...flags, '--client', 'openai-node'));
  assertBalanced(head);
  assert.equal(head.total.broken, head.calls);
  assert.equal(head.executionsCountedBy, null);
  for (const { ending, reason } of attemptsIn(join(directory, 'drill-seed-1'))) {
    assert.deepEqual([ending, reason], ['broken', 'ECONNREFUSED']);
  }
});

test('an engine that dies in the middle and comes back: its attempts break off, its calls balance', async (t) => {
  const engine = await twin(t, { maxNumSeqs: 4 });
  const running = start(t, [engine.url, ...OVERLOAD, '--json']);
  const fault = (kind: string) =>
    fetch(`${engine.url}/admin/fault`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ kind }),
    });
  await until(() => engine.stats().live > 5);
  await fault('die');
  await until(() => engine.stats().live === 0);
  await new Promise((resolve) => setTimeout(resolve, 300));
  await fault('none');
  const head = told(await running.ended);
  assertBalanced(head);
  assert.equal(head.total.open, 0);
  assert.ok(head.total.attempts > head.calls);
  assert.ok(head.total.delivered > 0);
});

test('Ctrl-C stops sending, closes every connection and reports what was; its exit code says that it proves nothing', async (t) => {
  const engine = await twin(t, { maxNumSeqs: 4 });
  const directory = folder(t);
  const flags = ['--json', '--expect', 'total.calls > 0', '--record', directory];
  const running = start(t, [engine.url, ...OVERLOAD, ...flags]);
  await until(() => engine.stats().live > 5);
  running.child.kill('SIGINT');
  const ended = await running.ended;
  assert.equal(ended.code, 4, ended.stderr);
  const head = told(ended);
  assertBalanced(head);
  assert.equal(head.stopped, true);
  assert.ok(head.total.open > 5, String(head.total.open));
  assert.match(ended.stderr, /stopping: no more is sent/);
  const kept = readRunFolder(join(directory, 'drill-seed-1'));
  assert.ok(kept.attempts.some(({ ending }) => ending === 'stopped'));
  await until(() => engine.stats().live === 0);
});

test('a second Ctrl-C ends at once, without a report', async (t) => {
  const engine = await FakeEngine.start(() => {});
  t.after(() => engine.stop());
  const running = start(t, [engine.url, '--model', 'm', ...QUICK]);
  // The meter does not answer either, so that the end takes a while.
  await engine.calls.next('an attempt', ({ request }) => request.method === 'POST');
  running.child.kill('SIGINT');
  await until(() => /stopping/.test(running.said()));
  running.child.kill('SIGINT');
  const { code, stdout } = await running.ended;
  assert.deepEqual([code, stdout], [1, '']);
});

test('tenants send their own credentials, from the environment or a file, and never on the command line', async (t) => {
  const engine = await FakeEngine.start(({ response }) => response.end('{"id":"x"}'));
  t.after(() => engine.stop());
  const directory = folder(t);
  const [plan, key] = [join(directory, 'plan.yaml'), join(directory, 'key')];
  writeFileSync(key, 'secret-in-a-file\n');
  writeFileSync(
    plan,
    `stages: [{ name: only, rate: { perSecond: 10 }, seconds: 3 }]
clients: [{ tenant: one }, { tenant: two, name: other }]
workload: { promptTokens: { kind: fixed, tokens: 20 } }\n`,
  );
  const flags = ['--model', 'm', '--plan', plan, '--time-scale', '10', '--most-lag', '600'];
  const running = start(t, [engine.url, ...flags, '--key', 'DRILL_KEY', '--key', `two=${key}`], {
    DRILL_KEY: 'secret-in-a-variable',
  });
  assert.equal((await running.ended).code, 0);
  const posts = engine.calls.items.filter(({ request }) => request.method === 'POST');
  assert.deepEqual(
    new Set(posts.map(({ request }) => request.headers.authorization)),
    new Set(['Bearer secret-in-a-variable', 'Bearer secret-in-a-file']),
  );
});

async function until(holds: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 60_000; !holds(); ) {
    assert.ok(Date.now() < deadline, `it does not come: ${holds.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
