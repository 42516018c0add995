/** What a law sees: each event with the verdicts it was answered with, and nothing from inside. */

import type { Control, ControlGauges } from '../../src/core/control/control.js';
import type { AttemptFacts, ControlEvent } from '../../src/core/control/event.js';
import { type ControlOptions, ownOptions, takeOver } from '../../src/core/control/options.js';
import type { Verdict } from '../../src/core/control/verdict.js';
import type { Subject } from '../support/subject.js';

export interface Moment {
  readonly at: number;
  readonly event: ControlEvent;
  readonly verdicts: readonly Verdict[];
  /** What the control says of itself now, where it says anything. */
  readonly gauges: () => ControlGauges | undefined;
  /** Executions granted beyond an entitlement so far, where it counts them. */
  readonly granted: number | undefined;
}

export interface Breach {
  readonly law: number;
  readonly at: number;
  readonly what: string;
}

/** What a law may know besides the moments. */
export interface Surroundings {
  readonly options: ControlOptions;
  /** The user's call behind an attempt, where the world is a simulated one and knows. */
  readonly trueCall?: ((attempt: string) => string) | undefined;
}

/** One promise, watched: `see` every moment in order, then `finish`. */
export abstract class Law {
  readonly breaches: Breach[] = [];
  protected readonly surroundings: Surroundings;
  /** In force at the moment that is seen. */
  protected options: ControlOptions;
  protected at = 0;
  abstract readonly number: number;

  constructor(surroundings: Surroundings) {
    this.surroundings = surroundings;
    this.options = surroundings.options;
  }

  see(moment: Moment): void {
    this.at = moment.at;
    const { event } = moment;
    if (event.kind === 'reconfigure') {
      this.options = ownOptions(this.options);
      takeOver(this.options, event.options);
    }
    this.heed(moment.event);
    for (const verdict of moment.verdicts) this.weigh(verdict, moment);
    this.close(moment);
  }

  /** Everything has ended: what is still open now will stay open. */
  finish(): void {}

  protected heed(_event: ControlEvent): void {}
  protected weigh(_verdict: Verdict, _moment: Moment): void {}
  protected close(_moment: Moment): void {}

  protected hold(condition: boolean, what: string): void {
    if (!condition) this.breaches.push({ law: this.number, at: this.at, what });
  }
}

/** A stand-in for the control that keeps every moment, and may have its say in what passes. */
export class Witness implements Subject {
  readonly #inner: Subject;
  readonly #seen: (moment: Moment) => void;
  readonly #tamper: (verdicts: readonly Verdict[], event: ControlEvent) => readonly Verdict[];

  constructor(
    inner: Subject,
    seen: (moment: Moment) => void,
    tamper: (verdicts: readonly Verdict[], event: ControlEvent) => readonly Verdict[] = (verdicts) =>
      verdicts,
  ) {
    this.#inner = inner;
    this.#seen = seen;
    this.#tamper = tamper;
  }

  step(at: number, event: ControlEvent): readonly Verdict[] {
    const verdicts = this.#tamper(this.#inner.step(at, event), event);
    const speaks = this.#inner as Partial<Pick<Control, 'gauges' | 'ledger'>>;
    this.#seen({ at, event, verdicts, gauges: () => speaks.gauges?.(), granted: speaks.ledger?.granted });
    return verdicts;
  }

  wakeAt(): number {
    return this.#inner.wakeAt();
  }
}

/** What each attempt said when it came. */
export class Facts {
  readonly #facts = new Map<string, AttemptFacts>();

  hear(event: ControlEvent): void {
    if (event.kind === 'arrive') this.#facts.set(event.attempt, event.facts);
  }

  of(attempt: string): AttemptFacts | undefined {
    return this.#facts.get(attempt);
  }
}
