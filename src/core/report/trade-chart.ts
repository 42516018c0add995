/** What one setting trades: for each of its values the share of calls on time against calls that are lost. */

import { element, type Markup, short, worded } from './markup.js';
import type { Picture } from './picture.js';
import { roundScale, type Scale } from './scale.js';
import { fillOf } from './style.js';
import { percent, trimmed } from './words.js';

/** Means over the seeds of one value of the setting. */
export interface TradePoint {
  /** What stands beside its dot. */
  readonly words: string;
  /** Share of all planned calls, [0, 1]. */
  readonly onTime: number;
  /** Calls a run that never got their answer. */
  readonly lost: number;
}

export interface Trade {
  readonly id: string;
  readonly title: string;
  readonly setting: string;
  /** In the order of the setting's values; a line joins them. */
  readonly points: readonly TradePoint[];
  /** What it is compared with, off the line. */
  readonly beside: readonly TradePoint[];
  /** The most that could be on time, and where that is from. */
  readonly bound?: { readonly onTime: number; readonly words: string };
  readonly notes: readonly string[];
}

const SIZE = { width: 620, height: 380 } as const;
const BOX = { left: 52, right: 520, top: 30, bottom: 326 } as const;
const DOT = 4.5;

export function tradePicture({ id, title, setting, points, beside, bound, notes }: Trade): Picture {
  const all = [...points, ...beside];
  const x = roundScale(Math.max(1, ...all.map(({ lost }) => lost)), 7, BOX.left, BOX.right);
  const y = roundScale(100, 5, BOX.bottom, BOX.top);
  const place = ({ onTime, lost }: TradePoint): readonly [number, number] => [x.at(lost), y.at(onTime * 100)];
  const line = points.map((point) => place(point).map(short).join(' ')).join('L');
  return {
    id,
    title,
    description: `Upright: per cent of all calls on time; across: calls lost a run. One dot for each value of ${setting}: ${all.map(toldOf).join('; ')}.`,
    ...SIZE,
    drawing: [
      ...axesOf(x, y),
      ...(bound === undefined ? [] : boundOf(y.at(bound.onTime * 100), bound.words)),
      element('path', { class: 'answers', d: `M${line}` }),
      ...points.flatMap((point) => dotOf(place(point), point.words, 'onTime')),
      ...beside.flatMap((point) => dotOf(place(point), point.words, 'abandoned')),
    ],
    notes,
    table: {
      head: [setting, 'on time', 'calls lost a run'],
      rows: all.map(({ words, onTime, lost }) => [words, percent(onTime), trimmed(lost, 2)]),
    },
  };
}

function toldOf({ words, onTime, lost }: TradePoint): string {
  return `${words}: ${percent(onTime)} on time, ${trimmed(lost, 2)} lost`;
}

function axesOf(x: Scale, y: Scale): readonly Markup[] {
  const { left, right, bottom } = BOX;
  const rules = y.ticks.map((tick) => `M${left} ${short(y.at(tick))}H${right}`).join('');
  const marks = x.ticks.map((tick) => `M${short(x.at(tick))} ${bottom}v4`).join('');
  const quiet = (at: { x: number; y: number }, anchor: string, words: string): Markup =>
    worded('text', { class: 'quiet', ...at, 'text-anchor': anchor }, words);
  return [
    element('path', { class: 'rule', d: rules }),
    element('path', { class: 'axis', d: `M${left} ${bottom}H${right}${marks}` }),
    ...x.ticks.map((tick) => quiet({ x: x.at(tick), y: bottom + 17 }, 'middle', trimmed(tick, 2))),
    ...y.ticks.map((tick) => quiet({ x: left - 6, y: y.at(tick) + 4 }, 'end', trimmed(tick, 1))),
    quiet({ x: 4, y: 15 }, 'start', 'per cent of all calls on time'),
    quiet({ x: right, y: bottom + 36 }, 'end', 'calls lost a run'),
  ];
}

function boundOf(level: number, words: string): readonly Markup[] {
  return [
    element('path', { class: 'limit', d: `M${BOX.left} ${short(level)}H${BOX.right}` }),
    worded('text', { class: 'halo', x: BOX.right - 2, y: level - 5, 'text-anchor': 'end' }, words),
  ];
}

function dotOf(
  [x, y]: readonly [number, number],
  words: string,
  ink: 'onTime' | 'abandoned',
): readonly Markup[] {
  return [
    element('circle', { class: 'edge', cx: x, cy: y, r: DOT, fill: fillOf(ink) }),
    // Below, since the line goes up from one value to the next that loses more.
    worded('text', { class: 'halo', x: x + DOT + 2, y: y + 15 }, words),
  ];
}
