/** What each line and each surface of a chart stands for, in rows above it. */

import { element, type Markup, short, worded } from './markup.js';

export interface LegendEntry {
  readonly words: string;
  /** Class of a line, or fill of a surface, or mark in the chart's own drawing. */
  readonly line?: string;
  readonly fill?: string;
}

export interface Legend {
  /** Pixels. */
  readonly height: number;
  readonly drawing: readonly Markup[];
}

/** About how wide a character is, pixels of the drawing. */
export const CHARACTER = 6.4;
/** The same in the smaller type that narrow places take. */
export const SMALL_CHARACTER = 5.3;
/** Height of a row of words. */
export const ROW = 17;
const SAMPLE = 20;

/** In as many rows as `room` pixels make it; its first row begins at `top`. */
export function legendOf(entries: readonly LegendEntry[], left: number, top: number, room: number): Legend {
  let [x, row] = [0, 0];
  const drawing = entries.flatMap(({ words, line, fill }) => {
    const width = SAMPLE + 6 + words.length * CHARACTER + 12;
    if (x > 0 && x + width > room + 12) [x, row] = [0, row + 1];
    const [start, middle] = [left + x, top + row * ROW + 8];
    x += width;
    const swatch = { x: start, y: middle - 5, width: SAMPLE, height: 10 };
    return [
      ...(fill === undefined ? [] : [element('rect', { ...swatch, fill })]),
      ...(line === undefined
        ? []
        : [element('path', { class: line, d: `M${short(start)} ${short(middle)}h${SAMPLE}` })]),
      worded('text', { x: start + SAMPLE + 5, y: middle + 4 }, words),
    ];
  });
  return { height: entries.length === 0 ? 0 : (row + 1) * ROW, drawing };
}

/** `text` in `room` pixels: whole, or cut with an ellipsis, or nothing. */
export function cut(text: string, room: number, character = CHARACTER): string {
  const fits = Math.floor((room - 1) / character);
  if (text.length <= fits) return text;
  return fits < 4 ? '' : `${text.slice(0, fits - 1)}…`;
}
