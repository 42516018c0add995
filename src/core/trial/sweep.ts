/** Where recovery ends and collapse begins: the scenario over pulse heights, deadlines and loads. */

import type { RunSummary } from './scenario.js';

export const SWEEP_PULSES = [1.2, 1.5, 2, 2.7, 3.5] as const;
export const SWEEP_DEADLINES = [30, 60, 120, 240] as const;
export const SWEEP_LOADS = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8] as const;

export interface SweepPoint {
  /** Height of the pulse and load before and after it, multiples of Ĉ. */
  readonly pulse: number;
  readonly load: number;
  readonly deadlineSeconds: number;
}

export function sweepPoints(): readonly SweepPoint[] {
  return SWEEP_DEADLINES.flatMap((deadlineSeconds) =>
    SWEEP_PULSES.flatMap((pulse) => SWEEP_LOADS.map((load) => ({ pulse, load, deadlineSeconds }))),
  );
}

/** Seconds to recovery, the later of both definitions; null: not before the hold ended. */
export function recoveredAfter({ recovery }: RunSummary): number | null {
  const { backlogSeconds, onTimeSeconds } = recovery;
  if (backlogSeconds === null || onTimeSeconds === null) return null;
  return Math.max(backlogSeconds, onTimeSeconds);
}

/** One table a deadline: pulses down, loads across, seconds to recovery or `—`; `summaries` in the points' order. */
export function sweepTable(points: readonly SweepPoint[], summaries: readonly RunSummary[]): string {
  const cells = new Map(points.map((point, at) => [keyOf(point), summaries[at]]));
  const tables = SWEEP_DEADLINES.map((deadlineSeconds) => {
    const head = `clients leave after ${deadlineSeconds} s\n  pulse \\ load ${SWEEP_LOADS.map(column).join('')}\n`;
    const rows = SWEEP_PULSES.map((pulse) => {
      const values = SWEEP_LOADS.map((load) => {
        const summary = cells.get(keyOf({ pulse, load, deadlineSeconds }));
        return column(summary === undefined ? '?' : (recoveredAfter(summary) ?? '—'));
      });
      return `  ${`${pulse} Ĉ`.padEnd(12)}${values.join('')}\n`;
    });
    return head + rows.join('');
  });
  return tables.join('\n');
}

function keyOf({ pulse, load, deadlineSeconds }: SweepPoint): string {
  return `${pulse}/${load}/${deadlineSeconds}`;
}

function column(value: string | number): string {
  return String(value).padStart(7);
}
