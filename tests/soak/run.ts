/**
 * Mixed load through a real gateway for a while, and whether its memory stays where it is.
 *
 *   npm run soak -- [--minutes N] [--seed S] [--lanes N] [--every SECONDS] [--warm-up MINUTES] [--json]
 *
 * Results go to stdout, a line a sample to stderr. Exit code 0: every law held and memory is flat; 1: a law did not
 * hold; 2: a flag does not fit; 3: memory grows; 4: the run was too short or too uneven to tell.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Random } from '../../src/core/chance/random.js';
import { EXIT, type ExitCode } from '../../src/shell/shared/errors.js';
import { Client, emptyTally, type Tally } from './clients.js';
import { startEngine } from './engine.js';
import { brokenLaws, held } from './laws.js';
import { type Slope, slopeOf, type Verdict, verdictOf } from './slope.js';
import { type Sample, Subject } from './subject.js';

/** Steepest slopes that are called flat, kilobytes a minute: 3.6 MB and 30 MB an hour. */
const MOST_LIVE = 60;
const MOST_RESIDENT = 500;
/** The load is over, and what is kept for clients runs out: longest wait for it, milliseconds. */
const SETTLE_MS = 30_000;
const FORGET_MS = 150_000;
/** A run shorter than this does not wait until calls are forgotten, minutes. */
const REMEMBERS_BELOW = 2;
const HELP = `npm run soak -- [flag]...

Plays answers, streams, departures, retries, faults and slow readers through holdfast serve, and says whether its
memory stays where it is: live (V8's heap and what is outside of it, after a collection) below ${MOST_LIVE} kB a minute, resident
below ${MOST_RESIDENT}, with the whole of a 95 % confidence interval (tests/soak/slope.ts has the formula).

  --minutes N     length of the load (30)
  --seed S        of everything that is drawn (from the clock)
  --lanes N       clients at once (24)
  --every S       seconds between samples (10)
  --warm-up N     minutes that are not counted (a fifth of the load, at least 1.5)
  --json          print the result as JSON
  --plant-leak    let the gateway leak, to see that it is found

Example: npm run soak -- --minutes 3 --seed 7
`;
/** Keeps 64 kB a second for good: loaded into the gateway before anything else. */
const LEAK =
  'data:text/javascript,const kept=[];setInterval(()=>kept.push(Array.from({length:8192},Math.random)),1000).unref();globalThis.kept=kept;';

interface Options {
  readonly minutes: number;
  readonly seed: number;
  readonly lanes: number;
  readonly everyMs: number;
  readonly warmUpMinutes: number;
  readonly json: boolean;
  readonly leak: boolean;
}

interface Result {
  readonly seed: number;
  readonly minutes: number;
  readonly attempts: number;
  readonly scenes: Tally['scenes'];
  readonly statuses: Tally['statuses'];
  readonly warm_up_minutes: number;
  readonly live: { readonly slope: Slope | undefined; readonly most: number; readonly verdict: Verdict };
  readonly resident: { readonly slope: Slope | undefined; readonly most: number; readonly verdict: Verdict };
  readonly broken: readonly string[];
  readonly samples: readonly Sample[];
}

function options(): Options {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    options: {
      minutes: { ...text, default: '30' },
      seed: { ...text, default: String(Date.now() % 1_000_000) },
      lanes: { ...text, default: '24' },
      every: { ...text, default: '10' },
      'warm-up': text,
      json: flag,
      'plant-leak': flag,
      help: flag,
    },
  });
  if (values.help) {
    process.stdout.write(
      HELP.replace('{live}', String(MOST_LIVE)).replace('{resident}', String(MOST_RESIDENT)),
    );
    process.exit(EXIT.ok);
  }
  const minutes = Number(values.minutes);
  const warmUpMinutes = Number(values['warm-up'] ?? Math.max(1.5, minutes / 5));
  const numbers = {
    minutes,
    seed: Number(values.seed),
    lanes: Number(values.lanes),
    every: Number(values.every),
  };
  for (const [name, value] of Object.entries({ ...numbers, 'warm-up': warmUpMinutes })) {
    if (Number.isFinite(value) && value >= 0 && (name === 'seed' || name === 'warm-up' || value > 0))
      continue;
    throw new TypeError(`--${name} takes a positive number, such as --${name} 3`);
  }
  return {
    minutes,
    seed: numbers.seed,
    lanes: numbers.lanes,
    everyMs: numbers.every * 1_000,
    warmUpMinutes,
    json: values.json,
    leak: values['plant-leak'],
  };
}

