/** What every chart over time has around its lines: axes with round ticks, units, and the plan's stages as bands. */

import { cut, type LegendEntry, legendOf, ROW, SMALL_CHARACTER } from './legend.js';
import { element, type Markup, short, worded } from './markup.js';
import { roundScale, type Scale, timeScale } from './scale.js';
import type { StageSpan } from './stages.js';
import { grouped, trimmed } from './words.js';

export interface FrameParts {
  readonly width: number;
  readonly height: number;
  readonly stages: readonly StageSpan[];
  /** Length of the time axis, seconds. */
  readonly seconds: number;
  readonly most: number;
  /** What the upright axis counts, with its unit. */
  readonly unit: string;
  readonly legend: readonly LegendEntry[];
  /** What the time axis measures. */
  readonly timeUnit?: string;
  /** Room between the legend and the plot, for something of the chart's own. */
  readonly headroom?: number;
}

export interface Frame {
  readonly x: Scale;
  readonly y: Scale;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  /** Goes under the chart's own lines, and over them. */
  readonly under: readonly Markup[];
  readonly over: readonly Markup[];
}

const LEFT = 46;
const RIGHT = 14;
const FOOT = 38;
const TICKS = { across: 7, up: 5 } as const;
export function frameOf(parts: FrameParts): Frame {
  const { width, height, seconds, most, unit } = parts;
  const legend = legendOf(parts.legend, 4, ROW + 2, width - RIGHT);
  const top = legend.height + 2 * ROW + 6 + (parts.headroom ?? 0);
  const [left, right, bottom] = [LEFT, width - RIGHT, height - FOOT];
  const x = timeScale(seconds, Math.max(3, Math.floor((width * TICKS.across) / 560)), left, right);
  const y = roundScale(most, TICKS.up, bottom, top);
  const box = { x, y, left, right, top, bottom };
  const unitWords = worded('text', { class: 'quiet', x: 4, y: 13 }, unit);
  const timeWords = worded(
    'text',
    { class: 'quiet', x: right, y: height - 4, 'text-anchor': 'end' },
    parts.timeUnit ?? 'seconds from the start of the plan',
  );
  return {
    ...box,
    under: [...bandsOf(parts.stages, box), ...gridOf(box)],
    over: [...axesOf(box), unitWords, timeWords, ...legend.drawing],
  };
}

type Box = Pick<Frame, 'x' | 'y' | 'left' | 'right' | 'top' | 'bottom'>;

/** Every other stage on a darker ground; names above, cut to the room they have. */
function bandsOf(stages: readonly StageSpan[], { x, top, bottom }: Box): readonly Markup[] {
  const last = stages.at(-1)?.toSeconds ?? 0;
  const settling = { name: 'settling', fromSeconds: last, toSeconds: x.most };
  const all = x.most > last ? [...stages, settling] : stages;
  return all.flatMap(({ name, fromSeconds, toSeconds }, at) => {
    const [from, to] = [x.at(fromSeconds), x.at(toSeconds)];
    const band = { class: 'band', x: from, y: top - ROW, width: to - from, height: bottom - top + ROW };
    const narrow = cut(name, to - from - 5) !== name;
    const shown = narrow ? cut(name, to - from, SMALL_CHARACTER) : name;
    const kind = `${at < stages.length ? 'strong' : 'quiet'}${narrow ? ' small' : ''}`;
    const words = { class: kind, x: (from + to) / 2, y: top - 5, 'text-anchor': 'middle' };
    const drawn = at % 2 === 1 ? [element('rect', band)] : [];
    if (shown !== '') drawn.push(worded('text', words, shown));
    return drawn;
  });
}

function gridOf({ y, left, right }: Box): readonly Markup[] {
  const lines = y.ticks.map((tick) => `M${short(left)} ${short(y.at(tick))}H${short(right)}`);
  return [element('path', { class: 'rule', d: lines.join('') })];
}

function axesOf({ x, y, left, bottom }: Box): readonly Markup[] {
  const across = x.ticks.map((tick) =>
    worded('text', { class: 'quiet', x: x.at(tick), y: bottom + 17, 'text-anchor': 'middle' }, grouped(tick)),
  );
  const marks = x.ticks.map((tick) => `M${short(x.at(tick))} ${short(bottom)}v4`).join('');
  const up = y.ticks.map((tick) =>
    worded('text', { class: 'quiet', x: left - 6, y: y.at(tick) + 4, 'text-anchor': 'end' }, tickWords(tick)),
  );
  const base = element('path', {
    class: 'axis',
    d: `M${short(left)} ${short(bottom)}H${short(x.at(x.most))}${marks}`,
  });
  return [base, ...across, ...up];
}

function tickWords(value: number): string {
  return value >= 1_000 ? grouped(value) : trimmed(value, 6);
}

/** A line level over each bin at its value, in steps; a gap where there is none. */
export function stepPath(
  values: readonly (number | undefined)[],
  binSeconds: number,
  { x, y }: Pick<Frame, 'x' | 'y'>,
): string {
  let path = '';
  let drawing = false;
  values.forEach((value, at) => {
    if (value === undefined) {
      drawing = false;
      return;
    }
    const level = short(y.at(value));
    const from = short(x.at(at * binSeconds));
    path += drawing ? `V${level}` : `M${from} ${level}`;
    path += `H${short(x.at((at + 1) * binSeconds))}`;
    drawing = true;
  });
  return path;
}

/** The surface between two such lines; a gap counts as no height. */
export function stepArea(
  tops: readonly number[],
  floors: readonly number[],
  binSeconds: number,
  frame: Pick<Frame, 'x' | 'y'>,
): string {
  if (tops.length === 0) return '';
  const { x, y } = frame;
  const over = stepPath(tops, binSeconds, frame);
  const back = floors
    .map((floor, at) => `V${short(y.at(floor))}H${short(x.at(at * binSeconds))}`)
    .toReversed()
    .join('');
  return `${over}${back}Z`;
}

/** A level line across the plot with its words, if any, at the right end, above it or below. */
export function limitLine(
  value: number,
  words: string,
  { y, left, right, top }: Frame,
  side: 'above' | 'below' = 'above',
): readonly Markup[] {
  const level = y.at(value);
  const below = side === 'below' || level - 14 < top;
  return [
    element('path', { class: 'limit', d: `M${short(left)} ${short(level)}H${short(right)}` }),
    ...(words === ''
      ? []
      : [
          worded(
            'text',
            { class: 'halo', x: right - 2, y: below ? level + 13 : level - 4, 'text-anchor': 'end' },
            words,
          ),
        ]),
  ];
}
