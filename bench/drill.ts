/**
 * What the drill costs. First ten thousand calls through gateway and twin, three processes on the cores there are; then
 * the drill beside vegeta at one open-loop rate against one plain server. Writes docs/benchmarks/drill.md.
 *
 *   npm run bench:drill
 *
 * vegeta is looked for on the PATH and in $GOBIN; where it is not, the page says so.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { quantile } from '../src/core/drill/outcome.js';
import type { RunHead } from '../src/core/drill/run.js';

const MAIN = fileURLToPath(new URL('../src/shell/cli/main.js', import.meta.url));
const SERVER = fileURLToPath(new URL('drill-server.js', import.meta.url));
const PAGE = fileURLToPath(new URL('../../docs/benchmarks/drill.md', import.meta.url));
const RATE = 200;
const SECONDS = 20;
const PROMPT_TOKENS = 2_000;

const workspace = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));

interface Server {
  readonly child: ChildProcess;
  readonly url: string;
}

interface Ended {
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
  /** User and system time of the process, seconds. */
  readonly cpuSeconds: number;
}

/** Starts a server and waits for the address on its stderr, which is read to the end: it logs every attempt there. */
async function serve(...args: string[]): Promise<Server> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const url = await new Promise<string>((resolve, reject) => {
    let said: string | undefined = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (said === undefined) return;
      said += text;
      const found = /"url":"(http:[^"]+)"/.exec(said)?.[1];
      if (found === undefined) return;
      said = undefined;
      resolve(found);
    });
    child.once('exit', () => reject(new Error(`no server: ${said ?? ''}`)));
  });
  return { child, url };
}

async function stop({ child }: Server): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

/** Seconds of CPU that a process has used so far; NaN where the system does not tell. */
function cpuSecondsOf({ child }: Server): number {
  try {
    const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return Number.NaN;
  }
}

/** Runs a command to its end under a shell that tells its times. */
async function run(command: string, ...args: string[]): Promise<Ended> {
  const child = spawn('sh', ['-c', '"$0" "$@"; code=$?; times >&2; exit $code', command, ...args]);
  const pieces: Buffer[] = [];
  let stderr = '';
  child.stdout.on('data', (piece: Buffer) => pieces.push(piece));
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  const times = stderr.trim().split('\n').at(-1) ?? '';
  const cpuSeconds = [...times.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds),
    0,
  );
  return { code, stdout: Buffer.concat(pieces), stderr, cpuSeconds };
}

/** The published proportions in small: a pulse of 2.7 Ĉ that leaves one and a half deadlines of backlog. */
async function tenThousand(): Promise<string> {
  const twin = await serve(MAIN, 'twin', '--port', '0', '--max-num-seqs', '16');
  const gateway = await serve(MAIN, 'serve', '--port', '0', '--upstream', twin.url);
  const stages = 'base 60/s 20s, pulse 270/s 18s, hold 60/s 66s';
  const flags = ['--prompt-tokens', '200', '--response-tokens', '20', '--deadline', '20', '--seed', '1'];
  process.stderr.write('ten thousand calls through gateway and twin\n');
  const asked = ['--stages', stages, ...flags, '--engine', twin.url, '--json'];
  const ended = await run(process.execPath, MAIN, 'drill', gateway.url, ...asked);
  const [gatewayCpu, twinCpu] = [cpuSecondsOf(gateway), cpuSecondsOf(twin)];
  await Promise.all([stop(gateway), stop(twin)]);
  const head = JSON.parse(ended.stdout.toString()) as RunHead;
  const { total, generator, invalid } = head;
  const said = invalid.length === 0 ? 'valid: the drill kept up' : `**invalid**: ${invalid.join('; ')}`;
  return `## Ten thousand calls

\`${stages}\`, prompts of 200 tokens, responses of 20, deadline 20 s, straight through the gateway to the twin (16 sequences).

| calls | attempts | executions | delivered | sent late, p50 / p99 / most | event loop late, p99 / most | CPU s: drill | gateway | twin |
| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| ${head.calls} | ${total.attempts} | ${total.executions ?? '—'} | ${total.delivered} | ${generator?.sendMs.p50} / ${generator?.sendMs.p99} / ${generator?.sendMs.most} ms | ${generator?.loopMs.p99} / ${generator?.loopMs.most} ms | ${ended.cpuSeconds.toFixed(1)} | ${gatewayCpu.toFixed(1)} | ${twinCpu.toFixed(1)} |

The run was ${said}.
`;
}

interface Row {
  readonly tool: string;
  readonly sent: number;
  readonly lateMs: readonly number[];
  readonly cpuSeconds: number;
}

