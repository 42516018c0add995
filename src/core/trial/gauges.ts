/** The engine's gauges as a gateway reads them: now and then, a moment late, and in some runs not true. */

import type { EngineLoad } from '../control/engine-load.js';
import type { Engine } from '../engine/engine.js';
import type { Clock } from '../time/clock.js';

/** From `atMs` of the run on: what was seen then for ever, nothing, half of what runs and nothing that waits, or twice what waits and more. */
export interface GaugeModel {
  readonly everyMs: number;
  /** From the engine's answer to the control, milliseconds. */
  readonly delayMs: number;
  readonly wrong?: { readonly as: 'frozen' | 'absent' | 'low' | 'high'; readonly atMs: number } | undefined;
}

export interface GaugeParts {
  readonly clock: Clock;
  readonly engine: Engine;
  /** Undefined: they could not be read. */
  readonly told: (load: EngineLoad | undefined) => void;
  readonly done: () => boolean;
}

const LOW = 0.5;
const HIGH = { factor: 2, more: 50 };

/** Tells the control of the gauges until the run is done. */
export function watchGauges(model: GaugeModel, parts: GaugeParts): void {
  const { clock, engine, told, done } = parts;
  let frozen: EngineLoad | undefined;
  const look = (): void => {
    if (done()) return;
    const { running, waiting } = engine.counters.gauges;
    const wrong = model.wrong !== undefined && clock.now() >= model.wrong.atMs;
    frozen = wrong ? (frozen ?? { running, waiting }) : undefined;
    const load = shown(wrong ? model.wrong?.as : undefined, { running, waiting }, frozen);
    clock.after(model.delayMs, () => told(load));
    clock.after(model.everyMs, look);
  };
  look();
}

function shown(
  as: 'frozen' | 'absent' | 'low' | 'high' | undefined,
  truth: EngineLoad,
  frozen: EngineLoad | undefined,
): EngineLoad | undefined {
  const { running, waiting } = truth;
  if (as === 'frozen') return frozen;
  if (as === 'absent') return undefined;
  if (as === 'low') return { running: Math.floor(running * LOW), waiting: 0 };
  return as === 'high' ? { running, waiting: waiting * HIGH.factor + HIGH.more } : truth;
}
