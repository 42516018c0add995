/**
 * Draws the pictures of the documents anew, into docs/pictures: the published overload without the gateway and with
 * it, side by side, and the boundary between recovery and collapse. Everything is played in virtual time, so the
 * same source gives the same bytes. Takes some minutes.
 *
 *   npm run docs:pictures
 */

import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const COLLAPSE = 'retries=on cancel=on';
const root = fileURLToPath(new URL('..', import.meta.url));
const command = join(root, 'dist', 'src', 'shell', 'cli', 'main.js');
const pictures = join(root, 'docs', 'pictures');

function holdfast(...args) {
  const { status } = spawnSync(process.execPath, [command, ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) throw new Error(`holdfast ${args.join(' ')} ended with ${status}`);
}

const folder = mkdtempSync(join(tmpdir(), 'holdfast-pictures-'));
try {
  mkdirSync(pictures, { recursive: true });
  holdfast('trial', '--scenario', COLLAPSE, '--compare', 'holdfast', '--seeds', '1', '--record', folder);
  const runs = ['retries_on_cancel_on-seed-1', 'holdfast-seed-1'].map((name) => join(folder, name));
  const drawn = join(folder, 'svg');
  holdfast('report', ...runs, '--out', join(folder, 'comparison.html'), '--svg', drawn);
  copyFileSync(join(drawn, 'arrivals.svg'), join(pictures, 'collapse-and-rescue.svg'));
  copyFileSync(join(drawn, 'latency.svg'), join(pictures, 'latency.svg'));
  copyFileSync(join(drawn, 'prefill.svg'), join(pictures, 'prefill.svg'));
  holdfast('trial', '--scenario', COLLAPSE, '--sweep', '--svg', join(pictures, 'boundary.svg'));
} finally {
  rmSync(folder, { recursive: true });
}
