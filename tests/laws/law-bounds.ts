/** Laws 6 and 7: nothing grows past its stated maximum, and nothing is replayed but whole. */

import type { ControlEvent } from '../../src/core/control/event.js';
import type { Verdict } from '../../src/core/control/verdict.js';
import { Facts, Law, type Moment } from './moment.js';

interface Kept {
  readonly call: string;
  readonly tenant: string;
  readonly engine: string;
  readonly streams: boolean;
  /** Something of its answer has come. */
  shown: boolean;
  bytes: number;
  sealed: boolean;
  running: boolean;
}

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((all, one) => all + one, 0);

/** Law 6, recounted from events and verdicts, and compared with what the control says of itself. */
export class BoundsLaw extends Law {
  readonly number = 6;
  readonly #facts = new Facts();
  readonly #entries = new Map<string, { readonly bytes: number; readonly since: number }>();
  readonly #kept = new Map<string, Kept>();
  readonly #listening = new Map<string, string>();
  readonly #calls = new Set<string>();
  /** Call → the attempt of it that came last. */
  readonly #latest = new Map<string, string>();
  readonly #delivered = new Set<string>();
  readonly #above = new Map<string, number>();

  protected override heed(event: ControlEvent): void {
    this.#facts.hear(event);
    if (event.kind !== 'chunk' && event.kind !== 'first-byte') return;
    const kept = this.#kept.get(event.execution);
    if (kept?.running !== true) return;
    if (event.kind === 'chunk') kept.bytes += event.bytes;
    else kept.shown = true;
  }

