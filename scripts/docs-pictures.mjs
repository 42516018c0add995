/**
 * Draws the pictures of the documents anew, into docs/pictures: the published overload without the gateway and with
 * it, side by side, the boundary between recovery and collapse, and what the line's margin trades. Everything is played
 * in virtual time, so the same source gives the same bytes. Takes some minutes.
 *
 *   npm run docs:pictures [-- overload|boundary|margin]...
 */

import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { svgFile } from '../dist/src/core/report/picture.js';
import { tradePicture } from '../dist/src/core/report/trade-chart.js';

const COLLAPSE = 'retries=on cancel=on';
const root = fileURLToPath(new URL('..', import.meta.url));
const command = join(root, 'dist', 'src', 'shell', 'cli', 'main.js');
const pictures = join(root, 'docs', 'pictures');

function holdfast(...args) {
  const { status, stdout } = spawnSync(process.execPath, [command, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`holdfast ${args.join(' ')} ended with ${status}`);
  return stdout;
}

function overload(folder) {
  holdfast('trial', '--scenario', COLLAPSE, '--compare', 'holdfast', '--seeds', '1', '--record', folder);
  const runs = ['retries_on_cancel_on-seed-1', 'holdfast-seed-1'].map((name) => join(folder, name));
  const drawn = join(folder, 'svg');
  holdfast('report', ...runs, '--out', join(folder, 'comparison.html'), '--svg', drawn);
  copyFileSync(join(drawn, 'arrivals.svg'), join(pictures, 'collapse-and-rescue.svg'));
  copyFileSync(join(drawn, 'latency.svg'), join(pictures, 'latency.svg'));
  copyFileSync(join(drawn, 'prefill.svg'), join(pictures, 'prefill.svg'));
}

function boundary() {
  holdfast('trial', '--scenario', COLLAPSE, '--sweep', '--svg', join(pictures, 'boundary.svg'));
}

const SEEDS = 5;
const MARGINS = [1, 1.1, 1.25, 1.5, 2, 3];

/** Means over the seeds, of all planned calls. */
function means(words, ...args) {
  const { runs } = JSON.parse(holdfast('trial', ...args, '--seeds', String(SEEDS), '--json'));
  const sum = (figure) => runs.flatMap(({ stages }) => stages).reduce((total, one) => total + figure(one), 0);
  const calls = sum((one) => one.calls);
  return {
    words,
    onTime: sum((one) => one.deliveredByDeadline) / calls,
    lost: (calls - sum((one) => one.delivered)) / runs.length,
  };
}

function margin() {
  const points = MARGINS.map((value) => {
    const set = `control.margin=${value}`;
    return means(`margin ${value}`, '--scenario', 'deadline pulse=4', '--set', set);
  });
  const picture = tradePicture({
    id: 'margin',
    title: 'A pulse of 4 Ĉ: on time against lost, over control.margin',
    setting: 'control.margin',
    points,
    beside: [means('attached, no line', '--scenario', 'coalesce pulse=4')],
    notes: [],
  });
  writeFileSync(join(pictures, 'margin.svg'), svgFile(picture));
  for (const row of picture.table.rows) process.stderr.write(`${row.join(', ')}\n`);
}

const PARTS = { overload, boundary, margin };
const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(PARTS);
const unknown = wanted.find((name) => !Object.hasOwn(PARTS, name));
if (unknown !== undefined) throw new Error(`${unknown} is none of ${Object.keys(PARTS).join(', ')}`);
const folder = mkdtempSync(join(tmpdir(), 'holdfast-pictures-'));
try {
  mkdirSync(pictures, { recursive: true });
  for (const name of wanted) PARTS[name](folder);
} finally {
  rmSync(folder, { recursive: true });
}
