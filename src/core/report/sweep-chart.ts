/** Where recovery ends and collapse begins: one field a deadline, pulse heights over loads, and the boundary drawn. */

import { htmlFile } from './document.js';
import { ROW } from './legend.js';
import { element, type Markup, short, worded } from './markup.js';
import { figureOf, type Picture } from './picture.js';
import { fillOf } from './style.js';
import { grouped, percent } from './words.js';

/** One combination that was run. */
export interface SweepCell {
  /** Multiples of Ĉ. */
  readonly pulse: number;
  readonly load: number;
  readonly deadlineSeconds: number;
  /** Seconds after the pulse; null: not before the plan ended. */
  readonly recoveredAfterSeconds: number | null;
}

export interface Sweep {
  readonly scenario: string;
  readonly seed: number;
  readonly cells: readonly SweepCell[];
}

const CELL = { width: 62, height: 28 } as const;
const LEFT = 52;
const HEAD = 24;
const GAP = 28;
const COLUMNS = 2;
/** Darkest at this many seconds. */
const SLOWEST_SECONDS = 720;

export function sweepPicture({ scenario, seed, cells }: Sweep): Picture {
  const sorted = (values: readonly number[]): readonly number[] =>
    [...new Set(values)].toSorted((a, b) => a - b);
  const deadlines = sorted(cells.map(({ deadlineSeconds }) => deadlineSeconds));
  const axes = {
    loads: sorted(cells.map(({ load }) => load)),
    pulses: sorted(cells.map(({ pulse }) => pulse)).toReversed(),
  };
  const field = {
    width: LEFT + axes.loads.length * CELL.width,
    height: HEAD + axes.pulses.length * CELL.height + 2 * ROW + 8,
  };
  const fields = deadlines.flatMap((deadline, at) => {
    const [x, y] = [
      4 + (at % COLUMNS) * (field.width + GAP),
      34 + Math.floor(at / COLUMNS) * (field.height + 14),
    ];
    const its = cells.filter(({ deadlineSeconds }) => deadlineSeconds === deadline);
    return [
      element('g', { transform: `translate(${short(x)} ${short(y)})` }, ...fieldOf(deadline, its, axes)),
    ];
  });
  const its = (deadline: number, pulse: number): ReadonlyMap<number, SweepCell> =>
    new Map(
      cells
        .filter((cell) => cell.deadlineSeconds === deadline && cell.pulse === pulse)
        .map((cell) => [cell.load, cell]),
    );
  const recovered = cells.filter(({ recoveredAfterSeconds }) => recoveredAfterSeconds !== null);
  const share = percent(recovered.length / cells.length);
  return {
    id: 'sweep',
    title: `${scenario}: service comes back in ${grouped(recovered.length)} of ${grouped(cells.length)} combinations of load, pulse and deadline (${share})`,
    description: `One field a deadline (${deadlines.join(', ')} s): loads across, pulse heights up, in multiples of Ĉ; in each cell the seconds until backlog and answers were back at their base, hatched where they were not before the plan ended. A heavy line is the boundary.`,
    width: 4 + Math.min(COLUMNS, deadlines.length) * (field.width + GAP) - GAP + 8,
    height: 34 + Math.ceil(deadlines.length / COLUMNS) * (field.height + 14),
    drawing: [...legend(), ...fields],
    notes: [
      `Seed ${seed}. Recovered: the later of both definitions, backlog back at its base and calls on time again.`,
    ],
    table: {
      head: ['clients leave after', 'pulse', ...axes.loads.map((load) => `load ${load} Ĉ`)],
      rows: deadlines.flatMap((deadline) =>
        axes.pulses.map((pulse) => {
          const row = its(deadline, pulse);
          return [`${deadline} s`, `${pulse} Ĉ`].concat(axes.loads.map((load) => cellWords(row.get(load))));
        }),
      ),
    },
  };
}

/** The picture and its numbers as one HTML file. */
export function sweepPage(sweep: Sweep): string {
  const picture = sweepPicture(sweep);
  return htmlFile({
    title: picture.title,
    body: [
      worded('h1', {}, `${sweep.scenario}: recovery or collapse`),
      worded(
        'p',
        { class: 'about' },
        `Trials in virtual time, seed ${sweep.seed}; everything is in multiples of the engine’s capacity Ĉ.`,
      ),
      element('section', { class: 'wide' }, figureOf(picture)),
    ],
  });
}

interface Axes {
  readonly loads: readonly number[];
  /** Highest first, as they are drawn. */
  readonly pulses: readonly number[];
}

