/** Arrivals against executions: what was asked, what the engine was given, and what came out, in multiples of Ĉ. */

import type { RunRecord } from '../drill/run.js';
import { type Bins, binsOver, countIn, risesIn } from './bins.js';
import { frameOf, limitLine, stepArea, stepPath } from './frame.js';
import type { LegendEntry } from './legend.js';
import { element, type Markup } from './markup.js';
import type { Picture } from './picture.js';
import { aftermathStage, overloadStage, runSeconds, stageSpans } from './stages.js';
import { fillOf } from './style.js';
import { ratio } from './words.js';

const WIDTH = 560;
const HEIGHT = 276;
const MOST_BINS = 70;

/** Events in each bin. */
export interface Flow {
  readonly bins: Bins;
  /** First attempts, by the moment they were sent. */
  readonly calls: readonly number[];
  readonly attempts: readonly number[];
  /** By the moment they were made; undefined where nobody could tell. */
  readonly executions: readonly number[] | undefined;
  /** Whole answers, by the moment a client had them. */
  readonly answers: readonly number[];
}

export function flowOf(record: RunRecord, most = MOST_BINS, seconds = runSeconds(record)): Flow {
  const bins = binsOver(seconds, most);
  const { attempts } = record;
  return {
    bins,
    calls: countIn(
      bins,
      attempts.flatMap(({ attempt, sentMs }) => (attempt === 0 ? sentMs : [])),
    ),
    attempts: countIn(
      bins,
      attempts.map(({ sentMs }) => sentMs),
    ),
    executions: executionsIn(bins, record),
    answers: countIn(
      bins,
      attempts.flatMap(({ ending, leftMs }) => (ending === 'delivered' ? leftMs : [])),
    ),
  };
}

function executionsIn(bins: Bins, { executions, samples }: RunRecord): readonly number[] | undefined {
  if (executions.length > 0)
    return countIn(
      bins,
      executions.map(({ createdMs }) => createdMs),
    );
  const read = samples.flatMap(({ atMs, executionsCreated }): (readonly [number, number])[] =>
    executionsCreated === undefined ? [] : [[atMs, executionsCreated]],
  );
  return read.length < 2 ? undefined : risesIn(bins, read);
}

/** The unit of rates: Ĉ where it is known, calls per second elsewhere. */
export function rateUnit(capacity: number | null): { readonly of: number; readonly words: string } {
  return capacity === null ? { of: 1, words: 'a second' } : { of: capacity, words: 'in multiples of Ĉ' };
}

export function arrivalsPicture(record: RunRecord): Picture {
  const { head } = record;
  const flow = flowOf(record);
  const unit = rateUnit(head.capacity);
  const notes: string[] = [];
  if (flow.executions === undefined) {
    notes.push(
      'Executions are missing: neither the engine nor a counter in front of it told when one was made. What the engine was given may be as much as the attempts.',
    );
  }
  if (head.capacity === null) notes.push('Rates are per second: Ĉ, the capacity, was not measured.');
  return {
    id: 'arrivals',
    title: titleOf(record, flow),
    description: `Lines over the time of the run, ${unit.words}: calls arriving, attempts sent${flow.executions === undefined ? '' : ', executions made'}; the surface under them is answers delivered. Bins of ${flow.bins.seconds} s.`,
    width: WIDTH,
    height: HEIGHT,
    drawing: arrivalsDrawing(record, flow, { width: WIDTH, height: HEIGHT, legend: true }),
    notes,
    table: tableOf(record, flow),
  };
}

export interface FlowSize {
  readonly width: number;
  readonly height: number;
  readonly legend: boolean;
  /** For charts on shared axes. */
  readonly most?: number;
  readonly seconds?: number;
}

export function flowMost(
  { bins, attempts, calls, executions = [], answers }: Flow,
  capacity: number | null,
): number {
  const counts = [...attempts, ...calls, ...executions, ...answers];
  return Math.max(
    1,
    counts.reduce((most, count) => Math.max(most, count), 0) / bins.seconds / rateUnit(capacity).of,
  );
}

