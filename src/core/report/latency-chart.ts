/** Latency by arrival: each delivered call by when it was planned and how long its answer took; above, who got none. */

import type { CallRecord } from '../drill/record.js';
import type { RunRecord } from '../drill/run.js';
import { type Bins, binsOver, countIn } from './bins.js';
import { type Frame, frameOf, limitLine } from './frame.js';
import { element, type Markup, short, worded } from './markup.js';
import type { Picture } from './picture.js';
import { aftermathStage, deadlineOf, deadlinesOf, stageSpans } from './stages.js';
import { fillOf } from './style.js';
import { stageSummary } from './summary.js';
import { percent, seconds } from './words.js';

const WIDTH = 560;
const HEIGHT = 300;
const STRIP = 34;
const MOST_BINS = 80;
/** Grid of the dots: calls in one cell are one dot, wider the more they are. */
const CELL = 3;
/** Lines for at most so many deadlines. */
const MOST_DEADLINES = 3;

export interface Latency {
  readonly bins: Bins;
  /** Planned calls in each bin, by arrival, of which so many have no answer by the horizon. */
  readonly planned: readonly number[];
  readonly unanswered: readonly number[];
}

/** Calls that have not ended are planned in the stage's outcome alone and so are not here. */
export function latencyOf({ head, calls }: Pick<RunRecord, 'head' | 'calls'>, most = MOST_BINS): Latency {
  const length = stageSpans(head.plan).at(-1)?.toSeconds ?? 0;
  const bins = binsOver(length, most);
  const horizonMs = head.plan.horizonSeconds * 1_000;
  const late = calls.filter((call) => !call.delivered || call.endedMs - call.plannedMs > horizonMs);
  return {
    bins,
    planned: countIn(
      bins,
      calls.map(({ plannedMs }) => plannedMs),
    ),
    unanswered: countIn(
      bins,
      late.map(({ plannedMs }) => plannedMs),
    ),
  };
}

export function latencyPicture(record: RunRecord): Picture {
  const { head, calls } = record;
  const open = head.calls - calls.length;
  return {
    id: 'latency',
    title: titleOf(record),
    description:
      'Dots: delivered calls by the moment they were planned (across) and the seconds until their whole answer (up). A strip above them shows what share of the calls planned then had no answer by the horizon, where there are any.',
    width: WIDTH,
    height: HEIGHT,
    drawing: latencyDrawing(record, { width: WIDTH, height: HEIGHT, legend: true }),
    notes: open > 0 ? [`${open} calls had not ended when the run was; they are not drawn.`] : [],
    table: {
      head: ['stage', 'delivered', 'answer after: median', 'p90', 'p99', 'no answer by the horizon'],
      rows: head.stages.map((stage) => {
        const { median, p90, p99 } = stageSummary(stage).latenessSeconds;
        const none = (stage.calls - stage.deliveredByHorizon) / stage.calls;
        return [stage.stage, percent(1 - none), seconds(median), seconds(p90), seconds(p99), percent(none)];
      }),
    },
  };
}

export interface LatencySize {
  readonly width: number;
  readonly height: number;
  readonly legend: boolean;
  readonly most?: number;
  /** Leave room for the strip though this run has nothing to put there; for charts side by side. */
  readonly strip?: boolean;
}

/** Seconds up to which answers are drawn: the slowest, or just above the first deadline. */
export function latencyMost({ head, calls }: Pick<RunRecord, 'head' | 'calls'>): number {
  const deadline = deadlinesOf(head.plan)[0] ?? 1;
  const horizon = head.plan.horizonSeconds;
  let most = Math.min(deadline * 1.25, Number.MAX_SAFE_INTEGER);
  for (const { delivered, endedMs, plannedMs } of calls) {
    if (delivered) most = Math.max(most, (endedMs - plannedMs) / 1_000);
  }
  return Math.min(most, horizon * 1.1);
}

