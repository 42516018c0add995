/** Delivered share: what became of all calls planned in each stage. */

import type { RunRecord } from '../drill/run.js';
import { barsOf, leftOutNotes } from './bars.js';
import { FATE_NAMES, FATE_WORDS, FATES } from './fates.js';
import type { Picture, Table } from './picture.js';
import { aftermathStage } from './stages.js';
import { type StageSummary, stageSummary } from './summary.js';
import { counted, grouped, percent, seconds } from './words.js';

const WIDTH = 560;

export function deliveredPicture({ head }: RunRecord): Picture {
  const stages = head.stages.map(stageSummary);
  const total = { ...stageSummary(head.total), stage: 'all stages' };
  const all = stages.length > 1 ? [...stages, total] : stages;
  const { height, drawing } = barsOf({
    width: WIDTH,
    words: FATE_WORDS,
    unit: 'per cent of the calls planned in the stage',
    nameWidth: 104,
    endWidth: 0,
    bars: all.map(({ stage, calls, fates }) => ({
      name: stage,
      about: counted(calls, 'call'),
      parts: FATES.map((ink) => ({ ink, share: calls === 0 ? 0 : fates[ink] / calls })),
    })),
  });
  return {
    id: 'delivered',
    title: titleOf(stages[aftermathStage(head.plan)] ?? total),
    description: `One bar a stage: the shares of its planned calls by what became of them. ${all.map(wordsOf).join(' ')}`,
    width: WIDTH,
    height,
    drawing,
    notes: [
      'Median, p90 and p99: from a call’s planned moment to its whole answer, of delivered calls.',
      ...leftOutNotes(all.length),
    ],
    table: tableOf(all),
  };
}

/** Fates that no call had are left out. */
function tableOf(all: readonly StageSummary[]): Table {
  const fates = FATES.filter((fate) => all.some((stage) => stage.fates[fate] > 0));
  return {
    head: ['stage', 'calls', ...fates.map((fate) => FATE_NAMES[fate]), 'median', 'p90', 'p99'],
    rows: all.map(({ stage, calls, fates: its, latenessSeconds: { median, p90, p99 } }) => [
      stage,
      grouped(calls),
      ...fates.map((fate) => grouped(its[fate])),
      seconds(median),
      seconds(p90),
      seconds(p99),
    ]),
  };
}

function titleOf({ stage, calls, fates }: StageSummary): string {
  if (calls === 0) return 'Delivered share: no call was planned in the last stage';
  const share = percent((fates.onTime + fates.late) / calls);
  const onTime = percent(fates.onTime / calls);
  if (fates.late === 0)
    return `${share} of the calls of “${stage}” were delivered, all of them by the deadline`;
  return `${share} of the calls of “${stage}” were delivered, ${onTime} by the deadline`;
}

function wordsOf({ stage, calls, fates }: StageSummary): string {
  const parts = FATES.filter((fate) => fates[fate] > 0).map(
    (fate) => `${percent(fates[fate] / calls)} ${FATE_WORDS[fate]}`,
  );
  return `${stage}: ${parts.join(', ')}.`;
}
