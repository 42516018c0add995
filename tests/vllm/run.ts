/**
 * Plays the scenes against a real vLLM 0.30.0 on this machine's CPU, with the gateway in between and without it.
 *
 *   npm run test:vllm -- [--arm gateway|straight|both] [--scene TEXT]… [--serve=FLAG]… [--json FILE]
 *   npm run test:vllm -- --profile [--json FILE]
 *   npm run test:vllm -- --overload DIR [--arms straight,coalesce,deadline,gauges] [--rounds N] [--first-seed S] [--room ROOM]
 *   npm run test:vllm -- --rooms 24,36,48,off [--rounds N]
 *
 * Exit code 1 when a scene with the gateway fails. The arm without it shows what happens otherwise; it cannot fail.
 * With --profile: 1 when the twin's Ĉ is not near the server's, 2 when the server was too unsteady to tell.
 * With --overload: 1 when a round that counts lost a pulse or hold call through the gateway, or made more than 1.05
 * executions a call; 2 when no round counts.
 * With --rooms: what an engine serves through gateways with these rooms, beside what it serves alone.
 */

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { goFirst } from '../support/priority.js';
import { ROOT } from '../support/root.js';
import { startCounter } from './counter.js';
import { type Engine, idle, startEngine } from './engine.js';
import { startGateway } from './gateway.js';
import { broken, observe, type Path, type Row } from './observe.js';
import { lostThroughGateway, OVERLOAD_ARMS, overload, overloadTable } from './overload.js';
import { profileAgainstTwin, told } from './profile.js';
import { roomTable, throughputByRoom } from './rooms.js';
import { type Load, measure, type Natural, SCENES, type Scene } from './scenes.js';
import { table } from './table.js';

type Arm = 'gateway' | 'straight';

const TIMEOUT_SHARE = 0.4;
/** A machine that others use: a scene counts only if the engine was about as fast as when it was measured. */
const STEADY = { least: 0.6, most: 1.2 };
const TRIES = 3;

const say = (text: string): void => {
  process.stderr.write(`${text}\n`);
};
const measured = new Map<Load, Natural>();

async function naturalOf(engine: string, load: Load): Promise<Natural> {
  const known = measured.get(load);
  if (known !== undefined) return known;
  await idle(engine);
  const fresh = await measure(engine, load);
  measured.set(load, fresh);
  return fresh;
}

async function playOnce(path: Path, scene: Scene, arm: Arm, tries: number): Promise<Row> {
  const natural = await naturalOf(path.engine, scene.load);
  const timeoutMs = Math.round(natural.ms * TIMEOUT_SHARE);
  const seen = await observe(path, natural.promptTokens, () =>
    scene.play(path.entry, path.engine, timeoutMs),
  );
  return {
    scene: scene.name,
    client: scene.client,
    naturalMs: natural.ms,
    timeoutMs,
    calls: scene.expected.calls,
    ...seen,
    failures: arm === 'straight' ? [] : [...broken(seen, scene.expected), ...seen.failures],
    tries,
  };
}

async function play(path: Path, scene: Scene, arm: Arm): Promise<Row> {
  for (let tries = 1; ; tries++) {
    const row = await playOnce(path, scene, arm, tries);
    const pace = row.longestMs / (measured.get(scene.load)?.wholeMs ?? Number.NaN);
    // A changed pace makes a client give up or not; it makes no execution more.
    const unsteady =
      row.executions === scene.expected.executions && (pace < STEADY.least || pace > STEADY.most);
    say(
      `${arm}: ${row.scene}; ${row.client}: ${row.failures.length === 0 ? 'done' : row.failures.join('; ')}`,
    );
    if (row.failures.length === 0 || !unsteady || tries === TRIES) return row;
    say(`  the engine needed ${pace.toFixed(2)} of the measured time: measured anew, played again`);
    measured.delete(scene.load);
  }
}

async function playArm(engine: Engine, arm: Arm, scenes: readonly Scene[]): Promise<Row[]> {
  const executions = await startCounter(engine.url);
  const gateway = arm === 'gateway' ? await startGateway(executions.url, values.serve ?? []) : undefined;
  const attempts = await startCounter(gateway?.url ?? executions.url);
  const path = { engine: engine.url, entry: attempts.url, attempts, executions };
  try {
    const rows = [];
    for (const scene of scenes) rows.push(await play(path, scene, arm));
    return rows;
  } finally {
    await attempts.close();
    await gateway?.stop();
    await executions.close();
  }
}

