/** One picture: what it shows in a sentence, its drawing, and its numbers as a table beside it. */

import { element, escaped, joined, type Markup, worded } from './markup.js';
import { patternDefinitions, STYLE } from './style.js';

export interface Table {
  readonly head: readonly string[];
  /** The first cell of a row names it. */
  readonly rows: readonly (readonly string[])[];
}

export interface Picture {
  /** Unique on its page: letters, digits and hyphens. */
  readonly id: string;
  /** What is seen, as a sentence. */
  readonly title: string;
  /** For those who cannot see it: what is drawn over what. */
  readonly description: string;
  readonly width: number;
  readonly height: number;
  readonly drawing: readonly Markup[];
  /** What to know before believing it: what is missing, and why. */
  readonly notes: readonly string[];
  readonly table: Table | undefined;
}

/** Room above the drawing for the title of a picture that stands alone. */
const TITLE_HEIGHT = 34;
const TITLE_LINE_CHARACTERS = 72;
const LINE_HEIGHT = 18;

/** For a page, which has the style and the patterns already and writes the title itself. */
export function inlineSvg(picture: Picture): Markup {
  const { width, height, drawing } = picture;
  return element('svg', attributesOf(picture, 0, width, height), ...labelsOf(picture), ...drawing);
}

/** A whole file. */
export function svgFile(picture: Picture): string {
  const { width, height, drawing, title } = picture;
  const lines = wrapped(title, Math.floor((TITLE_LINE_CHARACTERS * width) / 560));
  const top = TITLE_HEIGHT + (lines.length - 1) * LINE_HEIGHT;
  const heads = lines.map((line, at) =>
    worded('text', { class: 'head', x: 12, y: 22 - top + at * LINE_HEIGHT }, line),
  );
  const body = [
    element('style', {}, STYLE),
    patternDefinitions(),
    element('rect', { class: 'paper', y: -top, width, height: height + top }),
    ...heads,
    ...drawing,
  ];
  const svg = element('svg', attributesOf(picture, -top, width, height + top), ...labelsOf(picture), ...body);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${svg}\n`;
}

function attributesOf(
  { id }: Picture,
  top: number,
  width: number,
  height: number,
): Record<string, string | number> {
  return {
    xmlns: 'http://www.w3.org/2000/svg',
    viewBox: `0 ${top} ${width} ${height}`,
    width,
    height,
    role: 'img',
    'aria-labelledby': `${id}-title ${id}-description`,
  };
}

function labelsOf({ id, title, description }: Picture): readonly Markup[] {
  return [
    worded('title', { id: `${id}-title` }, title),
    worded('desc', { id: `${id}-description` }, description),
  ];
}

/** `text` in lines of at most `most` characters where its words allow. */
export function wrapped(text: string, most: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= most)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** In place of a drawing whose data nobody could have: says what is missing, and why. */
export function missingPicture(
  picture: Pick<Picture, 'id' | 'title' | 'notes' | 'table'>,
  width: number,
  height: number,
): Picture {
  const lines = picture.notes.flatMap((note) => wrapped(note, 68));
  const words = lines.map((line, at) =>
    worded(
      'text',
      {
        class: 'quiet',
        x: width / 2,
        y: height / 2 + 5 + (at - (lines.length - 1) / 2) * LINE_HEIGHT,
        'text-anchor': 'middle',
      },
      line,
    ),
  );
  const box = element('rect', {
    class: 'rule',
    x: 8,
    y: 8,
    width: width - 16,
    height: height - 16,
    rx: 6,
    'stroke-dasharray': '4 4',
  });
  return {
    ...picture,
    notes: [],
    description: picture.notes.join(' '),
    width,
    height,
    drawing: [box, ...words],
  };
}

/** The HTML of a picture with its heading, notes and numbers. */
export function figureOf(picture: Picture, level: 'h2' | 'h3' = 'h2'): Markup {
  const { id, title, notes, table } = picture;
  return element(
    'figure',
    { id },
    element('figcaption', {}, worded(level, {}, title)),
    element('div', { class: 'drawing' }, inlineSvg(picture)),
    ...notes.map((note) => worded('p', { class: 'note' }, note)),
    ...(table === undefined ? [] : [tableOf(table)]),
  );
}

/** Numbers to the right, names to the left. */
export function tableOf({ head, rows }: Table): Markup {
  const heads = head.map((cell) => worded('th', { scope: 'col' }, cell));
  const lines = rows.map(([name = '', ...cells]) =>
    element('tr', {}, worded('th', { scope: 'row' }, name), ...cells.map((cell) => worded('td', {}, cell))),
  );
  return element(
    'div',
    { class: 'numbers' },
    element(
      'table',
      {},
      element('thead', {}, element('tr', {}, joined(heads))),
      element('tbody', {}, joined(lines.length === 0 ? [escaped('')] : lines)),
    ),
  );
}