function fieldOf(deadline: number, cells: readonly SweepCell[], { loads, pulses }: Axes): readonly Markup[] {
  const cellAt = (column: number, row: number): SweepCell | undefined =>
    cells.find(({ load, pulse }) => load === loads[column] && pulse === pulses[row]);
  const bottom = HEAD + pulses.length * CELL.height;
  const drawn = pulses.flatMap((_, row) =>
    loads.flatMap((__, column) => cellOf(cellAt(column, row), column, row)),
  );
  const up = pulses.map((pulse, row) =>
    worded(
      'text',
      { class: 'quiet', x: LEFT - 6, y: HEAD + (row + 0.5) * CELL.height + 4, 'text-anchor': 'end' },
      `${pulse} Ĉ`,
    ),
  );
  const across = loads.map((load, column) =>
    worded(
      'text',
      { class: 'quiet', x: LEFT + (column + 0.5) * CELL.width, y: bottom + 15, 'text-anchor': 'middle' },
      `${load} Ĉ`,
    ),
  );
  const right = LEFT + loads.length * CELL.width;
  return [
    worded('text', { class: 'strong', x: LEFT, y: 12 }, `clients leave after ${deadline} s`),
    worded('text', { class: 'quiet', x: LEFT - 6, y: 12, 'text-anchor': 'end' }, 'pulse'),
    ...drawn,
    element('path', { class: 'boundary', d: boundaryOf(cellAt, loads.length, pulses.length) }),
    ...up,
    ...across,
    worded(
      'text',
      { class: 'quiet', x: right, y: bottom + 31, 'text-anchor': 'end' },
      'load before and after the pulse',
    ),
  ];
}

function cellOf(cell: SweepCell | undefined, column: number, row: number): readonly Markup[] {
  if (cell === undefined) return [];
  const place = { x: LEFT + column * CELL.width, y: HEAD + row * CELL.height, ...CELL };
  const after = cell.recoveredAfterSeconds;
  const ground =
    after === null
      ? element('rect', { class: 'edge', ...place, fill: fillOf('abandoned') })
      : element('rect', {
          class: 'onTime edge',
          ...place,
          'fill-opacity': 0.1 + 0.75 * Math.min(1, after / SLOWEST_SECONDS),
        });
  const middle = {
    class: 'halo',
    x: place.x + CELL.width / 2,
    y: place.y + CELL.height / 2 + 4,
    'text-anchor': 'middle',
  };
  return [ground, worded('text', middle, cellWords(cell))];
}

function cellWords(cell: SweepCell | undefined): string {
  if (cell === undefined) return '';
  return cell.recoveredAfterSeconds === null ? 'never' : `${grouped(cell.recoveredAfterSeconds)} s`;
}

/** Edges between a cell that recovered and one that did not. */
function boundaryOf(
  cellAt: (column: number, row: number) => SweepCell | undefined,
  columns: number,
  rows: number,
): string {
  const recovered = (column: number, row: number): boolean | undefined => {
    const cell = cellAt(column, row);
    return cell === undefined ? undefined : cell.recoveredAfterSeconds !== null;
  };
  const parts = (a: boolean | undefined, b: boolean | undefined): boolean =>
    a !== undefined && b !== undefined && a !== b;
  const edges: string[] = [];
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const [x, y] = [LEFT + column * CELL.width, HEAD + row * CELL.height];
      const own = recovered(column, row);
      if (column > 0 && parts(recovered(column - 1, row), own))
        edges.push(`M${short(x)} ${short(y)}v${CELL.height}`);
      if (row > 0 && parts(recovered(column, row - 1), own))
        edges.push(`M${short(x)} ${short(y)}h${CELL.width}`);
    }
  }
  return edges.join('');
}

function legend(): readonly Markup[] {
  const swatch = { y: 6, width: 20, height: 12 };
  return [
    element('rect', { class: 'onTime', x: 8, ...swatch, 'fill-opacity': 0.2 }),
    element('rect', { class: 'onTime', x: 30, ...swatch, 'fill-opacity': 0.8 }),
    worded('text', { x: 56, y: 16 }, 'seconds from the end of the pulse to recovery, darker is slower'),
    element('rect', { x: 456, ...swatch, fill: fillOf('abandoned') }),
    worded('text', { x: 482, y: 16 }, 'no recovery before the plan ended'),
    element('path', { class: 'boundary', d: 'M700 12h22' }),
    worded('text', { x: 728, y: 16 }, 'boundary'),
  ];
}