const { values } = parseArgs({
  options: {
    arm: { type: 'string', default: 'both' },
    profile: { type: 'boolean', default: false },
    scene: { type: 'string', multiple: true },
    serve: { type: 'string', multiple: true },
    overload: { type: 'string' },
    arms: { type: 'string', default: OVERLOAD_ARMS.join(',') },
    rounds: { type: 'string', default: '2' },
    'first-seed': { type: 'string', default: '1' },
    room: { type: 'string', default: '48' },
    rooms: { type: 'string' },
    json: { type: 'string' },
  },
});

function install(): void {
  const script = join(ROOT, 'tests', 'vllm', 'install.py');
  if (spawnSync('python3', [script], { stdio: ['ignore', 2, 2] }).status !== 0) {
    throw new Error('tests/vllm/install.py failed');
  }
  say('starting the engine, about a minute');
}

function keep(result: unknown): void {
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(result, undefined, 1)}\n`);
}

async function playScenes(): Promise<number> {
  if (!['gateway', 'straight', 'both'].includes(values.arm)) {
    throw new RangeError('--arm: gateway, straight or both');
  }
  const arms: Arm[] = values.arm === 'both' ? ['straight', 'gateway'] : [values.arm as Arm];
  const wanted = values.scene ?? [''];
  const scenes = SCENES.filter(({ name, client }) =>
    wanted.some((text) => `${name}; ${client}`.includes(text)),
  );
  if (scenes.length === 0) {
    const names = SCENES.map((scene) => `${scene.name}; ${scene.client}`);
    throw new RangeError(`--scene matches none of:\n${names.join('\n')}`);
  }
  install();
  const engine = await startEngine();
  const result: Partial<Record<Arm, Row[]>> = {};
  try {
    // The first calls are slow: their time says nothing.
    for (const load of ['alone', 'eight'] as const) await measure(engine.url, load);
    for (const arm of arms) {
      const rows = await playArm(engine, arm, scenes);
      result[arm] = rows;
      const title = arm === 'gateway' ? 'Through Holdfast' : 'Straight at the engine';
      process.stdout.write(`\n${title}\n\n${table(rows)}\n`);
    }
  } finally {
    await engine.stop();
  }
  keep(result);
  return (result.gateway ?? []).some((row) => row.failures.length > 0) ? 1 : 0;
}

async function compareCapacities(): Promise<number> {
  install();
  const comparison = await profileAgainstTwin(say);
  process.stdout.write(`${told(comparison)}\n`);
  keep(comparison);
  if (!comparison.counts) return 2;
  return comparison.near ? 0 : 1;
}

goFirst(say);
async function playOverload(directory: string): Promise<number> {
  install();
  const arms = values.arms.split(',').map((name) => {
    const arm = OVERLOAD_ARMS.find((each) => each === name);
    if (arm === undefined) throw new RangeError(`--arms: '${name}' is none of ${OVERLOAD_ARMS.join(', ')}`);
    return arm;
  });
  const rounds = await overload({
    directory,
    arms,
    rounds: Number(values.rounds),
    firstSeed: Number(values['first-seed']),
    room: values.room,
    say,
  });
  process.stdout.write(overloadTable(rounds));
  const counting = rounds.filter(({ counts }) => counts);
  if (counting.length === 0) return 2;
  return counting.some(lostThroughGateway) ? 1 : 0;
}

async function compareRooms(rooms: readonly string[]): Promise<number> {
  install();
  const taken = await throughputByRoom({ rooms, rounds: Number(values.rounds), say });
  process.stdout.write(roomTable(taken));
  keep(taken);
  return 0;
}

async function main(): Promise<number> {
  if (values.rooms !== undefined) return await compareRooms(values.rooms.split(','));
  if (values.overload !== undefined) return await playOverload(values.overload);
  return values.profile ? await compareCapacities() : await playScenes();
}

process.exitCode = await main();
