/** What the real engine serves when it is full: alone, and behind a gateway that lets so many executions into it. */

import { setTimeout as sleep } from 'node:timers/promises';
import { idle, readMeter, startEngine } from './engine.js';
import { startGateway } from './gateway.js';
import { keepFull, servedWhenFull } from './span.js';

/** Clients that each ask again at once: more than any room here holds. */
const CLIENTS = 120;
/** Until the batch is what it stays. */
const FILLING_MS = 8_000;
const WINDOW_MS = 20_000;

export interface RoomThroughput {
  readonly room: string;
  /** Output tokens a second by the engine's own counter, one for each round. */
  readonly perSecond: readonly number[];
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
  const engine = await startEngine();
  try {
    await servedWhenFull(engine.url);
    const taken = new Map<string, number[]>([ALONE, ...rooms].map((room) => [room, []]));
    for (let round = 1; round <= rounds; round += 1) {
      for (const [room, rates] of taken) {
        rates.push(await servedThrough(engine.url, room));
        say(`round ${round} of ${rounds}, room ${room}: ${rates.at(-1)?.toFixed(0)} tokens/s`);
      }
    }
    const alone = taken.get(ALONE) ?? [];
    return [...taken].map(([room, perSecond]) => ({
      room,
      perSecond,
      kept: perSecond.reduce((sum, rate, at) => sum + rate / (alone[at] ?? Number.NaN), 0) / perSecond.length,
    }));
  } finally {
    await engine.stop();
  }
}

async function servedThrough(engine: string, room: string): Promise<number> {
  const gateway = room === ALONE ? undefined : await startGateway(engine, ['--room', room]);
  try {
    const load = keepFull(gateway?.url ?? engine, CLIENTS, FILLING_MS + WINDOW_MS);
    await sleep(FILLING_MS);
    const from = performance.now();
    const before = (await readMeter(engine)).outputTokens;
    await sleep(WINDOW_MS - 1_000);
    const tokens = (await readMeter(engine)).outputTokens - before;
    const seconds = (performance.now() - from) / 1_000;
    await load;
    return tokens / seconds;
  } finally {
    await gateway?.stop();
    await idle(engine);
  }
}

/** As rows of a table in Markdown. */
export function roomTable(taken: readonly RoomThroughput[]): string {
  const rows = taken.map(
    ({ room, perSecond, kept }) =>
      `| ${room} | ${perSecond.map((rate) => rate.toFixed(0)).join(', ')} | ${(kept * 100).toFixed(1)} % |\n`,
  );
  return `| room | tokens/s, round by round | kept |\n| --- | --- | --- |\n${rows.join('')}`;
}
