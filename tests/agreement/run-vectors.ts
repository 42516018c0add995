/** Replays recorded scheduler scenarios from any files: `npm run test:vectors -- FILE…`; all of ours without one. */

import { readdirSync } from 'node:fs';
import { ROOT } from '../support/root.js';
import { firstDifference, readScenarios } from '../support/vectors.js';

const folder = `${ROOT}tests/vectors/`;
const given = process.argv.slice(2);
const ours = readdirSync(folder).filter((name) => name.endsWith('.jsonl.gz'));
const paths = given.length > 0 ? given : ours.map((name) => folder + name);

let differing = 0;
for (const path of paths) {
  const scenarios = readScenarios(path);
  const differences = scenarios.map(firstDifference).filter((each) => each !== undefined);
  differing += differences.length;
  for (const difference of differences) process.stdout.write(`${difference}\n`);
  process.stdout.write(
    `${path}: ${scenarios.length - differences.length} of ${scenarios.length} reproduced\n`,
  );
}
process.exitCode = differing === 0 ? 0 : 1;
