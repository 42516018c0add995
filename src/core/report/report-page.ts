/** The report of one run: what happened in a sentence, the numbers to read first, every picture, and the plan. */

import type { Rate } from '../drill/plan.js';
import type { RunHead, RunRecord } from '../drill/run.js';
import { arrivalsPicture } from './arrivals-chart.js';
import { attemptsPicture } from './attempts-chart.js';
import { deliveredPicture } from './delivered-chart.js';
import { htmlFile, listOf, type Tile, tilesOf } from './document.js';
import { latencyPicture } from './latency-chart.js';
import { element, type Markup, worded } from './markup.js';
import { figureOf, type Picture, tableOf } from './picture.js';
import { prefillPicture } from './prefill-chart.js';
import { aftermathStage } from './stages.js';
import { type Summary, summaryOf } from './summary.js';
import { waitingPicture } from './waiting-chart.js';
import { grouped, percent, ratio, seconds, trimmed } from './words.js';

/** Every picture of a run, in the order of a report. */
export function picturesOf(record: RunRecord): readonly Picture[] {
  return [
    deliveredPicture(record),
    arrivalsPicture(record),
    waitingPicture(record),
    latencyPicture(record),
    prefillPicture(record),
    attemptsPicture(record),
  ];
}

/** The whole HTML file; the same record gives the same bytes. */
export function reportPage(record: RunRecord): string {
  const { head } = record;
  const summary = summaryOf(record);
  return htmlFile({
    title: `${head.invalid.length > 0 ? 'INVALID: ' : ''}${head.name}, seed ${head.seed}`,
    body: [
      worded('h1', {}, head.name),
      worded('p', { class: 'about' }, aboutOf(head)),
      ...invalidBanner(head.invalid),
      ...(head.stopped ? [worded('p', { class: 'verdict' }, STOPPED)] : []),
      worded('p', { class: 'verdict' }, summary.verdict),
      tilesOf(tilesFor(summary, aftermathStage(head.plan))),
      element('div', { class: 'pictures' }, ...picturesOf(record).map((picture) => figureOf(picture))),
      planSection(head),
    ],
  });
}

const STOPPED = 'The run was stopped before its calls had settled: what follows is what was there by then.';

/** What a run was, in one line. */
export function aboutOf(head: RunHead): string {
  const { kind, target, seed, capacity, timeScale, startedAt, calls, plan } = head;
  const parts = [
    kind === 'trial' ? 'Trial in virtual time' : `Drill against ${target}`,
    `plan “${plan.name}”, ${grouped(calls)} calls`,
    `seed ${seed}`,
    capacity === null ? 'Ĉ not measured' : `Ĉ = ${trimmed(capacity, 3)} calls/s`,
    ...(timeScale === 1 || kind === 'trial' ? [] : [`${trimmed(timeScale, 3)} s of the plan in one second`]),
    ...(startedAt === undefined ? [] : [`started ${startedAt}`]),
  ];
  return `${parts.join('; ')}.`;
}

/** Above everything else, since nothing below it proves anything then. */
export function invalidBanner(reasons: readonly string[]): readonly Markup[] {
  if (reasons.length === 0) return [];
  return [
    element(
      'div',
      { class: 'invalid', role: 'alert' },
      worded('strong', {}, 'INVALID'),
      worded('p', { class: 'about' }, 'This run proves nothing:'),
      element('ul', {}, ...reasons.map((reason) => worded('li', {}, reason))),
    ),
  ];
}

function tilesFor({ stages, total, recovery, prefill }: Summary, last: number): readonly Tile[] {
  const stage = stages[last] ?? total;
  const { fates, calls } = stage;
  const share = (count: number): string => percent(calls === 0 ? Number.NaN : count / calls);
  const overloads = stages.length > 1;
  return [
    { value: share(fates.onTime + fates.late), words: `of the calls of “${stage.stage}” delivered` },
    { value: share(fates.onTime), words: `of the calls of “${stage.stage}” by their deadline` },
    { value: ratio(total.attemptsPerCall), words: 'attempts per call' },
    { value: ratio(total.executionsPerCall), words: 'executions per call' },
    ...(overloads
      ? [
          { value: recoveryWords(recovery.backlogSeconds), words: 'until the backlog was back at its base' },
          { value: recoveryWords(recovery.onTimeSeconds), words: 'until calls were on time again' },
        ]
      : []),
    ...(prefill === null || prefill.computed === 0
      ? []
      : [
          {
            value: percent(prefill.hidden / prefill.computed),
            words: 'of computed prompt tokens missed by the prompt counter',
          },
        ]),
  ];
}

function recoveryWords(value: number | null): string {
  return value === null ? 'not seen' : seconds(value);
}

function planSection(head: RunHead): Markup {
  const { plan, generator } = head;
  const stages = {
    head: ['stage', 'rate', 'seconds'],
    rows: plan.stages.map(({ name, rate, seconds: length }) => [name, rateWords(rate), trimmed(length, 3)]),
  };
  return element(
    'section',
    {},
    worded('h2', {}, 'What was run, and what the words mean'),
    tableOf(stages),
    listOf([
      ...plan.clients.map((client): readonly [string, string] => [
        `client “${client.name}”`,
        `leaves after ${trimmed(client.deadlineSeconds, 3)} s, up to ${client.retries} retries; user agent “${client.userAgent}”`,
      ]),
      ['horizon', `${trimmed(plan.horizonSeconds, 3)} s from a call’s planned moment`],
      ['executions counted by', head.executionsCountedBy ?? 'nobody'],
      ...(generator === null
        ? []
        : [
            [
              'generator behind by',
              `sends: p50 ${trimmed(generator.sendMs.p50, 1)}, p99 ${trimmed(generator.sendMs.p99, 1)}, most ${trimmed(generator.sendMs.most, 1)} ms; event loop: p50 ${trimmed(generator.loopMs.p50, 1)}, p99 ${trimmed(generator.loopMs.p99, 1)}, most ${trimmed(generator.loopMs.most, 1)} ms`,
            ] as const,
          ]),
      ...DEFINITIONS,
    ]),
  );
}

function rateWords(rate: Rate): string {
  return 'perSecond' in rate ? `${trimmed(rate.perSecond, 4)} calls/s` : `${trimmed(rate.capacity, 4)} Ĉ`;
}

export const DEFINITIONS: readonly (readonly [string, string])[] = [
  ['delivered', 'the client has the whole answer by the horizon; the whole is always all planned calls'],
  ['by the deadline', 'within the deadline of the first attempt, from the planned moment'],
  [
    'backlog back at its base',
    'the end of the first 60 s after the overload that, like all later ones, have on average no more calls waiting than the fullest 60 s before it, and one',
  ],
  [
    'calls on time again',
    'the end of the first 60 s of planned moments after the overload of which, as of all later ones, the share delivered by the deadline is at least 95 % of what it was before',
  ],
];
