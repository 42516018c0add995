/** Waits for what a gateway in this process will come to. */

import { ok } from 'node:assert/strict';
import { readExposition, valueOf } from '../../src/core/meter/exposition.js';
import type { Rig } from './gateway-rig.js';

/** Resolves once `holds`; fails, and says `what` does not come, after some ten seconds. */
export async function until(what: string, holds: () => boolean): Promise<void> {
  for (let turn = 0; !holds(); turn += 1) {
    ok(turn < 2000, `${what} does not come`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** What the gateway's meter says of a family of one series; NaN where it has none. */
export function metric(rig: Rig, name: string): number {
  return valueOf(readExposition(rig.metrics.text()), name) ?? Number.NaN;
}
