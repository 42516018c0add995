/** What `holdfast calibrate` prints: a line a stage while it searches, and the result with its evidence. */

import { type CalibrationResult, DOUBTS, type JudgedStage } from '../../core/drill/calibrate.js';
import { columns } from './trial-text.js';

const SIGNALS = { waiting: 'waiting gauge', 'first-byte': 'time to first byte' } as const;

/** One stage as it ends, for stderr. */
export function stageLine(stage: JudgedStage, at: number): string {
  const { perSecond, seconds, verdict, growth } = stage;
  const excess = growth === null ? '' : `, growth ${percent(growth.excess, 2)} ± ${percent(growth.error, 2)}`;
  return `stage ${at}: ${rateText(perSecond)} calls/s for ${seconds.toFixed(0)} s: ${verdict}${excess}\n`;
}

/** The result: Ĉ or why there is none, then every stage. */
export function calibrationText(result: CalibrationResult): string {
  return `${headText(result)}\n${stagesText(result.stages)}`;
}

function headText(result: CalibrationResult): string {
  if (result.verdict === 'could_not_tell') {
    return `Ĉ could not be told: ${DOUBTS[result.reason]}.\n`;
  }
  const { capacity, grows, servedPerSecond, signal, seconds } = result;
  const above = percent(grows / capacity - 1, 1);
  const rows: (readonly string[])[] = [
    ['Ĉ', `${rateText(capacity)} calls/s, the highest rate at which the queue did not grow`],
    ['grows at', `${rateText(grows)} calls/s, ${above} above (grain ${percent(result.grain, 1)})`],
    ['served when full', servedPerSecond === null ? 'not seen' : `${rateText(servedPerSecond)} calls/s`],
    ['judged by', SIGNALS[signal]],
    ['load', `${result.stages.length} stages, ${seconds.toFixed(0)} s together`],
  ];
  return columns(rows, 2);
}

function stagesText(stages: readonly JudgedStage[]): string {
  const head = ['calls/s', 'seconds', 'calls', 'failed', 'growth', '±', 'counts from', 'verdict', 'served/s'];
  const rows = stages.map(({ perSecond, seconds, calls, failed, growth, verdict, servedPerSecond }) => [
    rateText(perSecond),
    seconds.toFixed(0),
    String(calls),
    String(failed),
    ...(growth === null
      ? ['—', '—', '—']
      : [growth.excess, growth.error, growth.threshold].map((share) => percent(share, 2))),
    verdict,
    servedPerSecond === null ? '—' : rateText(servedPerSecond),
  ]);
  return `${columns([head, ...rows], 0)}\nGrowth: by how much of the arriving calls the queue grows over the judged part of the stage.\n`;
}

function rateText(perSecond: number): string {
  return perSecond.toPrecision(perSecond >= 1_000 ? 5 : 4);
}

function percent(share: number, digits: number): string {
  return `${(100 * share).toFixed(digits)} %`;
}