async function soak(chosen: Options): Promise<Result> {
  const { minutes, seed, lanes, everyMs } = chosen;
  const engine = await startEngine();
  const subject = await Subject.start(engine.url, chosen.leak ? ['--import', LEAK] : []);
  const before = await subject.sample(performance.now());
  const tally = emptyTally();
  const broken = new Set<string>();
  const samples: Sample[] = [];
  const over = new AbortController();
  const startedAt = performance.now();
  const playing = Array.from({ length: lanes }, (_, lane) =>
    new Client(subject.served.url, new Random(seed, `lane ${lane}`), tally).run(over.signal),
  );
  while (performance.now() - startedAt < minutes * 60_000) {
    await sleep(Math.min(everyMs, Math.max(1, minutes * 60_000 - (performance.now() - startedAt))));
    const sample = await subject.sample(startedAt);
    samples.push(sample);
    for (const law of brokenLaws(await subject.families())) broken.add(law);
    say(sample);
  }
  over.abort();
  await Promise.all(playing);
  for (const left of await settled(subject, before, minutes)) broken.add(`still held: ${left}`);
  for (const law of brokenLaws(await subject.families())) broken.add(law);
  for (const seen of tally.broken) broken.add(seen);
  const attempts = samples.at(-1)?.attempts ?? 0;
  if (attempts === 0) broken.add('nothing was asked');
  const code = await subject.stop();
  if (code !== EXIT.ok) broken.add(`the gateway ended with ${code}: ${subject.served.log().slice(-1_000)}`);
  await engine.stop();
  const counted = samples.filter(({ seconds }) => seconds >= chosen.warmUpMinutes * 60);
  return {
    seed,
    minutes,
    attempts,
    scenes: tally.scenes,
    statuses: tally.statuses,
    warm_up_minutes: chosen.warmUpMinutes,
    live: judged(counted, ({ liveBytes }) => liveBytes, MOST_LIVE),
    resident: judged(counted, ({ residentBytes }) => residentBytes, MOST_RESIDENT),
    broken: [...broken],
    samples: [before, ...samples],
  };
}

/** Waits until nothing is held any more, and says what still is. */
async function settled(subject: Subject, before: Sample, minutes: number): Promise<readonly string[]> {
  const remembers = minutes < REMEMBERS_BELOW;
  const until = performance.now() + (remembers ? SETTLE_MS : FORGET_MS);
  for (;;) {
    const left = held(await subject.sample(performance.now()), before.handles, remembers);
    if (left.length === 0 || performance.now() > until) return left;
    await sleep(500);
  }
}

function judged(samples: readonly Sample[], of: (sample: Sample) => number, most: number): Result['live'] {
  const readings = samples.map((sample) => ({ minutes: sample.seconds / 60, value: of(sample) / 1_000 }));
  const slope = slopeOf(readings);
  return { slope, most, verdict: verdictOf(slope, most) };
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

function say({ seconds, residentBytes, liveBytes, handles, attempts, gauges }: Sample): void {
  const line = gauges['holdfast_line_entries'];
  process.stderr.write(
    `${seconds.toFixed(0)} s: ${attempts} attempts, live ${megabytes(liveBytes)}, resident ${megabytes(residentBytes)}, ${handles ?? '?'} files, ${line} in line, ${gauges['holdfast_calls_open']} calls\n`,
  );
}

function report({ live, resident, broken, scenes, statuses, ...rest }: Result): string {
  const lines = [
    `seed ${rest.seed}, ${rest.minutes} minutes of load, the first ${rest.warm_up_minutes.toFixed(1)} not counted: ${rest.attempts} attempts`,
    ...Object.entries({ live, resident }).map(([name, { slope, most, verdict }]) => {
      if (slope === undefined) return `${name} memory: too few samples to tell`;
      const [at, low, high] = [slope.perMinute, slope.low, slope.high].map((value) => value.toFixed(1));
      return `${name} memory: ${at} kB a minute, 95 % from ${low} to ${high} (${slope.readings} samples); flat is at most ${most}: ${verdict}`;
    }),
    `scenes: ${listed(scenes)}`,
    `answers: ${listed(statuses)}`,
    ...(broken.length === 0 ? ['every law held'] : broken.map((law) => `a law does not hold: ${law}`)),
  ];
  return `${lines.join('\n')}\n`;
}

function listed(counts: Readonly<Record<string, number>>): string {
  const sorted = Object.entries(counts).toSorted(([, a], [, b]) => b - a);
  return sorted.map(([name, count]) => `${name} ${count}`).join(', ');
}

function exitCode({ broken, live, resident }: Result): ExitCode {
  if (broken.length > 0) return EXIT.failed;
  const verdicts = new Set([live.verdict, resident.verdict]);
  if (verdicts.has('grows')) return EXIT.unmet;
  return verdicts.has('undecided') ? EXIT.invalid : EXIT.ok;
}

async function main(): Promise<ExitCode> {
  let chosen: Options;
  try {
    chosen = options();
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    return EXIT.usage;
  }
  process.stderr.write(`seed ${chosen.seed}, ${chosen.minutes} minutes, ${chosen.lanes} clients at once\n`);
  const result = await soak(chosen);
  process.stdout.write(chosen.json ? `${JSON.stringify(result)}\n` : report(result));
  return exitCode(result);
}

// So that the gateway is not left behind.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(EXIT.failed));
process.exit(await main());
