/** The comparison as it is printed: one table a workload, in plain columns. */

import type { Compared } from './comparison.js';
import { added, cpuMs, type Figure, pipeOf, rate, rateRatio, resident } from './figures.js';
import { WORKLOAD, WORKLOADS, type WorkloadName } from './workload.js';

const MIB = 1_048_576;

export function digits(value: number, decimals: number): string {
  return Number.isFinite(value) ? value.toFixed(decimals) : '—';
}

/** The middle, and the extremes behind it where there were several rounds. */
export function ranged({ median, least, most }: Figure, decimals: number): string {
  const [middle, low, high] = [median, least, most].map((value) => digits(value, decimals));
  return low === high ? `${middle}` : `${middle} (${low}–${high})`;
}

export function comparisonText(all: readonly Compared[]): string {
  const tables = WORKLOADS.map(
    (workload) => `${WORKLOAD[workload].about}\n${columns(rowsOf(all, workload))}`,
  );
  return [...tables, `held streams\n${columns(heldRows(all))}`].join('\n');
}

function rowsOf(all: readonly Compared[], workload: WorkloadName): string[][] {
  const pipe = pipeOf(all);
  const head = ['', '1/s', 'of the pipe', 'CPU ms', 'RSS MiB', 'at 1/s', 'adds p50 ms', 'adds p99 ms'];
  const first = workload === 'stream' ? ['first event adds p50 ms'] : [];
  const rows = all.map((each) => {
    if (each.leftOut !== undefined) return [each.name, `left out: ${each.leftOut}`];
    return [
      each.name,
      ranged(rate(each, workload), 0),
      ranged(rateRatio(each, pipe, workload), 2),
      ranged(cpuMs(each, workload), 3),
      digits(resident(each, workload).most / MIB, 0),
      digits(each.latencies[workload][0]?.ratePerSecond ?? Number.NaN, 0),
      ranged(added(each, workload, 'p50'), 2),
      ranged(added(each, workload, 'p99'), 2),
      ...first.map(() => ranged(added(each, workload, 'p50', 'firstMs'), 2)),
    ];
  });
  return [[...head, ...first], ...rows];
}

function heldRows(all: readonly Compared[]): string[][] {
  const rows = all.flatMap(({ name, held }) => {
    if (held === undefined) return [];
    if (typeof held === 'string') return [[name, held]];
    return [[name, String(held.taken.whole), digits(held.bytesPerStream / 1e3, 1)]];
  });
  return [['', 'open', 'kB each'], ...rows];
}

function columns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    if (row.length === 2) continue;
    row.forEach((cell, at) => {
      widths[at] = Math.max(widths[at] ?? 0, cell.length);
    });
  }
  return rows
    .map((row) => `  ${row.map((cell, at) => padded(cell, widths[at] ?? 0, at)).join('  ')}`.trimEnd())
    .map((line) => `${line}\n`)
    .join('');
}

function padded(cell: string, width: number, at: number): string {
  return at === 0 ? cell.padEnd(width) : cell.padStart(width);
}