  protected override weigh(verdict: Verdict): void {
    switch (verdict.kind) {
      case 'decided':
        if (!this.#delivered.has(verdict.call)) this.#calls.add(verdict.call);
        this.#latest.set(verdict.call, verdict.attempt);
        return;
      case 'return':
      case 'queue': {
        const bytes = this.#facts.of(verdict.attempt)?.bodyBytes ?? 0;
        this.#entries.set(verdict.call, { bytes, since: this.at });
        return;
      }
      case 'drop':
        this.#entries.delete(verdict.call);
        return;
      case 'start': {
        this.#entries.delete(verdict.call);
        const tenant = this.#facts.of(verdict.attempt)?.tenant ?? '';
        this.#kept.set(verdict.execution, {
          call: verdict.call,
          tenant,
          engine: verdict.engine,
          streams: this.#facts.of(this.#latest.get(verdict.call) ?? '')?.stream === true,
          shown: false,
          bytes: 0,
          sealed: false,
          running: true,
        });
        return;
      }
      case 'seal': {
        const kept = this.#kept.get(verdict.execution);
        if (kept !== undefined) kept.sealed = true;
        return;
      }
      case 'execution-ended': {
        const kept = this.#kept.get(verdict.execution);
        if (kept !== undefined) kept.running = false;
        if (verdict.ending !== 'finished') this.#kept.delete(verdict.execution);
        return;
      }
      case 'forget':
        this.#delivered.delete(this.#kept.get(verdict.execution)?.call ?? '');
        this.#kept.delete(verdict.execution);
        return;
      case 'attach':
        this.#listening.set(verdict.attempt, verdict.call);
        return;
      case 'attempt-ended':
        this.#listening.delete(verdict.attempt);
        return;
      case 'call-ended':
        this.#calls.delete(verdict.call);
        if (verdict.ending === 'delivered') this.#delivered.add(verdict.call);
        return;
      case 'refuse':
      case 'end':
      case 'cancel':
      case 'wasted':
      case 'rest':
      case 'back':
      case 'warn':
        return;
    }
  }

  protected override close(moment: Moment): void {
    const { bounds } = this.options;
    const listened = new Map<string, number>();
    for (const call of this.#listening.values()) listened.set(call, (listened.get(call) ?? 0) + 1);
    const anew = moment.event.kind === 'reconfigure';
    const most = (name: string, is: number, may: number): void => {
      // What stands above a bound that was lowered stays, and grows no more; bytes have to go at once.
      const stays = anew && !/^(?:bytes (?:of|retained)|wait)/.test(name) ? is : (this.#above.get(name) ?? 0);
      this.hold(is <= Math.max(may, stays), `${name}: ${is} > ${may}`);
      if (is > may) this.#above.set(name, is);
      else this.#above.delete(name);
    };
    most('entries in line', this.#entries.size, bounds.lineEntries);
    most('bytes in line', sum([...this.#entries.values()].map((entry) => entry.bytes)), bounds.lineBytes);
    most('listeners of one call', Math.max(0, ...listened.values()), bounds.listeners);
    most('known calls', this.#calls.size + this.#delivered.size, bounds.calls);
    for (const [call, { since }] of this.#entries) {
      if (listened.has(call)) most(`wait of ${call}`, this.at - since, bounds.lineWaitMs);
    }
    const all = [...this.#kept.values()];
    for (const { name, room = this.options.room } of this.options.engines) {
      const running = all.filter((one) => one.running && one.engine === name);
      if (typeof room === 'number') most(`running executions of ${name}`, running.length, room);
      if (room !== 'first-token') continue;
      const silent = running.filter((one) => one.streams && !one.shown).length;
      most(`streams of ${name} without a first byte`, silent, this.options.roomWaiting);
      const whole = running.filter((one) => !one.streams).length;
      most(`answers of ${name} that come whole`, whole, this.options.roomWhole);
    }
    const open = all.filter((one) => !one.sealed);
    const live = open.filter((one) => one.running || listened.has(one.call)).map((one) => one.bytes);
    const retained = open.filter((one) => !one.running && !listened.has(one.call));
    most('bytes of one buffer', Math.max(0, ...open.map((one) => one.bytes)), bounds.replayBytes);
    most('bytes of live buffers', sum(live), bounds.liveReplayBytes);
    most('bytes retained', sum(retained.map((one) => one.bytes)), bounds.retainedBytes);
    for (const tenant of new Set(retained.map((one) => one.tenant))) {
      const its = sum(retained.filter((one) => one.tenant === tenant).map((one) => one.bytes));
      most(`bytes retained for ${tenant}`, its, bounds.retainedBytes * bounds.retainedTenantShare);
    }
    const gauges = moment.gauges();
    if (gauges === undefined) return;
    most('known calls, as it says', gauges.calls, bounds.calls);
    most('bytes of live buffers, as it says', gauges.liveReplayBytes, bounds.liveReplayBytes);
    most('bytes retained, as it says', gauges.retainedBytes, bounds.retainedBytes);
    this.hold(gauges.retainedBytes === sum(retained.map((one) => one.bytes)), 'retained bytes do not tally');
    this.hold(gauges.liveReplayBytes === sum(live), 'bytes of live buffers do not tally');
  }
}

/** Law 7. Replayed from the first byte or not at all; never a part or a failure as a whole answer. */
export class WholeLaw extends Law {
  readonly number = 7;
  readonly #state = new Map<string, 'running' | 'whole' | 'gone'>();
  readonly #sealed = new Set<string>();
  readonly #finished = new Set<string>();

  protected override heed(event: ControlEvent): void {
    if (event.kind === 'finish') this.#finished.add(event.execution);
  }

  protected override weigh(verdict: Verdict): void {
    if (verdict.kind === 'start') this.#state.set(verdict.execution, 'running');
    else if (verdict.kind === 'seal') this.#sealed.add(verdict.execution);
    else if (verdict.kind === 'forget') this.#state.set(verdict.execution, 'gone');
    else if (verdict.kind === 'execution-ended') {
      const whole = verdict.ending === 'finished';
      this.hold(!whole || this.#finished.has(verdict.execution), `${verdict.execution} finished by itself`);
      this.#state.set(verdict.execution, whole ? 'whole' : 'gone');
    } else if (verdict.kind === 'attach') this.#attach(verdict);
    else if (verdict.kind === 'attempt-ended' && verdict.ending === 'delivered') {
      const whole = this.#finished.has(verdict.execution ?? '');
      this.hold(whole, `${verdict.attempt} delivered what never finished`);
    }
  }

  #attach({ attempt, execution, outcome }: Extract<Verdict, { kind: 'attach' }>): void {
    if (execution === undefined) return this.hold(outcome !== 'replayed', `${attempt} is replayed nothing`);
    const state = this.#state.get(execution);
    this.hold(!this.#sealed.has(execution), `${attempt} attached to ${execution}, which is sealed`);
    const fits = outcome === 'replayed' ? state === 'whole' : state === 'running';
    this.hold(fits, `${attempt} ${outcome} to ${execution}, which is ${state ?? 'unknown'}`);
  }
}
