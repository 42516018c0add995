/** The comparison at a glance: a bar for each gateway and kind of request, as long as its share of the bare pipe. */

import { legendOf, ROW } from '../../src/core/report/legend.js';
import { element, type Markup, short, worded } from '../../src/core/report/markup.js';
import type { Picture } from '../../src/core/report/picture.js';
import { fillOf, type Ink } from '../../src/core/report/style.js';
import { grouped } from '../../src/core/report/words.js';
import type { Compared } from './comparison.js';
import { DIRECT_NAME, pipeOf, rate, rateRatio } from './figures.js';
import { HOLDFAST_NAME, PIPE_NAME } from './own.js';
import { EVENTS, WORKLOAD, WORKLOADS, type WorkloadName } from './workload.js';

const WIDTH = 860;
const NAMES = 158;
const GAP = 18;
const PITCH = 26;
const BAR = 15;
const TOP = 46;
/** Room behind the longest bar for its figure. */
const FIGURE = 56;
const AIM = 0.7;
const HEADINGS: Readonly<Record<WorkloadName, string>> = {
  '1 kB': 'prompts of 1 kB',
  '48 kB': 'prompts of 48 kB',
  stream: `streams of ${EVENTS} events`,
};

export function pictureOf(all: readonly Compared[]): Picture {
  const shown = all.filter(({ name, leftOut }) => name !== DIRECT_NAME && leftOut === undefined);
  const pipe = pipeOf(all);
  const shares = shown.flatMap((each) =>
    WORKLOADS.map((workload) => rateRatio(each, pipe, workload).most).filter((value) =>
      Number.isFinite(value),
    ),
  );
  const most = Math.max(1, ...shares);
  const panel = (WIDTH - NAMES - GAP * WORKLOADS.length) / WORKLOADS.length;
  const bottom = TOP + shown.length * PITCH;
  const legend = legendOf(
    [
      { words: 'Holdfast', fill: fillOf('onTime') },
      { words: 'bare node:http + undici pipe', fill: fillOf('late') },
      { words: 'others', fill: fillOf('open') },
      { words: `${AIM * 100} % of the pipe`, line: 'limit' },
    ],
    4,
    bottom + 12,
    WIDTH - 8,
  );
  const panels = WORKLOADS.flatMap((workload, at) =>
    panelOf(shown, pipe, { workload, left: NAMES + at * (panel + GAP), room: panel - FIGURE, most, bottom }),
  );
  return {
    id: 'gateways',
    title: 'Requests per second through each gateway; bars: share of what a bare pipe does',
    description: `For ${WORKLOADS.map((name) => WORKLOAD[name].about).join('; ')}: one bar a gateway, the median of the rounds, with its requests per second at the end and a thin line from the least to the most.`,
    width: WIDTH,
    height: bottom + legend.height + ROW,
    drawing: [...shown.map((each, row) => nameOf(each, row)), ...panels, ...legend.drawing],
    notes: [],
    table: undefined,
  };
}

function nameOf({ name }: Compared, row: number): Markup {
  const kind = name === HOLDFAST_NAME ? 'strong' : '';
  return worded('text', { class: kind, x: 4, y: TOP + row * PITCH + BAR - 3 }, name);
}

function inkOf(name: string): Ink {
  if (name.startsWith(HOLDFAST_NAME)) return 'onTime';
  return name === PIPE_NAME ? 'late' : 'open';
}

interface Panel {
  readonly workload: WorkloadName;
  readonly left: number;
  /** Pixels for the longest bar. */
  readonly room: number;
  readonly most: number;
  readonly bottom: number;
}

function panelOf(
  shown: readonly Compared[],
  pipe: Compared | undefined,
  { workload, left, room, most, bottom }: Panel,
): readonly Markup[] {
  const at = (share: number): number => left + (share / most) * room;
  const bars = shown.flatMap((each, row) => {
    const [share, perSecond] = [rateRatio(each, pipe, workload), rate(each, workload).median];
    const y = TOP + row * PITCH;
    if (!Number.isFinite(share.median))
      return [worded('text', { class: 'quiet', x: left, y: y + BAR - 3 }, '—')];
    const width = Math.max(1, at(share.median) - left);
    const whisker = `M${short(at(share.least))} ${short(y + BAR / 2)}H${short(at(share.most))}`;
    const figure = { class: 'halo', x: Math.max(at(share.most), left + width) + 5, y: y + BAR - 3 };
    return [
      element('rect', { class: 'edge', x: left, y, width, height: BAR, fill: fillOf(inkOf(each.name)) }),
      element('path', { class: 'axis', d: whisker }),
      worded('text', figure, grouped(perSecond)),
    ];
  });
  return [
    worded('text', { class: 'strong', x: left, y: TOP - 26 }, HEADINGS[workload]),
    worded('text', { class: 'quiet small', x: left, y: TOP - 12 }, 'answers a second'),
    element('path', { class: 'axis', d: `M${short(left)} ${TOP - 6}V${short(bottom)}` }),
    element('path', { class: 'limit', d: `M${short(at(AIM))} ${TOP - 6}V${short(bottom)}` }),
    ...bars,
  ];
}
