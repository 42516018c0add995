/** What the real engine serves when it is full: alone, and behind a gateway that lets so many executions into it. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { StepSample } from '../../src/core/engine/fit.js';
import { idle, readMeter } from './engine.js';
import { startGateway } from './gateway.js';
import { keepFull, servedWhenFull } from './span.js';
import { paces, recorded, startRecordingEngine } from './steps.js';

/** Clients that each ask again at once: more than any room here holds. */
const CLIENTS = 120;
/** Until the batch is what it stays. */
const FILLING_MS = 8_000;
const WINDOW_MS = 20_000;
/** So many calls straight at the engine before each window: steps that are of one kind in all, so that paces show. */
const SOUNDING = { calls: 24, ms: 5_000 };

export interface RoomThroughput {
  readonly room: string;
  /** Output tokens a second by the engine's own counter, at the machine's mean pace; one for each round. */
  readonly perSecond: readonly number[];
  /** The machine's pace meanwhile, in its mean. */
  readonly paces: readonly number[];
  /** Over what came out without a gateway in the same round; the mean of them. */
  readonly kept: number;
}

export interface RoomSettings {
  /** As `--room` takes them. */
  readonly rooms: readonly string[];
  readonly rounds: number;
  readonly say: (text: string) => void;
}

const ALONE = 'no gateway';

/** Round after round, each room once and the engine alone once, so that a slow minute strikes no room alone. */
export async function throughputByRoom({
  rooms,
  rounds,
  say,
}: RoomSettings): Promise<readonly RoomThroughput[]> {
  const engine = await startRecordingEngine();
  try {
    await servedWhenFull(engine.url);
    const windows: Window[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      for (const room of [ALONE, ...rooms]) {
        const window = await servedThrough(engine.url, room);
        windows.push(window);
        say(`round ${round} of ${rounds}, room ${room}: ${window.perSecond.toFixed(0)} tokens/s`);
      }
    }
    return byRoom(windows);
  } finally {
    await engine.stop();
  }
}

/** What came out of the engine, as it was, and the steps that made it. */
interface Window {
  readonly room: string;
  readonly perSecond: number;
  readonly steps: readonly StepSample[];
}

/** A window beside that of the engine alone in the same round, at one pace. */
function byRoom(windows: readonly Window[]): readonly RoomThroughput[] {
  const pacesOf = paces(windows.map(({ steps }) => steps));
  const taken = windows.map(({ room, perSecond }, at) => {
    const pace = pacesOf[at] ?? Number.NaN;
    return { room, pace, perSecond: perSecond / pace };
  });
  const alone = taken.filter(({ room }) => room === ALONE);
  return [...new Set(taken.map(({ room }) => room))].map((room) => {
    const own = taken.filter((one) => one.room === room);
    const shares = own.map(({ perSecond }, at) => perSecond / (alone[at]?.perSecond ?? Number.NaN));
    return {
      room,
      perSecond: own.map(({ perSecond }) => perSecond),
      paces: own.map(({ pace }) => pace),
      kept: shares.reduce((sum, share) => sum + share, 0) / shares.length,
    };
  });
}

async function servedThrough(engine: string, room: string): Promise<Window> {
  const mark = recorded().length;
  await keepFull(engine, SOUNDING.calls, SOUNDING.ms);
  const gateway = room === ALONE ? undefined : await startGateway(engine, ['--room', room]);
  try {
    const load = keepFull(gateway?.url ?? engine, CLIENTS, FILLING_MS + WINDOW_MS);
    await sleep(FILLING_MS);
    const from = performance.now();
    const before = (await readMeter(engine)).outputTokens;
    await sleep(WINDOW_MS - 1_000);
    const tokens = (await readMeter(engine)).outputTokens - before;
    const seconds = (performance.now() - from) / 1_000;
    const steps = recorded().slice(mark);
    await load;
    return { room, perSecond: tokens / seconds, steps };
  } finally {
    await gateway?.stop();
    await idle(engine);
  }
}

/** As rows of a table in Markdown. */
export function roomTable(taken: readonly RoomThroughput[]): string {
  const rows = taken.map(
    ({ room, perSecond, paces: own, kept }) =>
      `| ${room} | ${perSecond.map((rate) => rate.toFixed(0)).join(', ')} | ${own.map((pace) => pace.toFixed(3)).join(', ')} | ${(kept * 100).toFixed(1)} % |\n`,
  );
  return `| room | tokens/s at the mean pace, round by round | pace | kept |\n| --- | --- | --- | --- |\n${rows.join('')}`;
}
