/** How a workload's gateway may read the gauges of its engines: as they are, or in every way that they are wrong. */

import type { EngineLoad } from '../../src/core/control/engine-load.js';
import type { GaugeReading } from './workload.js';

export const honest: GaugeReading = { everyMs: 500, lateMs: 50, shown: (truth) => truth };
/** True, gone, still, of somebody else, or nothing but chance, a while each. */
export const wild: GaugeReading = {
  everyMs: 700,
  lateMs: 600,
  shown: ({ running, waiting }, atMs, random) => {
    const any = (): EngineLoad => ({ running: random.integer(0, 20), waiting: random.integer(0, 20) });
    const ways = [
      (): EngineLoad => ({ running, waiting }),
      (): undefined => undefined,
      (): EngineLoad => ({ running: 5, waiting: 0 }),
      (): EngineLoad => ({ running: running + 30, waiting: waiting + 30 }),
      (): EngineLoad => ({ running, waiting: 0 }),
      any,
      (): EngineLoad | undefined => (random.uniform() < 0.5 ? any() : undefined),
    ];
    return ways[Math.floor(atMs / 7_000) % ways.length]?.();
  },
};
