/** Which engine has lately worked for a session or a long prefix, and so may still hold its cache. */

import type { AttemptFacts } from './event.js';
import type { ControlOptions } from './options.js';
import { RecentMap } from './recent.js';

export class Affinity<Engine> {
  readonly #options: ControlOptions;
  readonly #known: RecentMap<string, Engine>;

  constructor(options: ControlOptions) {
    this.#options = options;
    this.#known = new RecentMap(options.bounds.learnedKeys);
  }

  /** The engine that had what the request goes on with, if that is known. */
  of(facts: AttemptFacts): Engine | undefined {
    const key = this.#keyOf(facts);
    return key === undefined ? undefined : this.#known.get(key);
  }

  /** `engine` works for the request. */
  note(facts: AttemptFacts, engine: Engine): void {
    const key = this.#keyOf(facts);
    if (key !== undefined) this.#known.set(key, engine);
  }

  /** Within one tenant and model, the session where there is one, and else the prefix. */
  #keyOf({ tenant, model, session, prefix }: AttemptFacts): string | undefined {
    const { affinity } = this.#options;
    if (affinity === 'off') return undefined;
    if (session !== undefined) return JSON.stringify([tenant, model, 'session', session]);
    if (affinity === 'session' || prefix === undefined) return undefined;
    return JSON.stringify([tenant, model, 'prefix', prefix]);
  }
}