export function latencyDrawing(
  record: Pick<RunRecord, 'head' | 'calls'>,
  size: LatencySize,
): readonly Markup[] {
  const { plan } = record.head;
  const latency = latencyOf(record);
  const most = size.most ?? latencyMost(record);
  const strip = size.strip === true || latency.unanswered.some((count) => count > 0);
  const frame = frameOf({
    width: size.width,
    height: size.height,
    stages: stageSpans(plan),
    seconds: latency.bins.seconds * latency.bins.count,
    most,
    unit: 'seconds until the whole answer',
    timeUnit: 'seconds from the start of the plan at which the call was planned',
    legend: size.legend
      ? [
          { words: 'by the deadline', fill: fillOf('onTime') },
          { words: 'later', fill: fillOf('late') },
          ...(strip ? [{ words: 'strip: share without an answer', fill: fillOf('abandoned') }] : []),
        ]
      : [],
    headroom: strip ? STRIP : 0,
  });
  const deadlines = deadlinesOf(plan)
    .filter((deadline) => deadline <= frame.y.most)
    .slice(0, MOST_DEADLINES);
  return [
    ...frame.under,
    ...(strip ? stripOf(latency, frame) : []),
    ...dotsOf(record, frame),
    ...deadlines.flatMap((deadline) => limitLine(deadline, `deadline ${seconds(deadline)}`, frame)),
    ...(plan.horizonSeconds <= frame.y.most
      ? limitLine(plan.horizonSeconds, `horizon ${seconds(plan.horizonSeconds)}`, frame)
      : []),
    ...frame.over,
  ];
}

/** Between the stage names and their legend: a bar a bin, full when nobody planned then got an answer. */
function stripOf({ bins, planned, unanswered }: Latency, { x, top, left, right }: Frame): readonly Markup[] {
  const [ceiling, floor] = [top - STRIP - 15, top - 21];
  const bars = planned.map((count, at) => {
    const share = count === 0 ? 0 : (unanswered[at] ?? 0) / count;
    if (share === 0) return '';
    const [from, to] = [x.at(at * bins.seconds), x.at((at + 1) * bins.seconds)];
    return `M${short(from)} ${short(floor)}V${short(floor - share * (floor - ceiling))}H${short(to)}V${short(floor)}Z`;
  });
  return [
    element('path', {
      class: 'rule',
      d: `M${short(left)} ${short(ceiling)}H${short(right)}M${short(left)} ${short(floor)}H${short(right)}`,
    }),
    element('path', { fill: fillOf('abandoned'), d: bars.join('') }),
    worded('text', { class: 'quiet', x: left - 6, y: ceiling + 8, 'text-anchor': 'end' }, '100 %'),
    worded('text', { class: 'quiet', x: left - 6, y: floor + 2, 'text-anchor': 'end' }, '0'),
  ];
}

/** One square a cell of the grid, its area by how many calls fell into it. */
function dotsOf({ head, calls }: Pick<RunRecord, 'head' | 'calls'>, { x, y }: Frame): readonly Markup[] {
  const cells = { onTime: new Map<string, number>(), late: new Map<string, number>() };
  for (const call of calls) {
    if (!call.delivered) continue;
    const lateness = (call.endedMs - call.plannedMs) / 1_000;
    if (lateness > head.plan.horizonSeconds) continue;
    const cell = cellOf(call, lateness, x.at, y.at);
    const its = lateness <= deadlineOf(head.plan, call) ? cells.onTime : cells.late;
    its.set(cell, (its.get(cell) ?? 0) + 1);
  }
  return (['onTime', 'late'] as const).map((ink) => {
    const squares = [...cells[ink]].map(([cell, count]) => {
      const side = Math.min(6, 2.2 * Math.sqrt(count));
      const [column = 0, row = 0] = cell.split(' ').map(Number);
      const [left, above] = [column * CELL - side / 2, row * CELL - side / 2];
      return `M${short(left)} ${short(above)}h${short(side)}v${short(side)}h${short(-side)}z`;
    });
    return element('path', { class: ink, d: squares.join('') });
  });
}

function cellOf(
  { plannedMs }: CallRecord,
  lateness: number,
  across: (value: number) => number,
  up: (value: number) => number,
): string {
  return `${Math.round(across(plannedMs / 1_000) / CELL)} ${Math.round(up(lateness) / CELL)}`;
}

function titleOf({ head }: RunRecord): string {
  const stage = head.stages[aftermathStage(head.plan)];
  if (stage === undefined || stage.calls === 0) return 'Latency by arrival';
  const none = (stage.calls - stage.deliveredByHorizon) / stage.calls;
  const { median } = stageSummary(stage).latenessSeconds;
  if (median === null) return `No call of “${stage.stage}” got an answer`;
  const half = `half of the answers of “${stage.stage}” took more than ${seconds(median)}`;
  return none === 0
    ? `Every call of “${stage.stage}” got its answer; ${half}`
    : `${percent(none)} of the calls of “${stage.stage}” got no answer; ${half}`;
}
