/** What a drill showed, as a table. */

import type { StageOutcome } from '../../core/drill/outcome.js';
import type { GeneratorLag, RunHead } from '../../core/drill/run.js';
import { columns } from './trial-text.js';

const HEAD = [
  'stage',
  'calls',
  'on time %',
  'delivered %',
  'refused %',
  'abandoned %',
  'broken %',
  'open %',
  'attempts/call',
  'executions/call',
  'answer s',
  'p99 s',
];

/** Stages, recovery, and how far the generator can be believed; shares are of all planned calls. */
export function drillText(head: RunHead): string {
  const { name, target, seed, capacity, stages, total, recovery, generator, executionsCountedBy } = head;
  const many = stages.length > 1;
  const rows = [...stages, ...(many ? [total] : [])].map(rowOf);
  const counted =
    executionsCountedBy === null
      ? 'executions: nobody could count them'
      : `executions: ${executionsCountedBy}`;
  const lines = [
    `${name}, ${target}, seed ${seed}${capacity === null ? '' : `, Ĉ ${capacity} calls/s`}`,
    '',
    columns([HEAD, ...rows]).trimEnd(),
    '',
    `backlog back at its base after ${secondsText(recovery.backlogSeconds)}, calls on time again after ${secondsText(recovery.onTimeSeconds)}`,
    counted,
    ...(generator === null ? [] : [lagText(generator)]),
    ...(head.stopped ? ['STOPPED before every call had ended'] : []),
    ...head.invalid.map((reason) => `INVALID: ${reason}`),
  ];
  return `${lines.join('\n')}\n`;
}

function rowOf(outcome: StageOutcome): readonly string[] {
  const { stage, calls, attempts, executions, latenessMs } = outcome;
  const share = (of: number): string => number((100 * of) / calls, 1);
  return [
    stage,
    String(calls),
    share(outcome.deliveredByDeadline),
    share(outcome.deliveredByHorizon),
    share(outcome.refused),
    share(outcome.abandoned),
    share(outcome.broken),
    share(outcome.open),
    number(attempts / calls, 2),
    executions === undefined ? '—' : number(executions / calls, 2),
    number(latenessMs.median / 1_000, 2),
    number(latenessMs.p99 / 1_000, 2),
  ];
}

function number(value: number, digits: number): string {
  return Number.isFinite(value) ? value.toFixed(digits) : '—';
}

function secondsText(seconds: number | null): string {
  return seconds === null ? '— (not before the last stage ended)' : `${seconds} s`;
}

function lagText({ sendMs, loopMs }: GeneratorLag): string {
  return `generator: sent ${sendMs.p99} ms late at p99 (${sendMs.most} at most), event loop ${loopMs.p99} ms at p99 (${loopMs.most} at most)`;
}
