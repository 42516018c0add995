/**
 * What the line's margin trades where not everybody can be saved: calls on time against calls lost, in an overload with
 * a pulse of 4 Ĉ. Plays every value over the same calls in virtual time, prints them, and draws docs/pictures/margin.svg;
 * about two minutes.
 *
 *   npm run bench:margin
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { totalOutcome } from '../src/core/drill/outcome.js';
import { svgFile } from '../src/core/report/picture.js';
import { type TradePoint, tradePicture } from '../src/core/report/trade-chart.js';
import { settingsOf } from '../src/core/trial/scenario.js';
import { runTrial } from '../src/core/trial/trial.js';
import { ROOT } from '../tests/support/root.js';

const SEEDS = [1, 2, 3, 4, 5];
const MARGINS = [1, 1.1, 1.25, 1.5, 2, 3];

/** Means over the seeds, of all planned calls. */
function pointOf(words: string, scenario: string, control: Readonly<Record<string, unknown>>): TradePoint {
  let [calls, onTime, delivered] = [0, 0, 0];
  for (const seed of SEEDS) {
    const total = totalOutcome(runTrial(settingsOf(scenario, seed, { control })));
    calls += total.calls;
    onTime += total.deliveredByDeadline;
    delivered += total.delivered;
    process.stderr.write(`${words}: seed ${seed} of ${SEEDS.length}\n`);
  }
  const point = { words, onTime: onTime / calls, lost: (calls - delivered) / SEEDS.length };
  process.stdout.write(
    `${words}: ${(point.onTime * 100).toFixed(1)} % on time, ${point.lost.toFixed(1)} calls lost a run\n`,
  );
  return point;
}

const picture = tradePicture({
  id: 'margin',
  title: 'A pulse of 4 Ĉ: on time against lost, over control.margin',
  setting: 'control.margin',
  points: MARGINS.map((margin) => pointOf(`margin ${margin}`, 'deadline pulse=4', { margin })),
  beside: [pointOf('attached, no line', 'coalesce pulse=4', {})],
  notes: [],
});
writeFileSync(join(ROOT, 'docs', 'pictures', 'margin.svg'), svgFile(picture));
