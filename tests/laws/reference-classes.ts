/** The reference model's classes: a list of who began which session as what. */

import type { AttemptFacts } from '../../src/core/control/event.js';
import type { ControlOptions } from '../../src/core/control/options.js';
import { type Call, lastOf } from './reference-words.js';

/** The least part of a class makes no difference here, since no interleaving starts twenty calls while one waits. */
export class ReferenceClasses {
  readonly #options: ControlOptions;
  readonly #sessions: { readonly tenant: string; readonly session: string; readonly asked: number }[] = [];

  constructor(options: ControlOptions) {
    this.#options = options;
  }

  unknown({ class: asked }: AttemptFacts): boolean {
    const { classes } = this.#options;
    return classes.length > 0 && asked !== undefined && !classes.includes(asked);
  }

  /** What an attempt comes with: its place among the classes, or that of its session's first. */
  enter({ tenant, session, shareable, class: asked = '' }: AttemptFacts): number {
    const { classes, defaultClass } = this.#options;
    const own = classes.indexOf(classes.includes(asked) ? asked : defaultClass);
    if (session === undefined || !shareable) return own;
    const known = this.#sessions.find((one) => one.tenant === tenant && one.session === session);
    if (known === undefined) this.#sessions.push({ tenant, session, asked: own });
    return known?.asked ?? own;
  }

  /** Lower is sooner; `accepted`: the engine knows the tenant. */
  rankOf(call: Call, accepted: boolean): number {
    const { classes, defaultClass, maxClass = defaultClass } = this.#options;
    if (classes.length === 0) return 0;
    const own = lastOf(call).facts.maxClass ?? '';
    const most = classes.indexOf(classes.includes(own) ? own : maxClass);
    const least = accepted ? most : Math.max(most, classes.indexOf(defaultClass));
    return Math.max(least, Math.min(...call.attempts.map(({ asked = 0 }) => asked)));
  }
}
