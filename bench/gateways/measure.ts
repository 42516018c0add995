/** One measurement each: the greatest rate, the latency at a rate, the memory of held streams. */

import { setTimeout as delay } from 'node:timers/promises';
import type { Started } from './contender.js';
import type { Asked, Taken } from './job.js';
import { cpuSecondsOf, residentBytesOf, treeOf } from './processes.js';
import type { Load, Upstream } from './workers.js';
import { type AnswerKind, HEADERS, WORKLOAD, type Workload } from './workload.js';

const SETTLE_MS = 1_000;
const HOLD_LIMIT_MS = 25_000;
const HOLD_BODY_BYTES = 1_024;
const HOLD_WARM = { warmMs: 500, ms: 500, connections: 32 } as const;

export interface Rig {
  readonly load: Load;
  readonly upstream: Upstream;
}

export interface RateTaken {
  readonly perSecond: number;
  readonly taken: Taken;
  /** Seconds of CPU per 1,000 answers: of the contender's processes, of the load and of the upstream. */
  readonly cpu: { readonly contender: number; readonly load: number; readonly upstream: number };
  /** Share of one core that load and upstream were busy. */
  readonly busy: { readonly load: number; readonly upstream: number };
  readonly residentBytes: number;
}

export interface Window {
  readonly warmMs: number;
  readonly ms: number;
}

export async function rateOf(
  rig: Rig,
  started: Started,
  workload: Workload,
  window: Window,
): Promise<RateTaken> {
  const pids = [started.pid === undefined ? [] : treeOf(started.pid), [rig.load.pid], [rig.upstream.pid]];
  const read = (): number[] => pids.map((each) => cpuSecondsOf(each));
  const { connections } = workload;
  const job = { kind: 'closed', asked: askedOf(started, workload), connections, ...window } as const;
  const readings: number[][] = [];
  const taken = await rig.load.run(job, () => readings.push(read()));
  const [before, after] = readings;
  const used = pids.map((_, at) => (after?.[at] ?? Number.NaN) - (before?.[at] ?? Number.NaN));
  const [contender = Number.NaN, load = Number.NaN, upstream = Number.NaN] = used;
  const thousands = taken.answers / 1_000;
  return {
    perSecond: taken.answers / taken.seconds,
    taken,
    cpu: { contender: contender / thousands, load: load / thousands, upstream: upstream / thousands },
    busy: { load: load / taken.seconds, upstream: upstream / taken.seconds },
    residentBytes: residentBytesOf(pids[0] ?? []),
  };
}

/** Open loop; the same seed gives the same moments, whoever is measured. */
export async function latencyAt(
  rig: Rig,
  started: Started,
  workload: Workload,
  plan: Window & { readonly ratePerSecond: number; readonly seed: number },
): Promise<Taken> {
  return rig.load.run({ kind: 'open', asked: askedOf(started, workload), ...plan });
}

export interface HeldTaken {
  /** How many streams were asked for. */
  readonly asked: number;
  readonly taken: Taken;
  /** Of a process that has answered some requests, and of the same with the streams open. */
  readonly residentBytes: { readonly before: number; readonly held: number };
  /** Between the two, for each stream that was open. */
  readonly bytesPerStream: number;
}

/** `started` should be fresh: memory that an earlier load left behind would hide what streams take. */
export async function heldBy(rig: Rig, started: Started, streams: number): Promise<HeldTaken> {
  const resident = (): number => residentBytesOf(started.pid === undefined ? [] : treeOf(started.pid));
  await rig.load.run({ kind: 'closed', asked: askedOf(started, WORKLOAD.stream), ...HOLD_WARM });
  await delay(SETTLE_MS);
  const before = resident();
  const asked = askedOf(started, { answer: 'hold', bodyBytes: HOLD_BODY_BYTES });
  const taken = await rig.load.run({ kind: 'hold', asked, streams, limitMs: HOLD_LIMIT_MS });
  await delay(SETTLE_MS);
  const held = resident();
  await rig.load.run({ kind: 'release' });
  return {
    asked: streams,
    taken,
    residentBytes: { before, held },
    bytesPerStream: taken.whole === 0 ? Number.NaN : (held - before) / taken.whole,
  };
}

function askedOf(
  { url, headers }: Started,
  { answer, bodyBytes }: { readonly answer: AnswerKind; readonly bodyBytes: number },
): Asked {
  const { hostname, port, pathname } = new URL(url);
  return {
    target: { host: hostname, port: Number(port) },
    path: pathname,
    headers: { ...HEADERS, ...headers },
    answer,
    bodyBytes,
  };
}
