/** Which engines' gauges are read: those whose room follows them, as the settings say now; the control hears of each. */

import type { ControlEvent } from '../../core/control/event.js';
import type { Clock } from '../../core/time/clock.js';
import type { GatewayConfig } from './config.js';
import { GaugeWatch } from './engine-gauges.js';
import { engineOptions } from './engines.js';
import type { Upstream } from './upstream.js';

export interface GaugeFeedParts {
  readonly config: () => GatewayConfig;
  readonly clock: Clock;
  readonly upstream: Upstream;
  readonly send: (event: Extract<ControlEvent, { kind: 'gauges' }>) => void;
  /** An engine's gauges could not be read, and why; said for the first of several misses in a row. */
  readonly missed: (engine: string, why: string) => void;
}

export class GaugeFeed {
  readonly #parts: GaugeFeedParts;
  readonly #missing = new Set<string>();
  #watch: GaugeWatch | undefined;
  #followed = '';

  constructor(parts: GaugeFeedParts) {
    this.#parts = parts;
  }

  /** Reads from now on what the settings ask for. */
  follow(): void {
    const { config, clock, upstream, send, missed } = this.#parts;
    const { control } = config();
    const names = engineOptions(config()).flatMap(({ name, room }) =>
      (room ?? control.room) === 'engine' ? [name] : [],
    );
    const followed = JSON.stringify(names);
    if (followed === this.#followed) return;
    this.close();
    this.#followed = followed;
    this.#watch = new GaugeWatch({
      engines: upstream.inOrder().filter(({ name }) => names.includes(name)),
      clock,
      everyMs: () => config().gaugesEveryMs,
      saw: (engine, load) => {
        this.#missing.delete(engine);
        send({ kind: 'gauges', engine, load });
      },
      missed: (engine, why) => {
        if (!this.#missing.has(engine)) missed(engine, why);
        this.#missing.add(engine);
        send({ kind: 'gauges', engine });
      },
    });
    this.#watch.begin();
  }

  close(): void {
    this.#watch?.close();
    this.#watch = undefined;
    this.#followed = '';
    this.#missing.clear();
  }
}
