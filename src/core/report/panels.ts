/** Small pictures of several runs on shared axes: rows for a page, or one picture of all for a document. */

import type { RunRecord } from '../drill/run.js';
import type { Panel } from './arms.js';
import { arrivalsDrawing, flowMost, flowOf, legendFor } from './arrivals-chart.js';
import { latencyDrawing, latencyMost } from './latency-chart.js';
import { cut, type LegendEntry, legendOf, ROW } from './legend.js';
import { element, type Markup, short, worded } from './markup.js';
import { missingPicture, type Picture } from './picture.js';
import { runSeconds } from './stages.js';
import { fillOf } from './style.js';
import { waitingDrawing, waitingLegend, waitingMost, waitingOf } from './waiting-chart.js';

/** One kind of picture for each panel, all on the same axes. */
export interface PanelRow {
  readonly id: string;
  readonly title: string;
  readonly legend: readonly LegendEntry[];
  readonly pictures: readonly Picture[];
}

const PANEL = { width: 420, height: 212 } as const;
/** The strip above the dots. */
const LATENCY_HEIGHT = PANEL.height + 40;
const COLUMNS = 2;
const GAP = 16;

export function panelRows(panels: readonly Panel[]): readonly PanelRow[] {
  const seconds = Math.max(...panels.map(({ record }) => runSeconds(record)));
  return [arrivalsRow(panels, seconds), waitingRow(panels, seconds), latencyRow(panels)];
}

type Drawn = Pick<Picture, 'drawing' | 'height' | 'notes'>;

function picturesFor(
  id: string,
  panels: readonly Panel[],
  shows: string,
  draw: (record: RunRecord, at: number) => Drawn | undefined,
): readonly Picture[] {
  return panels.map(({ name, record }, at) => {
    const named = { id: `${id}-${at}`, title: name, table: undefined };
    const drawn = draw(record, at);
    if (drawn === undefined) {
      const notes = ['Not known: neither engine nor gateway could be read.'];
      return missingPicture({ ...named, notes }, PANEL.width, PANEL.height);
    }
    return { ...named, description: `${name}: ${shows}`, width: PANEL.width, ...drawn };
  });
}

function arrivalsRow(panels: readonly Panel[], seconds: number): PanelRow {
  const flows = panels.map(({ record }) => flowOf(record, 50, seconds));
  const tops = flows.map((flow, at) => flowMost(flow, panels[at]?.record.head.capacity ?? null));
  const size = { ...PANEL, legend: false, seconds, most: Math.max(...tops) * 1.05 };
  return {
    id: 'arrivals',
    title: 'Arrivals against executions',
    legend: legendFor({ executions: flows.find(({ executions }) => executions !== undefined)?.executions }),
    pictures: picturesFor(
      'arrivals',
      panels,
      'calls, attempts, executions and answers over the time of the run.',
      (record, at) => {
        const flow = flows[at];
        if (flow === undefined) return undefined;
        const notes = flow.executions === undefined ? ['Executions are missing: nobody counted them.'] : [];
        return { drawing: arrivalsDrawing(record, flow, size), height: PANEL.height, notes };
      },
    ),
  };
}

function waitingRow(panels: readonly Panel[], seconds: number): PanelRow {
  const waits = panels.map(({ record }) => waitingOf(record, 100, seconds));
  const size = { ...PANEL, legend: false, seconds, most: Math.max(...waits.map(waitingMost)) * 1.05 };
  const known = (of: 'engine' | 'line'): readonly number[] | undefined => {
    const all = waits.flatMap((waiting) => waiting[of] ?? []);
    return all.length === 0 ? undefined : all;
  };
  return {
    id: 'waiting',
    title: 'Calls waiting',
    legend: waitingLegend({ engine: known('engine'), line: known('line') }),
    pictures: picturesFor('waiting', panels, 'calls waiting over the time of the run.', (record, at) => {
      const waiting = waits[at];
      if (waiting === undefined || (waiting.engine === undefined && waiting.line === undefined))
        return undefined;
      return { drawing: waitingDrawing(record, waiting, size), height: PANEL.height, notes: [] };
    }),
  };
}

function latencyRow(panels: readonly Panel[]): PanelRow {
  const most = Math.max(...panels.map(({ record }) => latencyMost(record)));
  const size = { width: PANEL.width, height: LATENCY_HEIGHT, legend: false, most, strip: true };
  return {
    id: 'latency',
    title: 'Seconds until the whole answer, by arrival',
    legend: [
      { words: 'by the deadline', fill: fillOf('onTime') },
      { words: 'later', fill: fillOf('late') },
      { words: 'strip: share without an answer', fill: fillOf('abandoned') },
    ],
    pictures: picturesFor(
      'latency',
      panels,
      'delivered calls by the moment they were planned and the seconds until their answer; above, the share without one.',
      (record) => ({ drawing: latencyDrawing(record, size), height: LATENCY_HEIGHT, notes: [] }),
    ),
  };
}

/** A row's legend for a page. */
export function legendStrip({ legend }: PanelRow): Markup {
  const { height, drawing } = legendOf(legend, 2, 0, 2 * PANEL.width);
  const width = 2 * PANEL.width;
  const attributes = {
    viewBox: `0 0 ${width} ${height + 2}`,
    width,
    height: height + 2,
    'aria-hidden': 'true',
  };
  return element('svg', attributes, ...drawing);
}

/** All of a row in one picture, two a line, under one legend. */
export function rowPicture({ id, title, legend, pictures }: PanelRow, heading = title): Picture {
  const columns = Math.min(COLUMNS, pictures.length);
  const width = columns * PANEL.width + (columns - 1) * GAP;
  const strip = legendOf(legend, 8, 2, width - 16);
  const height = Math.max(...pictures.map((picture) => picture.height)) + ROW + 8;
  const panels = pictures.flatMap((picture, at) => {
    const x = (at % columns) * (PANEL.width + GAP);
    const y = strip.height + 8 + Math.floor(at / columns) * height;
    const name = worded('text', { class: 'strong', x: 8, y: 13 }, cut(picture.title, PANEL.width));
    const drawing = element('g', { transform: `translate(0 ${ROW + 4})` }, ...picture.drawing);
    return [element('g', { transform: `translate(${short(x)} ${short(y)})` }, name, drawing)];
  });
  return {
    id,
    title: heading,
    description: pictures.map((picture) => picture.description).join(' '),
    width,
    height: strip.height + 8 + Math.ceil(pictures.length / columns) * height,
    drawing: [...strip.drawing, ...panels],
    notes: pictures.flatMap(({ title: name, notes }) => notes.map((note) => `${name}: ${note}`)),
    table: undefined,
  };
}
