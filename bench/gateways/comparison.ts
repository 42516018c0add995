/** Everything once a round, in turn: whoever is measured meets the same minutes of a machine that is not quiet. */

import type { Contender, Place, Started } from './contender.js';
import { median } from './figures.js';
import type { Taken } from './job.js';
import { type HeldTaken, heldBy, latencyAt, type RateTaken, type Rig, rateOf } from './measure.js';
import { DIRECT, HOLDFAST_NAME } from './own.js';
import { WORKLOAD, WORKLOADS, type WorkloadName } from './workload.js';

export interface Extent {
  readonly rounds: number;
  /** Length of each window, milliseconds. */
  readonly windowMs: number;
  /** Streams held at once for the measurement of memory. */
  readonly streams: number;
}

/** At a planned rate, and at the same rate straight at the upstream, one after the other. */
export interface LatencyTaken {
  readonly ratePerSecond: number;
  readonly through: Taken;
  readonly direct: Taken;
}

export interface Compared {
  readonly name: string;
  readonly about: string;
  readonly version: string | undefined;
  /** Why there is nothing of it. */
  readonly leftOut: string | undefined;
  /** One for each round. */
  readonly rates: Readonly<Record<WorkloadName, RateTaken[]>>;
  readonly latencies: Readonly<Record<WorkloadName, LatencyTaken[]>>;
  held: HeldTaken | string | undefined;
}

interface Entry extends Compared {
  readonly contender: Contender;
  readonly started: Started;
}

/** Before the first window of each workload, as a share of it, so that compilers and pools are warm; and before others. */
const WARM_UP = 0.7;
const WARM = 0.2;
/** A contender whose greatest rate is not so much above the common one is measured at half of its own. */
const HEADROOM = 1.25;

export type Say = (text: string) => void;

export interface Parts {
  readonly rig: Rig;
  readonly place: Place;
  readonly extent: Extent;
  readonly say: Say;
}

/** Resolves with one entry a contender, in their order. */
export async function compare(contenders: readonly Contender[], parts: Parts): Promise<readonly Compared[]> {
  const all: Compared[] = [];
  const entries: Entry[] = [];
  for (const contender of contenders) {
    const ready = await readied(contender, parts);
    if ('started' in ready) entries.push(ready);
    all.push(ready);
  }
  try {
    await greatestRates(entries, parts);
    await latencies(entries, parts);
  } finally {
    for (const { started } of entries) await started.stop();
  }
  for (const entry of entries) await held(entry, parts);
  return all;
}

async function readied(contender: Contender, { place, say }: Parts): Promise<Compared | Entry> {
  const { name, about } = contender;
  const blank = { rates: perWorkload<RateTaken>(), latencies: perWorkload<LatencyTaken>(), held: undefined };
  let version: string | undefined;
  try {
    say(`${name}: installing and starting`);
    version = await contender.install(place);
    const started = await contender.start(place);
    return { name, about, version, leftOut: undefined, ...blank, contender, started };
  } catch (error) {
    const leftOut = (error as Error).message;
    say(`${name}: left out: ${leftOut}`);
    return { name, about, version, leftOut, ...blank };
  }
}

function perWorkload<Value>(): Record<WorkloadName, Value[]> {
  return { '1 kB': [], '48 kB': [], stream: [] };
}

async function greatestRates(entries: readonly Entry[], { rig, extent, say }: Parts): Promise<void> {
  for (let round = 1; round <= extent.rounds; round += 1) {
    for (const workload of WORKLOADS) {
      for (const { name, started, rates } of entries) {
        const warmMs = (round === 1 ? WARM_UP : WARM) * extent.windowMs;
        const taken = await rateOf(rig, started, WORKLOAD[workload], { warmMs, ms: extent.windowMs });
        rates[workload].push(taken);
        const faults = taken.taken.faults === 0 ? '' : `; ${faultText(taken.taken)}`;
        say(
          `round ${round} of ${extent.rounds}, ${workload}: ${name} ${taken.perSecond.toFixed(0)}/s${faults}`,
        );
      }
    }
  }
}

async function latencies(entries: readonly Entry[], { rig, extent, say }: Parts): Promise<void> {
  const direct = await DIRECT.start({ upstream: rig.upstream.url, workspace: '', cache: '' });
  for (let round = 1; round <= extent.rounds; round += 1) {
    for (const workload of WORKLOADS) {
      const common = commonRate(entries, workload);
      const straight = new Map<number, Taken>();
      for (const { name, started, rates, latencies: its } of entries) {
        const own = greatest(rates[workload]);
        if (name === DIRECT.name || !(own > 0)) continue;
        const ratePerSecond = own >= HEADROOM * common ? common : own / 2;
        const plan = { ratePerSecond, seed: round, warmMs: WARM * extent.windowMs, ms: extent.windowMs };
        const through = await latencyAt(rig, started, WORKLOAD[workload], plan);
        const known = straight.get(ratePerSecond);
        const beside = known ?? (await latencyAt(rig, direct, WORKLOAD[workload], plan));
        straight.set(ratePerSecond, beside);
        its[workload].push({ ratePerSecond, through, direct: beside });
        const added = (through.endMs.p50 ?? Number.NaN) - (beside.endMs.p50 ?? Number.NaN);
        const at = `at ${ratePerSecond.toFixed(0)}/s`;
        const faults = through.faults === 0 ? '' : `; ${faultText(through)}`;
        say(
          `round ${round} of ${extent.rounds}, ${workload} ${at}: ${name} adds ${added.toFixed(2)} ms${faults}`,
        );
      }
    }
  }
}

/** Half of what Holdfast can; without it, half of what the slowest can. */
function commonRate(entries: readonly Entry[], workload: WorkloadName): number {
  const able = entries.filter(({ rates }) => greatest(rates[workload]) > 0);
  const holdfast = able.find(({ name }) => name === HOLDFAST_NAME);
  const all = able.map(({ rates }) => greatest(rates[workload]));
  return (holdfast === undefined ? Math.min(...all) : greatest(holdfast.rates[workload])) / 2;
}

function greatest(rates: readonly RateTaken[]): number {
  return median(rates.map(({ perSecond }) => perSecond));
}

/** On a fresh process: what an earlier load left behind would hide what streams take. */
async function held(entry: Entry, { rig, place, extent, say }: Parts): Promise<void> {
  const { name, contender } = entry;
  if (name === DIRECT.name) return;
  let started: Started | undefined;
  try {
    started = await contender.start(place);
    entry.held =
      started.pid === undefined ? 'not a process of the bench' : await heldBy(rig, started, extent.streams);
  } catch (error) {
    entry.held = (error as Error).message;
  } finally {
    await started?.stop();
  }
  const { held: its } = entry;
  if (typeof its === 'string') say(`${name}: memory of held streams: ${its}`);
  else if (its !== undefined) {
    const kilobytes = (its.bytesPerStream / 1e3).toFixed(1);
    const faults = its.taken.faults === 0 ? '' : `; ${faultText(its.taken)}`;
    say(`${name}: ${its.taken.whole} held streams, ${kilobytes} kB each${faults}`);
  }
}

/** How many requests had no whole answer, and of what kind. */
export function faultText({ faults, said }: Taken): string {
  return `${faults} without a whole answer: ${said.join('; ')}`;
}
