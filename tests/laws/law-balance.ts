/** Law 1: everything that begins ends exactly once, in one named ending, and the counts balance at all times. */

import type { ControlEvent } from '../../src/core/control/event.js';
import type { Verdict } from '../../src/core/control/verdict.js';
import { Law, type Moment } from './moment.js';

interface CallCount {
  readonly attempts: Set<string>;
  executions: number;
  entry: boolean;
  ended: boolean;
}

export class BalanceLaw extends Law {
  readonly number = 1;
  /** Attempts that came and have not ended, and whether they listen to anything. */
  readonly #open = new Map<string, boolean>();
  /** The call that each of them belongs to. */
  readonly #callOf = new Map<string, string>();
  readonly #ended = new Set<string>();
  readonly #live = new Map<string, string>();
  readonly #executions = new Set<string>();
  readonly #calls = new Map<string, CallCount>();

  protected override heed(event: ControlEvent): void {
    if (event.kind !== 'arrive' && event.kind !== 'reject') return;
    this.hold(
      !this.#open.has(event.attempt) && !this.#ended.has(event.attempt),
      `${event.attempt} came twice`,
    );
    this.#open.set(event.attempt, event.kind === 'reject');
  }

  protected override weigh(verdict: Verdict, moment: Moment): void {
    switch (verdict.kind) {
      case 'decided':
        return this.#decided(verdict.attempt, verdict.call);
      case 'attach':
        this.hold(this.#open.has(verdict.attempt), `${verdict.attempt} attached, but it is not there`);
        this.#open.set(verdict.attempt, true);
        this.#callOf.set(verdict.attempt, verdict.call);
        return;
      case 'queue':
        return this.#entry(verdict.call, true);
      case 'return':
        return this.#entry(verdict.call, true);
      case 'drop':
        return this.#entry(verdict.call, false);
      case 'start':
        return this.#start(verdict.call, verdict.execution, verdict.earlier);
      case 'refuse':
        return this.#paired(verdict.attempt, verdict.reason, moment);
      case 'end':
        return this.#paired(verdict.attempt, verdict.ending, moment);
      case 'cancel': {
        const { execution, ending } = verdict;
        const said = moment.verdicts.some(
          (one) => one.kind === 'execution-ended' && one.execution === execution && one.ending === ending,
        );
        return this.hold(said, `${execution} cancelled, but its ending is not said`);
      }
      case 'attempt-ended':
        this.hold(this.#open.delete(verdict.attempt), `${verdict.attempt} ended, but it was not there`);
        this.#ended.add(verdict.attempt);
        this.#callOf.delete(verdict.attempt);
        return;
      case 'execution-ended':
        this.hold(this.#live.delete(verdict.execution), `${verdict.execution} ended, but it did not run`);
        return;
      case 'call-ended':
        return this.#callEnded(verdict);
      case 'seal':
      case 'forget':
      case 'wasted':
      case 'rest':
      case 'back':
      case 'warn':
        return;
    }
  }

  protected override close(moment: Moment): void {
    const gauges = moment.gauges();
    for (const [attempt, listens] of this.#open)
      this.hold(listens, `${attempt} hangs: it listens to nothing`);
    if (gauges === undefined) return;
    const waiting = [...this.#calls].filter(([, call]) => call.entry).map(([id]) => id);
    const entries = waiting.length;
    const heard = new Set(this.#callOf.values());
    const orphans = [...waiting, ...this.#live.values()].filter((call) => !heard.has(call)).length;
    this.hold(gauges.orphans === orphans, `${gauges.orphans} orphans, ${orphans} that nobody listens to`);
    this.hold(
      gauges.listeners === this.#open.size,
      `${gauges.listeners} listeners, ${this.#open.size} open attempts`,
    );
    this.hold(gauges.lineEntries === entries, `${gauges.lineEntries} entries in line, ${entries} open`);
    const running = this.#live.size;
    this.hold(gauges.runningExecutions === running, `${gauges.runningExecutions} running, ${running} open`);
  }

  override finish(): void {
    for (const attempt of this.#open.keys()) this.hold(false, `${attempt} never ended`);
    for (const execution of this.#live.keys()) this.hold(false, `${execution} never ended`);
    for (const [id, call] of this.#calls) this.hold(call.ended && !call.entry, `${id} never ended`);
  }

  #decided(attempt: string, id: string): void {
    this.hold(this.#open.has(attempt), `${attempt} decided, but it is not there`);
    const call = this.#calls.get(id) ?? { attempts: new Set(), executions: 0, entry: false, ended: false };
    this.#calls.set(id, call);
    call.attempts.add(attempt);
  }

  #entry(id: string, opens: boolean): void {
    const call = this.#calls.get(id);
    this.hold(
      call !== undefined && !call.ended && call.entry !== opens,
      `entry of ${id} ${opens ? 'opens' : 'closes'}`,
    );
    if (call !== undefined) call.entry = opens;
  }

  #start(id: string, execution: string, earlier: number): void {
    const call = this.#calls.get(id);
    this.hold(call !== undefined && !call.ended, `${execution} of an unknown or ended call ${id}`);
    this.hold(!this.#executions.has(execution), `${execution} started twice`);
    this.hold(call?.executions === earlier, `${execution} says ${earlier} earlier, not ${call?.executions}`);
    this.#executions.add(execution);
    this.#live.set(execution, id);
    if (call === undefined) return;
    call.executions += 1;
    call.entry = false;
  }

  #paired(attempt: string, ending: string, moment: Moment): void {
    const said = moment.verdicts.some(
      (one) => one.kind === 'attempt-ended' && one.attempt === attempt && one.ending === ending,
    );
    this.hold(said, `${attempt} told ${ending}, but not booked so`);
  }

  #callEnded(verdict: Extract<Verdict, { kind: 'call-ended' }>): void {
    const call = this.#calls.get(verdict.call);
    this.hold(call !== undefined && !call.ended, `${verdict.call} ended twice or from nowhere`);
    if (call === undefined) return;
    call.ended = true;
    this.hold(
      call.executions === verdict.executions,
      `${verdict.call}: ${verdict.executions} executions booked`,
    );
    this.hold(
      call.attempts.size === verdict.attempts,
      `${verdict.call}: ${verdict.attempts} attempts booked`,
    );
  }
}
