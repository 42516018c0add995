/** Several runs on one page: small pictures on shared axes, every seed's delivered share, and paired differences. */

import type { RunRecord } from '../drill/run.js';
import { armsOf, mismatches, type Panel, panelsOf } from './arms.js';
import { attemptsByStage, CLASSES } from './attempts-chart.js';
import { barsOf } from './bars.js';
import { htmlFile, listOf } from './document.js';
import { element, type Markup, worded } from './markup.js';
import { legendStrip, type PanelRow, panelRows, rowPicture } from './panels.js';
import { figureOf, type Picture, tableOf } from './picture.js';
import { PREFILL_ENDS, PREFILL_WORDS, prefillOf } from './prefill.js';
import { END_INKS } from './prefill-chart.js';
import { aboutOf, DEFINITIONS, invalidBanner } from './report-page.js';
import { seedsPicture } from './seeds-chart.js';
import { aftermathStage } from './stages.js';
import { verdictOf } from './summary.js';
import { percent, ratio, tokens, trimmed } from './words.js';

/** One number of two arms over the seeds that both have. */
export interface FigureDifference {
  readonly figure: string;
  /** Means. */
  readonly a: number;
  readonly b: number;
  /** Mean of b − a, seed by seed, and the half width of its 95 % interval; null with one seed. */
  readonly difference: number;
  readonly halfWidth: number | null;
  readonly seeds: number;
}

export interface Differences {
  readonly a: string;
  readonly b: string;
  readonly rows: readonly FigureDifference[];
}

const WIDE = 1_120;

/** The whole HTML file; the same records give the same bytes. `differences` are of arms by their names. */
export function comparisonPage(records: readonly RunRecord[], differences: readonly Differences[]): string {
  const arms = armsOf(records);
  const panels = panelsOf(arms);
  const [first] = records;
  const names = arms.map(({ name }) => name).join(' and ');
  const invalid = records.flatMap(({ head }) =>
    head.invalid.map((reason) => `${head.name}, seed ${head.seed}: ${reason}`),
  );
  const body = [
    worded('h1', {}, arms.length <= 3 ? names : `${arms.length} arms side by side`),
    worded('p', { class: 'about' }, first === undefined ? '' : aboutOf(first.head)),
    ...invalidBanner(invalid),
    listOf(panels.map(({ name, record }): readonly [string, string] => [name, verdictOf(record)])),
    ...mismatches(arms).map((words) => worded('p', { class: 'note' }, words)),
    wide(seedsPicture(arms)),
    ...panelRows(panels).map(rowSection),
    ...barsFor(panels).map(wide),
    ...differences.map(differencesSection),
    element('section', {}, worded('h2', {}, 'What the words mean'), listOf(DEFINITIONS)),
  ];
  return htmlFile({ title: `${invalid.length > 0 ? 'INVALID: ' : ''}${names}`, body });
}

/** Every picture of a comparison, each in one piece, for documents. */
export function comparisonPictures(records: readonly RunRecord[]): readonly Picture[] {
  const panels = panelsOf(armsOf(records));
  const seeds = seedsPicture(armsOf(records));
  const rows = panelRows(panels).map((row) =>
    rowPicture(row, row.id === 'arrivals' ? seeds.title : row.title),
  );
  return [seeds, ...rows, ...barsFor(panels)];
}

function barsFor(panels: readonly Panel[]): readonly Picture[] {
  const prefill = prefillBars(panels);
  return [...(prefill === undefined ? [] : [prefill]), attemptsBars(panels)];
}

function wide(picture: Picture): Markup {
  return element('section', { class: 'wide' }, figureOf(picture));
}

/** A row of small pictures under one legend. */
function rowSection(row: PanelRow): Markup {
  return element(
    'section',
    {},
    worded('h2', {}, row.title),
    element('div', { class: 'legend' }, legendStrip(row)),
    element('div', { class: 'panels' }, ...row.pictures.map((picture) => figureOf(picture, 'h3'))),
  );
}

/** One bar a run that tells of its executions; undefined where none does. */
function prefillBars(panels: readonly Panel[]): Picture | undefined {
  const told = panels.flatMap(({ name, record }) => {
    const prefill = prefillOf(record);
    return prefill === undefined || prefill.computed === 0 ? [] : [{ name, prefill }];
  });
  if (told.length === 0) return undefined;
  const silent = panels.length - told.length;
  return {
    id: 'prefill',
    title: 'Where prefill went',
    description:
      'One bar a run: shares of its computed prompt tokens by what became of the execution they were computed for.',
    width: WIDE,
    ...barsOf({
      width: WIDE,
      unit: 'per cent of computed prompt tokens',
      nameWidth: 250,
      endWidth: 190,
      words: Object.fromEntries(PREFILL_ENDS.map((end) => [END_INKS[end], PREFILL_WORDS[end]])),
      bars: told.map(({ name, prefill: { computed, ends, hidden } }) => ({
        name,
        about: `${tokens(computed)} tokens`,
        parts: PREFILL_ENDS.map((end) => ({ ink: END_INKS[end], share: ends[end] / computed })),
        end: `${percent(hidden / computed)} never counted`,
      })),
    }),
    notes: silent > 0 ? [`${silent} of the runs tell of no execution and are left out.`] : [],
    table: undefined,
  };
}

/** One bar a run: attempts of the calls of its last stage. */
function attemptsBars(panels: readonly Panel[]): Picture {
  const rows = panels.map(({ name, record }) => ({
    name,
    stage: attemptsByStage(record)[aftermathStage(record.head.plan)],
  }));
  return {
    id: 'attempts',
    title: `Attempts per call in “${rows[0]?.stage?.stage ?? ''}”`,
    description: 'One bar a run: shares of the calls of its last stage by the number of their attempts.',
    width: WIDE,
    ...barsOf({
      width: WIDE,
      unit: 'per cent of the calls of the stage',
      nameWidth: 250,
      endWidth: 190,
      words: Object.fromEntries(CLASSES.map(({ ink, words }) => [ink, words])),
      bars: rows.map(({ name, stage }) => ({
        name,
        about: stage?.stage ?? '',
        parts: CLASSES.map(({ ink }, at) => ({
          ink,
          share: (stage?.classes[at] ?? 0) / Math.max(1, stage?.calls ?? 0),
        })),
        end: `mean ${ratio((stage?.attempts ?? 0) / (stage?.calls ?? 0))}`,
      })),
    }),
    notes: [],
    table: undefined,
  };
}

function differencesSection({ a, b, rows }: Differences): Markup {
  const [seeds] = rows.map((row) => row.seeds);
  return element(
    'section',
    {},
    worded('h2', {}, `From ${a} to ${b}`),
    worded(
      'p',
      { class: 'note' },
      seeds === undefined
        ? 'No seed was run under both: nothing can be paired.'
        : `Means over ${seeds === 1 ? 'one seed' : `${seeds} seeds`}, paired by seed; the interval is Student’s, 95 %.`,
    ),
    tableOf({
      head: ['figure', a, b, 'difference', '± 95 %'],
      rows: rows.map((row) => [
        row.figure,
        trimmed(row.a, 2),
        trimmed(row.b, 2),
        trimmed(row.difference, 2),
        row.halfWidth === null ? '—' : trimmed(row.halfWidth, 2),
      ]),
    }),
  );
}
