/** Which engines' gauges are read, and how often: those whose room follows them; the control hears of each look. */

import type { ControlEvent } from '../../core/control/event.js';
import type { Clock } from '../../core/time/clock.js';
import type { GatewayConfig } from './config.js';
import { GaugeWatch, type Miss } from './engine-gauges.js';
import { engineOptions } from './engines.js';
import type { GaugeWord } from './observer.js';
import type { Upstream } from './upstream.js';

/** From one look to the next at an engine that answers, but never had gauges; it need not have any, milliseconds. */
const LONGEST_MS = 30_000;

export interface GaugeFeedParts {
  readonly config: () => GatewayConfig;
  readonly clock: Clock;
  readonly upstream: Upstream;
  readonly send: (event: Extract<ControlEvent, { kind: 'gauges' }>) => void;
  readonly say: (engine: string, word: GaugeWord) => void;
}

/** An engine whose gauges are read. */
interface Followed {
  readonly room: 'auto' | 'engine';
  readonly watch: GaugeWatch;
}

export class GaugeFeed {
  readonly #parts: GaugeFeedParts;
  readonly #followed = new Map<string, Followed>();

  constructor(parts: GaugeFeedParts) {
    this.#parts = parts;
  }

  /** Reads from now on what the settings ask for. */
  follow(): void {
    const { config, upstream } = this.#parts;
    const { control } = config();
    for (const { name, room = control.room } of engineOptions(config())) {
      const before = this.#followed.get(name);
      if (before?.room === room) continue;
      before?.watch.close();
      this.#followed.delete(name);
      if (room !== 'auto' && room !== 'engine') continue;
      const engine = upstream.inOrder().find((one) => one.name === name);
      if (engine === undefined) continue;
      const watch = this.#watch(engine, room);
      this.#followed.set(name, { room, watch });
      watch.begin();
    }
  }

  close(): void {
    for (const { watch } of this.#followed.values()) watch.close();
    this.#followed.clear();
  }

  #watch(engine: ReturnType<Upstream['inOrder']>[number], room: Followed['room']): GaugeWatch {
    const { config, clock, send, say } = this.#parts;
    const { name } = engine;
    const look = new Looks(room);
    return new GaugeWatch({
      engine,
      clock,
      everyMs: () => look.everyMs(config().gaugesEveryMs),
      saw: (load) => {
        if (look.saw()) say(name, { kind: 'found' });
        send({ kind: 'gauges', engine: name, load });
      },
      missed: (miss) => {
        const word = look.missed(miss);
        if (word !== undefined) say(name, word);
        send({ kind: 'gauges', engine: name });
      },
    });
  }
}

/** What the looks at one engine came to, so that each thing is said once. */
class Looks {
  /** It has gauges, or should have. */
  #expected: boolean;
  #found = false;
  #missing = false;
  /** In a row that it answered without gauges. */
  #vain = 0;
  #saidNone = false;

  constructor(room: Followed['room']) {
    this.#expected = room === 'engine';
  }

  /** An engine that cannot be reached may be about to start, so it is looked at as often as one that has gauges. */
  everyMs(usual: number): number {
    return this.#expected ? usual : Math.max(usual, Math.min(LONGEST_MS, usual * 2 ** this.#vain));
  }

  /** Whether it is the first time. */
  saw(): boolean {
    const first = !this.#found;
    this.#expected = true;
    this.#found = true;
    this.#missing = false;
    return first;
  }

  /** What there is to say of it, if anything. */
  missed({ why, answers }: Miss): GaugeWord | undefined {
    if (this.#expected) {
      const word = this.#missing ? undefined : ({ kind: 'missed', why } as const);
      this.#missing = true;
      return word;
    }
    this.#vain = answers ? this.#vain + 1 : 0;
    if (!answers || this.#saidNone) return undefined;
    this.#saidNone = true;
    return { kind: 'none', why };
  }
}