export function arrivalsDrawing(
  { head }: Pick<RunRecord, 'head'>,
  flow: Flow,
  size: FlowSize,
): readonly Markup[] {
  const { bins } = flow;
  const unit = rateUnit(head.capacity);
  const rates = (counts: readonly number[]): readonly number[] =>
    counts.map((count) => count / bins.seconds / unit.of);
  const frame = frameOf({
    width: size.width,
    height: size.height,
    stages: stageSpans(head.plan),
    seconds: size.seconds ?? bins.seconds * bins.count,
    most: size.most ?? flowMost(flow, head.capacity) * 1.05,
    unit: size.legend || head.capacity === null ? `events ${unit.words}` : '× Ĉ',
    legend: size.legend ? [...legendFor(flow), ...capacityEntry(head.capacity)] : [],
  });
  const answers = rates(flow.answers);
  const line = (kind: string, counts: readonly number[]): Markup =>
    element('path', { class: kind, d: stepPath(rates(counts), bins.seconds, frame) });
  const floor = answers.map(() => 0);
  return [
    ...frame.under,
    element('path', { fill: fillOf('line'), d: stepArea(answers, floor, bins.seconds, frame) }),
    line('answers', flow.answers),
    ...(flow.executions === undefined ? [] : [line('executions', flow.executions)]),
    line('attempts', flow.attempts),
    line('calls', flow.calls),
    ...(head.capacity === null ? [] : limitLine(1, size.legend ? '' : '1 Ĉ', frame)),
    ...frame.over,
  ];
}

export function legendFor({ executions }: Pick<Flow, 'executions'>): readonly LegendEntry[] {
  return [
    { words: 'calls', line: 'calls' },
    { words: 'attempts', line: 'attempts' },
    ...(executions === undefined ? [] : [{ words: 'executions', line: 'executions' }]),
    { words: 'answers delivered', fill: fillOf('line') },
  ];
}

function capacityEntry(capacity: number | null): readonly LegendEntry[] {
  return capacity === null ? [] : [{ words: 'capacity, 1 Ĉ', line: 'limit' }];
}

function titleOf({ head }: RunRecord, flow: Flow): string {
  const { plan, capacity } = head;
  const last = aftermathStage(plan);
  const span = stageSpans(plan)[last];
  if (span === undefined) return 'Arrivals against executions';
  const rate = (counts: readonly number[]): string => {
    const value = meanRate(counts, flow.bins, span.fromSeconds, span.toSeconds) / rateUnit(capacity).of;
    return `${ratio(value)}${capacity === null ? ' a second' : ' Ĉ'}`;
  };
  const when = overloadStage(plan, capacity) === last ? 'Through' : 'Over';
  const work =
    flow.executions === undefined
      ? `${rate(flow.attempts)} of attempts`
      : `${rate(flow.executions)} of executions`;
  return `${when} “${span.name}” ${rate(flow.calls)} of calls became ${work}, and ${rate(flow.answers)} were answered`;
}

/** Events a second over a span, by the bins whose middle lies in it. */
export function meanRate(counts: readonly number[], { seconds }: Bins, from: number, to: number): number {
  const inside = counts.filter((_, at) => (at + 0.5) * seconds >= from && (at + 0.5) * seconds < to);
  return inside.length === 0
    ? Number.NaN
    : inside.reduce((sum, count) => sum + count, 0) / inside.length / seconds;
}

function tableOf(
  { head }: RunRecord,
  { bins, calls, attempts, executions, answers }: Flow,
): Picture['table'] {
  const unit = rateUnit(head.capacity).of;
  return {
    head: ['stage, mean rates', 'calls', 'attempts', 'executions', 'answers delivered'],
    rows: stageSpans(head.plan).map(({ name, fromSeconds, toSeconds }) => {
      const rates = [calls, attempts, executions, answers].map((counts) =>
        counts === undefined ? '—' : ratio(meanRate(counts, bins, fromSeconds, toSeconds) / unit),
      );
      return [name].concat(rates);
    }),
  };
}
