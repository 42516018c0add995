/** Which class a call is of: what its attempts ask for, what its session began with, and what its tenant may have. */

import type { AttemptFacts } from './event.js';
import type { ControlOptions } from './options.js';
import { RecentMap } from './recent.js';

/** What one class is doing, to be shown. */
export interface ClassGauges {
  readonly name: string;
  /** Its calls in line. */
  readonly entries: number;
}

/** Classes by their rank, 0 the highest. Without names there is one class, and nobody is told of it. */
export class Classes {
  readonly #names: readonly string[];
  readonly #ranks: ReadonlyMap<string, number>;
  /** Of whoever asks for none, and the highest of a tenant of whom nothing is said. */
  readonly #default: number;
  readonly #highest: number;
  /** What each session of a tenant began with. */
  readonly #sessions: RecentMap<string, number>;

  constructor({ classes, defaultClass, maxClass = defaultClass, bounds }: ControlOptions) {
    this.#names = classes;
    this.#ranks = new Map(classes.map((name, rank) => [name, rank]));
    this.#default = this.#ranks.get(defaultClass) ?? 0;
    this.#highest = this.#ranks.get(maxClass) ?? this.#default;
    this.#sessions = new RecentMap(bounds.learnedKeys);
  }

  get names(): readonly string[] {
    return this.#names;
  }

  /** Undefined where there are no classes. */
  nameOf(rank: number): string | undefined {
    return this.#names[rank];
  }

  /** It asks for a class that there is not. */
  isUnknown({ class: asked }: AttemptFacts): boolean {
    return asked !== undefined && this.#names.length > 0 && !this.#ranks.has(asked);
  }

  /** The rank that an attempt which has arrived comes with: that of its session's first, or what it asks for. */
  enter({ tenant, class: asked, session, shareable }: AttemptFacts): number {
    if (this.#names.length <= 1) return 0;
    const own = this.#ranks.get(asked ?? '') ?? this.#default;
    if (session === undefined || !shareable) return own;
    const key = JSON.stringify([tenant, session]);
    const first = this.#sessions.get(key);
    if (first === undefined) this.#sessions.set(key, own);
    return first ?? own;
  }

  /** `rank`, lowered to the highest that a tenant may have; one that the engine has not accepted, the default at most. */
  allowed(rank: number, maxClass: string | undefined, verified: boolean): number {
    const highest = this.#ranks.get(maxClass ?? '') ?? this.#highest;
    return Math.max(rank, verified ? highest : Math.max(highest, this.#default));
  }
}