async function byDrill(url: string): Promise<Row> {
  const asked = ['--model', 'm', '--plan', evenPlan(), '--json', '--record', workspace];
  const ended = await run(process.execPath, MAIN, 'drill', url, ...asked);
  if (ended.stdout.length === 0) throw new Error(ended.stderr);
  const attempts = readFileSync(join(workspace, 'drill-seed-1', 'attempts.jsonl'), 'utf8')
    .trim()
    .split('\n');
  const lateMs = attempts.map((line) => {
    const { plannedMs, sentMs } = JSON.parse(line) as { plannedMs: number; sentMs: number };
    return sentMs - plannedMs;
  });
  return { tool: 'holdfast drill', sent: attempts.length, lateMs, cpuSeconds: ended.cpuSeconds };
}

function evenPlan(): string {
  const path = join(workspace, 'plan.json');
  const plan = {
    stages: [{ name: 'even', rate: { perSecond: RATE }, seconds: SECONDS }],
    arrivals: 'even',
    workload: { promptTokens: { kind: 'fixed', tokens: PROMPT_TOKENS }, sharedPrefixTokens: 0 },
  };
  writeFileSync(path, JSON.stringify(plan));
  return path;
}

/** Undefined where there is no vegeta. */
async function byVegeta(url: string): Promise<Row | undefined> {
  const places = ['vegeta', join(process.env['GOBIN'] ?? '', 'vegeta')];
  let vegeta: string | undefined;
  for (const place of places) if ((await run(place, '-version')).code === 0) vegeta ??= place;
  if (vegeta === undefined) return undefined;
  const [targets, body, results] = ['targets', 'body.json', 'results.bin'].map((name) =>
    join(workspace, name),
  );
  if (targets === undefined || body === undefined || results === undefined) return undefined;
  const prompt = Array.from({ length: PROMPT_TOKENS }, (_, at) => 100 + (at % 156));
  writeFileSync(body, JSON.stringify({ model: 'm', prompt, max_tokens: 300, ignore_eos: true }));
  writeFileSync(targets, `POST ${url}/v1/completions\ncontent-type: application/json\n@${body}\n`);
  const attack = ['-rate', String(RATE), '-duration', `${SECONDS}s`, '-targets', targets, '-output', results];
  const { cpuSeconds } = await run(vegeta, 'attack', ...attack, '-timeout', '120s');
  const lines = (await run(vegeta, 'encode', '--to', 'json', results)).stdout.toString().trim().split('\n');
  const hits = lines.map((line) => JSON.parse(line) as { seq: number; timestamp: string });
  const at = (text: string): number =>
    Date.parse(`${text.slice(0, 19)}Z`) + Number(`0.${/\.(\d+)/.exec(text)?.[1] ?? '0'}`) * 1_000;
  // What vegeta writes down has no plan beside it: the earliest possible start is where its hits are least late.
  const offsets = hits.map(({ seq, timestamp }) => at(timestamp) - (seq * 1_000) / RATE);
  const began = offsets.reduce((least, each) => Math.min(least, each), Number.POSITIVE_INFINITY);
  return { tool: 'vegeta 12', sent: hits.length, lateMs: offsets.map((each) => each - began), cpuSeconds };
}

function rowText({ tool, sent, lateMs, cpuSeconds }: Row): string {
  const sorted = lateMs.toSorted((a, b) => a - b);
  const late = [0.5, 0.99, 1].map((q) => quantile(sorted, q).toFixed(2)).join(' | ');
  return `| ${tool} | ${sent} | ${late} | ${cpuSeconds.toFixed(2)} |\n`;
}

async function sideBySide(): Promise<string> {
  const server = await serve(SERVER);
  process.stderr.write(`drill and vegeta at ${RATE} calls/s\n`);
  const drill = await byDrill(server.url);
  const vegeta = await byVegeta(server.url);
  const again = await byDrill(server.url);
  await stop(server);
  const missing =
    '| vegeta | not installed here: go install github.com/tsenart/vegeta/v12@v12.12.0 | | | | |\n';
  return `## Beside vegeta

${RATE} requests/s, evenly spaced, for ${SECONDS} s against one plain node:http server that answers at once; bodies of ${PROMPT_TOKENS} token ids. Late: from the moment a request was due to the moment its sending began, ms. The drill has a prompt of its own for each call, deadlines and a record of each attempt; vegeta sends one body. CPU includes start-up.

| tool | sent | late, p50 | p99 | most | CPU s |
| --- | ---: | ---: | ---: | ---: | ---: |
${rowText(drill)}${vegeta === undefined ? missing : rowText(vegeta)}${rowText({ ...again, tool: 'holdfast drill, again' })}`;
}

const load = loadavg()[0]?.toFixed(1) ?? '—';
const machine = `${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), Node ${process.version}, load ${load} before the run`;
const page = `# What the drill costs

Written by \`npm run bench:drill\`. ${machine}.

${await tenThousand()}
${await sideBySide()}`;
rmSync(workspace, { recursive: true });
mkdirSync(join(PAGE, '..'), { recursive: true });
writeFileSync(PAGE, page);
process.stdout.write(page);
