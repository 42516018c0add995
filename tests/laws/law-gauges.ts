/** Law 6 where rooms follow an engine's own gauges: between two looks it is sent no more than they leave room for. */

import type { ControlEvent } from '../../src/core/control/event.js';
import type { Verdict } from '../../src/core/control/verdict.js';
import { Law, type Moment } from './moment.js';

/** The most that a look at an engine in which nobody waits may let in beyond what ends. */
const MOST_AT_ONCE = 256;

interface Watched {
  /** Executions that it has. */
  readonly held: Set<string>;
  /** Most at once so far. */
  mostHeld: number;
  /** Most that it may have until the next look. */
  most: number;
}

/**
 * Of gauges that are believed and show nothing of others: where some wait by them, the engine has at most what it had, less those, plus the
 * target, and one in any case; where none do, at most 256 more than it had, or as many as it ever had.
 */
export class GaugesLaw extends Law {
  readonly number = 6;
  readonly #engines = new Map<string, Watched>();
  readonly #engineOf = new Map<string, Watched>();

  protected override heed(event: ControlEvent): void {
    // Under other settings the next look says anew what there is room for.
    if (event.kind !== 'reconfigure') return;
    for (const watched of this.#engines.values()) watched.most = Number.POSITIVE_INFINITY;
  }

  protected override weigh(verdict: Verdict, moment: Moment): void {
    if (verdict.kind === 'execution-ended')
      this.#engineOf.get(verdict.execution)?.held.delete(verdict.execution);
    if (verdict.kind !== 'start') return;
    const { engine: name, execution } = verdict;
    const watched = this.#watched(name);
    watched.held.add(execution);
    this.#engineOf.set(execution, watched);
    watched.mostHeld = Math.max(watched.mostHeld, watched.held.size);
    // What a look lets in at once is measured by what that look says.
    if (moment.event.kind === 'gauges' && moment.event.engine === name) return;
    const { held, most } = watched;
    this.hold(
      held.size <= most,
      `${execution} is one of ${held.size} of ${name}, which has room for ${most}`,
    );
  }

  protected override close({ event, verdicts, gauges }: Moment): void {
    if (event.kind !== 'gauges') return;
    const watched = this.#watched(event.engine);
    const { load, engine: name } = event;
    const started = verdicts.filter((one) => one.kind === 'start' && one.engine === name).length;
    const trust = gauges()?.engines.find((one) => one.name === name)?.trust;
    if (load === undefined && trust === 'trusted') return;
    watched.most = Number.POSITIVE_INFINITY;
    if (load === undefined || trust !== 'trusted') return;
    const { roomTarget } = this.options;
    const held = watched.held.size;
    const waiting = Math.min(load.waiting, held);
    const ours = load.running + load.waiting <= held - started;
    if (load.waiting === 0) watched.most = Math.max(held + MOST_AT_ONCE, watched.mostHeld);
    else if (ours) watched.most = Math.max(1, held - waiting + roomTarget);
  }

  #watched(name: string): Watched {
    const known = this.#engines.get(name);
    if (known !== undefined) return known;
    const fresh: Watched = { held: new Set(), mostHeld: 0, most: Number.POSITIVE_INFINITY };
    this.#engines.set(name, fresh);
    return fresh;
  }
}
