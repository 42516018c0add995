/**
 * Plays arms in virtual time and through sockets (drill, gateway and twin as processes, one scaled clock) and prints
 * both. Without a plan, each arm's own is played: the published stages with its clients and its pulse.
 *
 *   npm run test:agreement -- [--arm NAME]… [--plan FILE] [--seeds N] [--time-scale N] [--json]
 *
 * Exit code 0: all agree. 1: some do not. 2: a process was late, so that its run proves nothing; try a quieter hour.
 */

import { parseArgs } from 'node:util';
import { settingsOf } from '../../src/core/trial/scenario.js';
import { readPlanFile } from '../../src/shell/probe/plan-file.js';
import { goFirst } from '../support/priority.js';
import { type Comparison, compareLive, MAIN_ARMS } from './compare-live.js';

const { values } = parseArgs({
  options: {
    arm: { type: 'string', multiple: true },
    plan: { type: 'string' },
    seeds: { type: 'string', default: '1' },
    'time-scale': { type: 'string', default: '20' },
    json: { type: 'boolean', default: false },
  },
});

goFirst((text) => process.stderr.write(`${text}\n`));
const given = values.plan === undefined ? undefined : readPlanFile(values.plan);
const timeScale = Number(values['time-scale']);
const rows: (Comparison & { readonly arm: string; readonly seed: number })[] = [];
for (const arm of values.arm ?? MAIN_ARMS) {
  const plan = given ?? settingsOf(arm, 1).plan;
  for (let seed = 1; seed <= Number(values.seeds); seed += 1) {
    process.stderr.write(`${arm}, seed ${seed}\n`);
    const compared = await compareLive({ arm, plan, seed, timeScale });
    rows.push({ arm, seed, ...compared });
    if (!values.json) process.stdout.write(told(arm, seed, compared));
  }
}
if (values.json) process.stdout.write(`${JSON.stringify(rows, undefined, 1)}\n`);
const late = rows.some(({ invalid }) => invalid.length > 0);
const apart = rows.some(({ pairs, invalid }) => invalid.length === 0 && pairs.some(({ agrees }) => !agrees));
process.exitCode = apart ? 1 : late ? 2 : 0;

function told(arm: string, seed: number, { pairs, invalid }: Comparison): string {
  const lines = pairs.map(({ figure, virtual, live, agrees }) => {
    const numbers = [virtual, live].map((value) => value.toFixed(2).padStart(9)).join('');
    return `  ${figure.padEnd(36)}${numbers}${agrees ? '' : '   apart'}`;
  });
  const head = `${arm}, seed ${seed}`.padEnd(38);
  return [`${head}  virtual     live`, ...lines, ...invalid.map((why) => `  INVALID: ${why}`), ''].join('\n');
}
