/** An arm of the trial played over sockets: a twin and a gateway as processes, the drill's clients here, one scaled clock. */

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Plan } from '../../src/core/drill/plan.js';
import type { RunRecord } from '../../src/core/drill/run.js';
import { armOf } from '../../src/core/trial/arms.js';
import { settingsOf } from '../../src/core/trial/scenario.js';
import { LiveRun } from '../../src/shell/probe/live-run.js';
import { ROOT } from '../support/root.js';

const MAIN = join(ROOT, 'dist', 'src', 'shell', 'cli', 'main.js');
const GATEWAY = join(ROOT, 'dist', 'tests', 'agreement', 'gateway-process.js');
const MODEL = 'model';
/** Of the plan: how late the gateway's event loop may be. */
const MOST_LAG_MS = 200;

export interface LiveArm {
  readonly arm: string;
  readonly plan: Plan;
  readonly seed: number;
  /** Seconds of the plan a second. */
  readonly timeScale: number;
}

export interface LiveResult {
  readonly run: RunRecord;
  /** Why the run says nothing of gateway or twin: one of the processes was late. */
  readonly invalid: readonly string[];
}

type Child = ChildProcessByStdio<null, Readable, Readable>;

/** Plays the arm's control and engine settings as a trial would, but through HTTP. */
export async function playLive({ arm, plan, seed, timeScale }: LiveArm): Promise<LiveResult> {
  const settings = settingsOf(arm, seed, { plan });
  const twin = start([MAIN, 'twin', '--port', '0', '--time-scale', String(timeScale), ...twinFlags(arm)]);
  try {
    const engine = await addressIn(twin.stderr);
    const { capacity, control } = settings;
    const inFront = { port: 0, upstreams: [{ url: engine }], control: { capacity, ...control } };
    const gateway = start([GATEWAY, JSON.stringify(inFront), String(timeScale)]);
    try {
      const url = await addressIn(gateway.stdout);
      const live = new LiveRun({
        name: arm,
        url: new URL(url),
        engines: [new URL(engine)],
        plan: settings.plan,
        seed,
        capacity,
        model: MODEL,
        api: 'completions',
        prompts: 'characters',
        vocabulary: 32_000,
        salt: '',
        plain: false,
        credential: (tenant) => `key-of-${tenant}`,
        timeScale,
      });
      const { run } = await live.run();
      const late = await lagOf(gateway);
      const invalid = [...run.head.invalid];
      if (late.p99Ms * timeScale > MOST_LAG_MS) {
        invalid.push(`1 % of the time the gateway was ${late.p99Ms.toFixed(1)} ms late or more`);
      }
      return { run, invalid };
    } finally {
      gateway.kill('SIGKILL');
    }
  } finally {
    twin.kill('SIGKILL');
  }
}

/** The arm's engine in the twin's flags; an arm with a setting that has none here is refused. */
function twinFlags(name: string): readonly string[] {
  const arm = armOf(name);
  if (arm === undefined) throw new RangeError(`there is no arm ${name}`);
  const flags: Readonly<Record<string, string>> = {
    maxNumQueuedReqs: '--max-num-queued-reqs',
    maxNumBatchedTokens: '--max-num-batched-tokens',
  };
  const changed = Object.entries(arm.engine).flatMap(([setting, value]) => {
    const flag = flags[setting];
    if (flag === undefined) throw new RangeError(`the twin has no flag here for ${setting} of ${name}`);
    return [flag, String(value)];
  });
  return ['--profile', arm.profile, '--served-model-name', MODEL, ...changed];
}

function start(args: readonly string[]): Child {
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
}

/** The `url` of the first line that has one; the rest is read and dropped. */
async function addressIn(stream: Readable): Promise<string> {
  const lines = createInterface({ input: stream });
  for await (const line of lines) {
    const url = /"url":"(http:[^"]+)"/.exec(line)?.[1];
    if (url === undefined) continue;
    stream.resume();
    return url;
  }
  throw new Error('a server ended before it listened');
}

async function lagOf(gateway: Child): Promise<{ readonly p99Ms: number; readonly mostMs: number }> {
  let text = '';
  gateway.stdout.on('data', (piece: Buffer) => {
    text += piece.toString();
  });
  gateway.kill('SIGTERM');
  await once(gateway, 'close');
  return JSON.parse(text.trim()) as { p99Ms: number; mostMs: number };
}
