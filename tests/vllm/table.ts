/** Rows as a table that can be pasted into a note. */

import type { Row } from './observe.js';

const COLUMNS: readonly [string, (row: Row) => string][] = [
  ['scene', (row) => row.scene],
  ['client', (row) => row.client],
  ['needs', (row) => seconds(row.naturalMs)],
  ['timeout', (row) => seconds(row.timeoutMs)],
  ['delivered', (row) => `${row.delivered} of ${row.calls}`],
  ['attempts', (row) => String(row.attempts)],
  ['executions', (row) => String(row.executions)],
  ['begun', (row) => String(Math.round(row.began * 100) / 100)],
  ['aborted', (row) => String(row.aborted)],
  ['ids', (row) => String(row.distinctIds)],
  [
    'attempts were',
    (row) =>
      Object.entries(row.outcomes)
        .map(([word, count]) => `${count} ${word}`)
        .join(', '),
  ],
  ['verdict', verdict],
];

/** A Markdown table, one row a scene. */
export function table(rows: readonly Row[]): string {
  const cells = [COLUMNS.map(([title]) => title), ...rows.map((row) => COLUMNS.map(([, of]) => of(row)))];
  const widths = COLUMNS.map((_, at) => Math.max(...cells.map((line) => line[at]?.length ?? 0)));
  const lines = cells.map(
    (line) => `| ${line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`,
  );
  lines.splice(1, 0, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`);
  return lines.join('\n');
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function verdict(row: Row): string {
  const again = row.tries > 1 ? ` (try ${row.tries})` : '';
  if (row.failures.length > 0) return `FAILED${again}: ${row.failures.join('; ')}`;
  const lost = [...new Set(row.errors)].map((error) => error.slice(0, 60)).join('; ');
  return (lost === '' ? 'ok' : lost) + again;
}
