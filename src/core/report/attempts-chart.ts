/** Attempts per call: how many requests the calls of each stage became. */

import type { RunRecord } from '../drill/run.js';
import { barsOf, leftOutNotes } from './bars.js';
import type { Picture, Table } from './picture.js';
import { aftermathStage } from './stages.js';
import type { Ink } from './style.js';
import { counted, grouped, percent, ratio } from './words.js';

const WIDTH = 560;

/** Classes of calls by their attempts; `most` inclusive. */
export const CLASSES = [
  { ink: 'onTime', most: 1, words: '1 attempt' },
  { ink: 'late', most: 2, words: '2' },
  { ink: 'refused', most: 3, words: '3' },
  { ink: 'abandoned', most: 4, words: '4' },
  { ink: 'broken', most: 8, words: '5 to 8' },
  { ink: 'tooLate', most: Number.POSITIVE_INFINITY, words: '9 and more' },
] as const satisfies readonly { ink: Ink; most: number; words: string }[];

export interface AttemptsOfStage {
  readonly stage: string;
  /** Calls that made at least one attempt. */
  readonly calls: number;
  readonly attempts: number;
  /** Calls by class; they sum to `calls`. */
  readonly classes: readonly number[];
}

/** Attempts that were recorded, counted for each call; a call still open counts with those it has made. */
export function attemptsByStage({ head, calls, attempts }: RunRecord): readonly AttemptsOfStage[] {
  const made = new Map<number, number>();
  const stageOf = new Map<number, number>();
  for (const { call, stage, attempts: count } of calls) {
    made.set(call, count);
    stageOf.set(call, stage);
  }
  const ends = stageEnds(head.plan);
  for (const { call, attempt, plannedMs } of attempts) {
    if (stageOf.has(call) && (made.get(call) ?? 0) > attempt) continue;
    made.set(call, Math.max(made.get(call) ?? 0, attempt + 1));
    if (!stageOf.has(call))
      stageOf.set(
        call,
        ends.findIndex((end) => plannedMs < end),
      );
  }
  const stages = head.plan.stages.map(({ name }) => ({
    stage: name,
    calls: 0,
    attempts: 0,
    classes: CLASSES.map(() => 0),
  }));
  for (const [call, count] of made) {
    const its = stages[stageOf.get(call) ?? -1];
    if (its === undefined) continue;
    its.calls += 1;
    its.attempts += count;
    const at = CLASSES.findIndex(({ most }) => count <= most);
    its.classes[at] = (its.classes[at] ?? 0) + 1;
  }
  return stages;
}

function stageEnds({ stages }: RunRecord['head']['plan']): readonly number[] {
  let end = 0;
  return stages.map(({ seconds }, at) => {
    end += seconds * 1_000;
    return at === stages.length - 1 ? Number.POSITIVE_INFINITY : end;
  });
}

export function attemptsPicture(record: RunRecord): Picture {
  const stages = attemptsByStage(record);
  const { height, drawing } = barsOf({
    width: WIDTH,
    words: Object.fromEntries(CLASSES.map(({ ink, words }) => [ink, words])),
    unit: 'per cent of the calls of the stage',
    nameWidth: 104,
    endWidth: 72,
    bars: stages.map(({ stage, calls, attempts, classes }) => ({
      name: stage,
      about: counted(calls, 'call'),
      parts: CLASSES.map(({ ink }, at) => ({ ink, share: calls === 0 ? 0 : (classes[at] ?? 0) / calls })),
      end: `mean ${ratio(attempts / calls)}`,
    })),
  });
  const last = stages[aftermathStage(record.head.plan)];
  return {
    id: 'attempts',
    title:
      last === undefined || last.calls === 0
        ? 'Attempts per call: the last stage made none'
        : `A call of “${last.stage}” became ${ratio(last.attempts / last.calls)} attempts`,
    description: `One bar a stage: shares of its calls by the number of their attempts. ${stages
      .map(
        ({ stage, calls, classes }) =>
          `${stage}: ${CLASSES.map(({ words }, at) => `${percent((classes[at] ?? 0) / calls)} ${words}`).join(', ')}.`,
      )
      .join(' ')}`,
    width: WIDTH,
    height,
    drawing,
    notes: leftOutNotes(stages.length),
    table: tableOf(record, stages),
  };
}

/** Classes that no call is in are left out. */
function tableOf(record: RunRecord, stages: readonly AttemptsOfStage[]): Table {
  const used = CLASSES.map((_, at) => at).filter((at) =>
    stages.some(({ classes }) => (classes[at] ?? 0) > 0),
  );
  return {
    head: [
      'stage',
      'calls',
      ...used.map((at) => CLASSES[at]?.words ?? ''),
      'attempts',
      'per call',
      'executions per call',
    ],
    rows: stages.map(({ stage, calls, attempts, classes }, row) => [
      stage,
      grouped(calls),
      ...used.map((at) => grouped(classes[at] ?? 0)),
      grouped(attempts),
      ratio(attempts / calls),
      ratio(executionsPerCall(record, row)),
    ]),
  };
}

function executionsPerCall({ head }: RunRecord, stage: number): number | undefined {
  const { executions, calls = 0 } = head.stages[stage] ?? {};
  return executions === undefined ? undefined : executions / calls;
}
