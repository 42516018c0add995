/** Law 5: nothing that somebody listens to is cancelled, and no orphan inside its grace. */

import type { ControlEvent } from '../../src/core/control/event.js';
import { mannersOf } from '../../src/core/control/family.js';
import type { ControlOptions } from '../../src/core/control/options.js';
import type { Verdict } from '../../src/core/control/verdict.js';
import { Facts, Law } from './moment.js';

interface Left {
  readonly attempt: string;
  readonly at: number;
  /** A grace that has begun ends when it was going to. */
  readonly options: ControlOptions;
}

export class CancelLaw extends Law {
  readonly number = 5;
  readonly #facts = new Facts();
  readonly #listening = new Map<string, string>();
  /** Who left last, and when, by call. */
  readonly #lastLeft = new Map<string, Left>();
  readonly #callOf = new Map<string, string>();
  readonly #queuedAt = new Map<string, number>();
  readonly #answering = new Set<string>();
  readonly #streams = new Set<string>();
  readonly #sealed = new Set<string>();
  #stopped = false;

  protected override heed(event: ControlEvent): void {
    this.#facts.hear(event);
    if (event.kind === 'stop') this.#stopped = true;
    if (event.kind !== 'first-byte') return;
    this.#answering.add(event.execution);
    if (event.stream === true) this.#streams.add(event.execution);
  }

  protected override weigh(verdict: Verdict): void {
    if (verdict.kind === 'attach') this.#listening.set(verdict.attempt, verdict.call);
    else if (verdict.kind === 'start') this.#callOf.set(verdict.execution, verdict.call);
    else if (verdict.kind === 'queue' || verdict.kind === 'return') this.#queuedAt.set(verdict.call, this.at);
    else if (verdict.kind === 'seal') this.#sealed.add(verdict.execution);
    else if (verdict.kind === 'attempt-ended') {
      const call = this.#listening.get(verdict.attempt);
      if (call !== undefined)
        this.#lastLeft.set(call, { attempt: verdict.attempt, at: this.at, options: this.options });
      this.#listening.delete(verdict.attempt);
    } else if (verdict.kind === 'cancel') this.#cancel(verdict);
    else if (verdict.kind === 'drop') this.#drop(verdict);
  }

  #listened(call: string): boolean {
    return [...this.#listening.values()].includes(call);
  }

  /** The least grace that whoever left last from the call has a right to, as design §8 states it. */
  #graceMs(call: string, execution: string | undefined): number {
    const left = this.#lastLeft.get(call);
    const { grace, graceAfterFirstByteMs, learnGrace } = left?.options ?? this.options;
    const facts = this.#facts.of(left?.attempt ?? '');
    if (facts === undefined || facts.cancelOnLeave || !facts.shareable || grace === 'now' || learnGrace)
      return 0;
    const answering = execution !== undefined && this.#answering.has(execution);
    const stream = facts.stream || (execution !== undefined && this.#streams.has(execution));
    const mayProve = facts.key !== undefined || mannersOf(facts.userAgent).reconnectsStreams;
    const graceMs = grace === 'never' ? Number.POSITIVE_INFINITY : grace;
    return answering && stream && !mayProve ? Math.min(graceMs, graceAfterFirstByteMs) : graceMs;
  }

  #cancel({ execution, ending }: Extract<Verdict, { kind: 'cancel' }>): void {
    const call = this.#callOf.get(execution) ?? '';
    if (ending === 'cancelled_drained')
      return this.hold(this.#stopped, `${execution} drained, but nothing was stopped`);
    this.hold(!this.#listened(call), `${execution} cancelled while somebody listens`);
    if (ending === 'cancelled_not_replayable') {
      return this.hold(this.#sealed.has(execution), `${execution} cancelled as not replayable, which it is`);
    }
    const left = this.#lastLeft.get(call)?.at ?? Number.POSITIVE_INFINITY;
    const graceMs = this.#graceMs(call, execution);
    this.hold(
      this.at >= left + graceMs,
      `${execution} cancelled ${this.at - left} ms after leaving, grace ${graceMs}`,
    );
    if (ending === 'cancelled_on_leave')
      this.hold(graceMs === 0, `${execution} cancelled on leaving, grace ${graceMs}`);
  }

  #drop({ call, ending }: Extract<Verdict, { kind: 'drop' }>): void {
    if (ending === 'merged' || ending === 'gave_up' || ending === 'drained') return;
    this.hold(!this.#listened(call), `entry of ${call} ${ending} while somebody listens`);
    if (ending === 'displaced' || ending === 'unavailable') return;
    const left = this.#lastLeft.get(call)?.at ?? Number.POSITIVE_INFINITY;
    const outwaited = (this.#queuedAt.get(call) ?? this.at) + this.options.bounds.lineWaitMs;
    const due = Math.min(left + this.#graceMs(call, undefined), outwaited);
    this.hold(this.at >= due, `entry of ${call} ${ending} at ${this.at}, before ${due}`);
  }
}
