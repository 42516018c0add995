/** Shares as level bars: one bar a row, its parts side by side, the large ones with their share written in. */

import { cut, type LegendEntry, legendOf, ROW } from './legend.js';
import { element, type Markup, short, worded } from './markup.js';
import { fillOf, type Ink } from './style.js';
import { percent } from './words.js';

export interface BarPart {
  readonly ink: Ink;
  /** Of the row's whole, 0 to 1. */
  readonly share: number;
}

export interface Bar {
  readonly name: string;
  /** A second line, quieter. */
  readonly about: string;
  readonly parts: readonly BarPart[];
  /** In words at the bar's right end, where the chart has room for it. */
  readonly end?: string;
}

export interface BarsParts {
  readonly width: number;
  readonly bars: readonly Bar[];
  readonly words: Readonly<Partial<Record<Ink, string>>>;
  /** What a whole bar is. */
  readonly unit: string;
  /** Pixels for the names at the left, and for the words at the right end. */
  readonly nameWidth: number;
  readonly endWidth: number;
}

/** Rows that a chart shows. */
const MOST_BARS = 40;
const BAR = 24;
const PITCH = 42;
const TICKS = [0, 0.25, 0.5, 0.75, 1] as const;
/** A part must be this wide to have its share written in. */
const LABEL_WIDTH = 38;

/** A note where a chart has more rows than it can show; its table has them all. */
export function leftOutNotes(bars: number): readonly string[] {
  const more = bars - MOST_BARS;
  return more > 0 ? [`${more} further rows are in the table only.`] : [];
}

export function barsOf(parts: BarsParts): { readonly height: number; readonly drawing: readonly Markup[] } {
  const { width, unit } = parts;
  const bars = parts.bars.slice(0, MOST_BARS);
  const left = parts.nameWidth;
  const right = width - 14 - parts.endWidth;
  const legend = legendOf(legendEntries(parts), 4, 2, width - 8);
  const top = legend.height + 12;
  const bottom = top + bars.length * PITCH - (PITCH - BAR) + 6;
  const at = (share: number): number => left + share * (right - left);
  const grid = TICKS.map((tick) => `M${short(at(tick))} ${short(top - 6)}V${short(bottom)}`).join('');
  const ticks = TICKS.map((tick) =>
    worded('text', { class: 'quiet', x: at(tick), y: bottom + 15, 'text-anchor': 'middle' }, `${tick * 100}`),
  );
  return {
    height: bottom + 2 * ROW + 4,
    drawing: [
      ...legend.drawing,
      element('path', { class: 'rule', d: grid }),
      ...bars.flatMap((bar, row) => barOf(bar, { at, y: top + row * PITCH, left, right })),
      ...ticks,
      worded('text', { class: 'quiet', x: right, y: bottom + 31, 'text-anchor': 'end' }, unit),
    ],
  };
}

/** Only what occurs: a legend of what is not there is noise. */
function legendEntries({ bars, words }: BarsParts): readonly LegendEntry[] {
  return (Object.entries(words) as [Ink, string][])
    .filter(([ink]) => bars.some((bar) => bar.parts.some((part) => part.ink === ink && part.share > 0)))
    .map(([ink, text]) => ({ words: text, fill: fillOf(ink) }));
}

interface Row {
  readonly at: (share: number) => number;
  readonly y: number;
  readonly left: number;
  readonly right: number;
}

function barOf({ name, about, parts, end }: Bar, { at, y, left, right }: Row): readonly Markup[] {
  let before = 0;
  const pieces = parts.flatMap(({ ink, share }) => {
    const [from, to] = [at(before), at(before + share)];
    before += share;
    if (share <= 0) return [];
    const piece = { class: 'edge', x: from, y, width: to - from, height: BAR, fill: fillOf(ink) };
    const middle = { class: 'halo strong', x: (from + to) / 2, y: y + BAR / 2 + 4, 'text-anchor': 'middle' };
    return [
      element('rect', piece),
      ...(to - from < LABEL_WIDTH ? [] : [worded('text', middle, percent(share))]),
    ];
  });
  return [
    worded('text', { class: 'strong', x: 4, y: y + 10 }, cut(name, left - 8)),
    worded('text', { class: 'quiet', x: 4, y: y + 25 }, cut(about, left - 8)),
    ...pieces,
    ...(end === undefined ? [] : [worded('text', { x: right + 8, y: y + BAR / 2 + 4 }, end)]),
  ];
}
