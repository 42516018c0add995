/** Prometheus' own tool, which reads expositions and rules as Prometheus would. */

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { debianInstallation, ran } from './installation.js';
import { requirement } from './requirement.js';

/** The machine's `promtool`, or the one unpacked from Debian's package, whose service is never set up that way. */
export const promtool = requirement('promtool', async () => {
  if (spawnSync('promtool', ['--version']).status === 0) return 'promtool';
  const folder = await debianInstallation('prometheus');
  const command = join(folder, 'usr', 'bin', 'promtool');
  await ran(command, ['--version']);
  return command;
});
