/** Delivered share of several arms, stage by stage: one row an arm, one dot a seed. */

import type { StageOutcome } from '../drill/outcome.js';
import type { RunHead } from '../drill/run.js';
import type { ComparedArm } from './arms.js';
import { cut, ROW } from './legend.js';
import { element, type Markup, short, worded } from './markup.js';
import type { Picture } from './picture.js';
import { aftermathStage } from './stages.js';
import { grouped, percent, seconds } from './words.js';

const WIDTH = 1_120;
const LEFT = 250;
const RIGHT = WIDTH - 20;
const PITCH = 24;
const HEAD = 26;
const LEGEND = 24;
const TICKS = [0, 0.2, 0.4, 0.6, 0.8, 1] as const;

type Share = (stage: StageOutcome) => number;

const byHorizon: Share = ({ deliveredByHorizon, calls }) => deliveredByHorizon / calls;
const byDeadline: Share = ({ deliveredByDeadline, calls }) => deliveredByDeadline / calls;

/** Shares of one stage of one arm, one a seed that planned calls there. */
function sharesOf({ runs }: ComparedArm, stage: string, share: Share): readonly number[] {
  return runs.flatMap(({ head }) => {
    const its = head.stages.find((each) => each.stage === stage);
    return its === undefined || its.calls === 0 ? [] : [share(its)];
  });
}

export function seedsPicture(arms: readonly ComparedArm[]): Picture {
  const stages = [
    ...new Set(
      arms.flatMap(({ runs }) => runs.flatMap(({ head }) => head.plan.stages.map(({ name }) => name))),
    ),
  ];
  const drawing: Markup[] = [...legend()];
  let y = LEGEND + 6;
  const firstRow = y;
  for (const stage of stages) {
    drawing.push(worded('text', { class: 'strong', x: 4, y: y + 15 }, cut(stage, LEFT)));
    y += HEAD - 4;
    for (const arm of arms) {
      drawing.push(...rowOf(arm, stage, y));
      y += PITCH;
    }
    y += 6;
  }
  const grid = TICKS.map((tick) => `M${short(at(tick))} ${firstRow}V${y}`).join('');
  const ticks = TICKS.map((tick) =>
    worded('text', { class: 'quiet', x: at(tick), y: y + 15, 'text-anchor': 'middle' }, `${tick * 100}`),
  );
  const unit = worded(
    'text',
    { class: 'quiet', x: RIGHT, y: y + 31, 'text-anchor': 'end' },
    'per cent of the calls planned in the stage',
  );
  return {
    id: 'seeds',
    title: titleOf(arms),
    description: `One row an arm and stage, one dot a seed: the share of planned calls delivered by the horizon, and by the deadline. ${arms
      .map(
        (arm) =>
          `${arm.name}: ${stages.map((stage) => `${stage} ${rangeWords(sharesOf(arm, stage, byHorizon))}`).join(', ')}.`,
      )
      .join(' ')}`,
    width: WIDTH,
    height: y + 2 * ROW + 4,
    drawing: [element('path', { class: 'rule', d: grid }), ...drawing, ...ticks, unit],
    notes: [],
    table: {
      head: [
        'arm',
        'seeds',
        ...stages.flatMap((stage) => [`${stage}: by the horizon`, `${stage}: by the deadline`]),
        'backlog back at its base after',
        'calls on time again after',
      ],
      rows: arms.map((arm) => [
        arm.name,
        String(arm.runs.length),
        ...stages.flatMap((stage) =>
          [byHorizon, byDeadline].map((share) => rangeWords(sharesOf(arm, stage, share))),
        ),
        recoveryWords(arm, 'backlogSeconds'),
        recoveryWords(arm, 'onTimeSeconds'),
      ]),
    },
  };
}

function at(share: number): number {
  return LEFT + share * (RIGHT - LEFT);
}

/** The arms differ by place, the two shares by shape: nothing hangs on a colour. */
function rowOf(arm: ComparedArm, stage: string, y: number): readonly Markup[] {
  const middle = y + PITCH / 2;
  const [late, onTime] = [sharesOf(arm, stage, byHorizon), sharesOf(arm, stage, byDeadline)];
  const span = [...late, ...onTime].map(at);
  const path = `M${short(Math.min(...span, at(1)))} ${short(middle)}H${short(Math.max(...span, at(0)))}`;
  return [
    worded('text', { x: 16, y: middle + 4 }, cut(arm.name, LEFT - 24)),
    ...(span.length === 0 ? [] : [element('path', { class: 'rule', d: path })]),
    ...onTime.map((share) => diamond(at(share), middle)),
    ...late.map((share) => element('circle', { class: 'onTime edge', cx: at(share), cy: middle, r: 5.5 })),
  ];
}

function diamond(x: number, y: number): Markup {
  return element('path', { class: 'hollow', d: `M${short(x - 5)} ${short(y)}l5 -5l5 5l-5 5z` });
}

function legend(): readonly Markup[] {
  return [
    element('circle', { class: 'onTime edge', cx: 10, cy: 12, r: 5.5 }),
    worded('text', { x: 22, y: 16 }, 'delivered by the horizon, a dot a seed'),
    diamond(272, 12),
    worded('text', { x: 284, y: 16 }, 'delivered by the deadline'),
  ];
}

function rangeWords(shares: readonly number[]): string {
  if (shares.length === 0) return '—';
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  const [lowest, highest] = [percent(Math.min(...shares)), percent(Math.max(...shares))];
  return lowest === highest ? percent(mean) : `${percent(mean)} (${lowest} to ${highest})`;
}

/** Over the seeds that recovered, and how many did where not all. */
function recoveryWords({ runs }: ComparedArm, which: keyof RunHead['recovery']): string {
  const seen = runs.flatMap(({ head }) => head.recovery[which] ?? []);
  if (seen.length === 0) return 'not seen';
  const [lowest, highest] = [Math.min(...seen), Math.max(...seen)];
  const range = lowest === highest ? seconds(lowest) : `${grouped(lowest)} to ${seconds(highest)}`;
  return seen.length === runs.length ? range : `${range}, ${seen.length} of ${runs.length} seeds`;
}

/** The best and the worst arm of the stage that shows whether service came back. */
function titleOf(arms: readonly ComparedArm[]): string {
  const head = arms[0]?.runs[0]?.head;
  const stage = head?.plan.stages[aftermathStage(head.plan)]?.name ?? '';
  const means = arms.flatMap((arm) => {
    const shares = sharesOf(arm, stage, byHorizon);
    const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
    return shares.length === 0 ? [] : [{ name: arm.name, mean }];
  });
  const sorted = means.toSorted((a, b) => a.mean - b.mean);
  const [worst, best] = [sorted[0], sorted.at(-1)];
  if (worst === undefined || best === undefined) return 'Delivered share by stage';
  if (arms.length === 1) return `${percent(best.mean)} of the calls of “${stage}” were delivered`;
  return `Of the calls of “${stage}”, ${worst.name} delivered ${percent(worst.mean)} and ${best.name} ${percent(best.mean)}`;
}
