/** What waits: the engine's own queue and the gateway's line, over the time of the run. */

import type { Sample } from '../drill/record.js';
import type { RunRecord } from '../drill/run.js';
import { type Bins, binsOver, meansIn } from './bins.js';
import { frameOf, stepArea } from './frame.js';
import { element, type Markup } from './markup.js';
import { missingPicture, type Picture } from './picture.js';
import { overloadStage, runSeconds, stageSpans } from './stages.js';
import { fillOf } from './style.js';
import { grouped, seconds } from './words.js';

const WIDTH = 560;
const HEIGHT = 236;
const MOST_BINS = 140;

export interface Waiting {
  readonly bins: Bins;
  /** Means in each bin; undefined where the gauge could not be read. */
  readonly engine: readonly number[] | undefined;
  readonly line: readonly number[] | undefined;
}

export function waitingOf(record: RunRecord, most = MOST_BINS, length = runSeconds(record)): Waiting {
  const bins = binsOver(length, most);
  const gauge = (field: 'waiting' | 'line'): readonly number[] | undefined => {
    const read = record.samples.flatMap((sample): (readonly [number, number])[] => {
      const value = sample[field];
      return value === undefined ? [] : [[sample.atMs, value]];
    });
    return read.length === 0 ? undefined : filled(meansIn(bins, read));
  };
  return { bins, engine: gauge('waiting'), line: gauge('line') };
}

/** A bin without a reading shows the one before it; after the last reading there is nothing. */
function filled(means: readonly (number | undefined)[]): readonly number[] {
  const lastRead = means.findLastIndex((mean) => mean !== undefined);
  let before = 0;
  return means.map((mean, at) => {
    if (at > lastRead) return 0;
    before = mean ?? before;
    return before;
  });
}

export function waitingPicture(record: RunRecord): Picture {
  const { head, samples } = record;
  const waiting = waitingOf(record);
  const { engine, line } = waiting;
  if (engine === undefined && line === undefined) {
    const why =
      'How many calls waited is not known: neither the engine’s gauges nor a gateway’s could be read.';
    return missingPicture(
      { id: 'waiting', title: 'The waiting queue could not be read', notes: [why], table: undefined },
      WIDTH,
      170,
    );
  }
  const notes: string[] = [];
  if (engine === undefined) notes.push('The engine’s queue is missing: its waiting gauge could not be read.');
  if (line === undefined) {
    notes.push('No gateway’s line could be read: there was none, or it did not tell how long its line is.');
  }
  return {
    id: 'waiting',
    title: titleOf(record),
    description: `Surfaces over the time of the run, one upon the other: calls waiting in the engine’s queue${line === undefined ? '' : ' and in the gateway’s line'}, means over ${waiting.bins.seconds} s.`,
    width: WIDTH,
    height: HEIGHT,
    drawing: waitingDrawing(record, waiting, { width: WIDTH, height: HEIGHT, legend: true }),
    notes,
    table: {
      head: ['stage', 'in the engine’s queue, mean', 'most', 'in the gateway’s line, mean', 'most'],
      rows: stageSpans(head.plan).map(({ name, fromSeconds, toSeconds }) => {
        const its = samples.filter(({ atMs }) => atMs >= fromSeconds * 1_000 && atMs < toSeconds * 1_000);
        return [name].concat(statistics(its, 'waiting'), statistics(its, 'line'));
      }),
    },
  };
}

function statistics(samples: readonly Sample[], field: 'waiting' | 'line'): readonly string[] {
  const read = samples.flatMap((sample) => sample[field] ?? []);
  if (read.length === 0) return ['—', '—'];
  const sum = read.reduce((total, value) => total + value, 0);
  return [grouped(sum / read.length), grouped(read.reduce((most, value) => Math.max(most, value), 0))];
}

export interface WaitingSize {
  readonly width: number;
  readonly height: number;
  readonly legend: boolean;
  readonly most?: number;
  readonly seconds?: number;
}

export function waitingMost({ engine = [], line = [] }: Waiting): number {
  const length = Math.max(engine.length, line.length);
  let most = 1;
  for (let at = 0; at < length; at += 1) most = Math.max(most, (engine[at] ?? 0) + (line[at] ?? 0));
  return most;
}

export function waitingDrawing(
  { head }: Pick<RunRecord, 'head'>,
  waiting: Waiting,
  size: WaitingSize,
): readonly Markup[] {
  const { bins } = waiting;
  const none = new Array<number>(bins.count).fill(0);
  const [engine, line] = [waiting.engine ?? none, waiting.line ?? none];
  const both = engine.map((value, at) => value + (line[at] ?? 0));
  const frame = frameOf({
    width: size.width,
    height: size.height,
    stages: stageSpans(head.plan),
    seconds: size.seconds ?? bins.seconds * bins.count,
    most: size.most ?? waitingMost(waiting) * 1.05,
    unit: 'calls waiting',
    legend: size.legend ? waitingLegend(waiting) : [],
  });
  return [
    ...frame.under,
    element('path', { fill: fillOf('engine'), d: stepArea(engine, none, bins.seconds, frame) }),
    element('path', { fill: fillOf('line'), d: stepArea(both, engine, bins.seconds, frame) }),
    ...frame.over,
  ];
}

/** Only what is seen. */
export function waitingLegend({
  engine,
  line,
}: Pick<Waiting, 'engine' | 'line'>): readonly { words: string; fill: string }[] {
  return [
    ...(holds(engine) ? [{ words: 'in the engine’s queue', fill: fillOf('engine') }] : []),
    ...(holds(line) ? [{ words: 'in the gateway’s line', fill: fillOf('line') }] : []),
  ];
}

function titleOf({ head, samples }: RunRecord): string {
  const most = samples.reduce((top, { waiting = 0, line = 0 }) => Math.max(top, waiting + line), 0);
  const crowd = `Up to ${grouped(most)} calls waited`;
  const peak = overloadStage(head.plan, head.capacity);
  if (peak >= head.plan.stages.length - 1) return crowd;
  const { backlogSeconds } = head.recovery;
  const name = head.plan.stages[peak]?.name ?? '';
  return backlogSeconds === null
    ? `${crowd}, and the backlog of “${name}” had not gone when the plan ended`
    : `${crowd}, and the backlog of “${name}” was gone ${seconds(backlogSeconds)} after it`;
}

function holds(values: readonly number[] | undefined): boolean {
  return values !== undefined && values.some((value) => value > 0);
}
