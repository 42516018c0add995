/**
 * Holdfast beside what else people put in front of engines, all in one run on one machine: requests per second, CPU a
 * request, added latency and memory of held streams, with every answer checked. Writes docs/benchmarks.md and its
 * picture; --help says more.
 */

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, tmpdir, type } from 'node:os';
import { join } from 'node:path';
import { svgFile } from '../../src/core/report/picture.js';
import { type Flags, type Given, readFlags } from '../../src/shell/cli/flags.js';
import { positive, wholeNumber } from '../../src/shell/cli/numbers.js';
import { EXIT, UserError } from '../../src/shell/shared/errors.js';
import { goFirst } from '../../tests/support/priority.js';
import { ROOT } from '../../tests/support/root.js';
import { type Compared, compare, type Extent } from './comparison.js';
import type { Contender } from './contender.js';
import { answers, faults } from './figures.js';
import { BARE_PIPE, DIRECT, HOLDFAST, HOLDFAST_QUIET } from './own.js';
import { pageOf } from './page.js';
import { PEERS } from './peers.js';
import { pictureOf } from './picture.js';
import { comparisonText } from './text.js';
import { Load, startUpstream } from './workers.js';

const FLAGS = {
  quick: { help: 'only direct, the bare pipe and Holdfast, in short windows; writes nothing' },
  rounds: { value: 'N', help: 'how often everything is measured (3; quick: 1)' },
  seconds: { value: 'S', help: 'length of each window (2.2; quick: 1.5)' },
  streams: { value: 'N', help: 'streams held at once (5000; quick: 1000)' },
  only: { value: 'NAME', many: true, help: 'of what is measured, only this; writes nothing' },
  also: { value: 'NAME=URL', many: true, help: 'a gateway that runs already, by the URL of its chat route' },
  json: { help: 'print everything that was measured' },
  help: { help: 'print this and end' },
} as const satisfies Flags;

const USAGE = `Usage: npm run bench:gateways [-- FLAG...]

Measures Holdfast beside other gateways in front of one mock engine, in rounds.

Flags:
${Object.entries(FLAGS)
  .map(([name, flag]) => `  ${`--${name} ${'value' in flag ? flag.value : ''}`.padEnd(18)} ${flag.help}\n`)
  .join('')}
Other gateways are installed into $HOLDFAST_BENCH_CACHE, else into a folder beside the system's temporary files.
Talk goes to stderr. Exit codes: 0, or 4 when answers were not whole; those of others are told in the tables.

Example:
  npm run --silent bench:gateways -- --quick
`;

const QUICK_ONES = [DIRECT, BARE_PIPE, HOLDFAST] as const;
const QUICK: Extent = { rounds: 1, windowMs: 1_500, streams: 1_000 };
const FULL: Extent = { rounds: 3, windowMs: 2_200, streams: 5_000 };
/** Where other gateways are installed, once. */
const CACHE = process.env['HOLDFAST_BENCH_CACHE'] ?? join(tmpdir(), 'holdfast-bench');
const MOST = { rounds: 100, streams: 20_000 } as const;

const PAGE = join(ROOT, 'docs', 'benchmarks.md');
const PICTURES = join(ROOT, 'docs', 'pictures');

const say = (text: string): void => {
  process.stderr.write(`${text}\n`);
};

function extentOf(given: Given<typeof FLAGS>): Extent {
  const base = given.quick === undefined ? FULL : QUICK;
  const [rounds, seconds, streams] = [given.rounds?.[0], given.seconds?.[0], given.streams?.[0]];
  return {
    rounds: rounds === undefined ? base.rounds : wholeNumber(rounds, 'rounds', MOST.rounds),
    windowMs: seconds === undefined ? base.windowMs : positive(seconds, 'seconds') * 1_000,
    streams: streams === undefined ? base.streams : wholeNumber(streams, 'streams', MOST.streams),
  };
}

function running(text: string): Contender {
  const [, name, url] = /^([^=]+)=(http:.+)$/.exec(text) ?? [];
  if (name === undefined || url === undefined || !URL.canParse(url)) {
    throw new UserError(
      'bad_usage',
      `--also must be NAME=http://HOST:PORT/PATH, not ${JSON.stringify(text)}`,
    );
  }
  const started = { url, pid: undefined, headers: {}, stop: () => Promise.resolve() };
  return {
    name,
    about: 'ran already',
    install: () => Promise.resolve('—'),
    start: () => Promise.resolve(started),
  };
}

function chosen(given: Given<typeof FLAGS>): readonly Contender[] {
  const known = given.quick === undefined ? [...QUICK_ONES, HOLDFAST_QUIET, ...PEERS] : QUICK_ONES;
  const also = (given.also ?? []).map(running);
  const only = given.only?.map((name) => {
    const found = known.find((each) => each.name.toLowerCase() === name.toLowerCase());
    if (found !== undefined) return found;
    const names = known.map((each) => JSON.stringify(each.name)).join(', ');
    throw new UserError('bad_usage', `--only must be one of ${names}, not ${JSON.stringify(name)}`);
  });
  return [...(only ?? known), ...also];
}

function machine(): string {
  const load = loadavg()[0]?.toFixed(1) ?? '—';
  const processor = cpus()[0]?.model.trim() ?? 'unknown processor';
  return `${availableParallelism()} cores (${processor}), ${type()} ${release()}, Node ${process.version}, load ${load} before the run.`;
}

function write(all: readonly Compared[], extent: Extent, on: string): void {
  const earlier = existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : undefined;
  mkdirSync(PICTURES, { recursive: true });
  writeFileSync(join(PICTURES, 'gateways.svg'), svgFile(pictureOf(all)));
  writeFileSync(PAGE, pageOf({ all, extent, machine: on, earlier }));
  say(`wrote ${PAGE} and its picture`);
}

function notWhole(each: Compared): boolean {
  return each.leftOut !== undefined || faults(each) > 0 || answers(each) === 0;
}

async function main(): Promise<number> {
  const given = readFlags('bench:gateways', FLAGS, process.argv.slice(2));
  if (given.help !== undefined) {
    process.stdout.write(USAGE);
    return EXIT.ok;
  }
  const extent = extentOf(given);
  const contenders = chosen(given);
  const [partial, on] = [[given.quick, given.only, given.also].some((each) => each !== undefined), machine()];
  goFirst(say);
  mkdirSync(CACHE, { recursive: true });
  const workspace = mkdtempSync(join(tmpdir(), 'holdfast-gateways-'));
  process.on('exit', () => rmSync(workspace, { recursive: true, force: true }));
  const upstream = await startUpstream();
  const load = new Load();
  try {
    const place = { upstream: upstream.url, workspace, cache: CACHE };
    const all = await compare(contenders, { rig: { load, upstream }, place, extent, say });
    process.stdout.write(
      given.json === undefined ? comparisonText(all) : `${JSON.stringify(all, null, 2)}\n`,
    );
    if (!partial) write(all, extent, on);
    const broken = all.filter(({ name }) => !PEERS.some((peer) => peer.name === name)).filter(notWhole);
    for (const each of broken) say(`${each.name}: ${faults(each)} requests without a whole answer`);
    return broken.length > 0 ? EXIT.invalid : EXIT.ok;
  } finally {
    load.stop();
    upstream.stop();
  }
}

// What was started ends with this process, whatever ends it.
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => process.exit(EXIT.failed));
try {
  process.exitCode = await main();
} catch (error) {
  say(error instanceof UserError ? error.message : String((error as Error).stack));
  process.exitCode = error instanceof UserError ? error.exitCode : EXIT.failed;
}
