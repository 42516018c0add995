/** The tables of `holdfast trial`, as text. */

import type { FigureDifference } from '../../core/report/comparison-page.js';
import type { Clairvoyant } from '../../core/trial/clairvoyant.js';
import type { FigureRow } from '../../core/trial/published.js';
import type { RunSummary } from '../../core/trial/scenario.js';

/** Rows of cells in columns as wide as they must be; the first `left` columns to the left, the rest to the right. */
export function columns(rows: readonly (readonly string[])[], left = 1): string {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows
    .map((row) => {
      const cells = row.map((cell, at) => {
        const width = widths[at] ?? 0;
        return at < left ? cell.padEnd(width) : cell.padStart(width);
      });
      return `${cells.join('  ').trimEnd()}\n`;
    })
    .join('');
}

/** Published against ours; `inside` of all at the end. */
export function figuresText(rows: readonly FigureRow[]): string {
  const head = ['#', 'arm', 'figure', 'published', 'lowest', 'mean', 'highest', 'verdict'];
  const body = rows.map(({ id, arm, figure, published, ours, verdict }) => [
    String(id),
    arm,
    figure,
    rangeText(published.lowest, published.highest),
    ...(ours === null ? ['—', '—', '—'] : [ours.lowest, ours.mean, ours.highest].map(String)),
    verdict,
  ]);
  const inside = rows.filter((row) => row.inside).length;
  const overlap = rows.filter(({ verdict }) => verdict === 'ranges overlap').length;
  return `${columns([head, ...body], 3)}\n${inside} of ${rows.length} means inside the published range, ${overlap} more ranges overlap.\n`;
}

function rangeText(lowest: number, highest: number): string {
  return lowest === highest ? String(lowest) : `${lowest}–${highest}`;
}

/** One scenario's stages and figures, a column a seed. */
export function scenarioText(name: string, runs: readonly RunSummary[]): string {
  const seeds = runs.map(({ seed }) => `seed ${seed}`);
  const row = (label: string, of: (run: RunSummary) => number | null | undefined, digits = 1): string[] => [
    label,
    ...runs.map((run) => numberText(of(run), digits)),
  ];
  const groups = ({ stages, clients = [] }: RunSummary): RunSummary['stages'] => [...stages, ...clients];
  const rows = (runs[0] === undefined ? [] : groups(runs[0])).flatMap(({ stage }, at) => {
    const its = (run: RunSummary): RunSummary['stages'][number] | undefined => groups(run)[at];
    const share = (part: 'deliveredByDeadline' | 'deliveredByHorizon' | 'refused' | 'abandoned') => {
      return (run: RunSummary): number => (100 * (its(run)?.[part] ?? 0)) / (its(run)?.calls ?? 0);
    };
    return [
      row(`${stage}: calls`, (run) => its(run)?.calls, 0),
      row(`${stage}: delivered by the deadline, %`, share('deliveredByDeadline')),
      row(`${stage}: delivered by the horizon, %`, share('deliveredByHorizon')),
      row(`${stage}: refused, %`, share('refused')),
      row(`${stage}: abandoned, %`, share('abandoned')),
      row(`${stage}: attempts per call`, (run) => (its(run)?.attempts ?? 0) / (its(run)?.calls ?? 0), 2),
      row(`${stage}: executions per call`, (run) => (its(run)?.executions ?? 0) / (its(run)?.calls ?? 0), 2),
      row(`${stage}: answer after, median s`, (run) => (its(run)?.latenessMs.median ?? 0) / 1_000),
    ];
  });
  const recovery = [
    row('backlog back at its base after, s', (run) => run.recovery.backlogSeconds, 0),
    row('calls on time again after, s', (run) => run.recovery.onTimeSeconds, 0),
  ];
  const figures = Object.keys(runs[0]?.figures ?? {}).map((figure) =>
    row(figure, (run) => run.figures[figure], 3),
  );
  return `${name}\n\n${columns([['', ...seeds], ...rows, ...recovery, ...figures])}`;
}

function numberText(value: number | null | undefined, digits: number): string {
  return value === null || value === undefined || Number.isNaN(value) ? '—' : value.toFixed(digits);
}

/** One run beside the most that could have been on time. */
export interface RunBound extends Clairvoyant {
  readonly seed: number;
  readonly onTime: number;
}

/** Calls inside their first deadline, and how many could have been. */
export function boundsText(bounds: readonly RunBound[]): string {
  const pct = (part: number, whole: number): string => ((100 * part) / whole).toFixed(2);
  const head = [
    'seed',
    'on time, %',
    'at most, %',
    'of that, %',
    'if all were alike, at most, %',
    'of that, %',
  ];
  const body = bounds.map(({ seed, calls, onTime, most, mostAlike }) => [
    String(seed),
    pct(onTime, calls),
    pct(most, calls),
    pct(onTime, most),
    pct(mostAlike, calls),
    pct(onTime, mostAlike),
  ]);
  return `\n${columns([head, ...body])}`;
}

/** Differences of two scenarios over the same seeds. */
export function comparisonText(a: string, b: string, rows: readonly FigureDifference[]): string {
  const head = ['figure', 'A', 'B', 'B − A', '± 95 %'];
  const body = rows.map(({ figure, a: left, b: right, difference, halfWidth }) => [
    figure,
    numberText(left, 3),
    numberText(right, 3),
    numberText(difference, 3),
    numberText(halfWidth, 3),
  ]);
  return `A: ${a}\nB: ${b}\n${rows[0]?.seeds ?? 0} seeds, paired\n\n${columns([head, ...body])}`;
}
