/** Laws 2 and 6 where there are engines to choose from: none is asked too often, and none twice in vain. */

import type { ControlEvent } from '../../src/core/control/event.js';
import type { Verdict } from '../../src/core/control/verdict.js';
import { Facts, Law } from './moment.js';

interface Rest {
  readonly until: number;
  /** Executions that were begun since and have shown nothing, and whether any has. */
  readonly probes: Set<string>;
  shown: boolean;
}

/**
 * Nothing is started on an engine that rests. When its rest is over, one execution at a time tries it until it has
 * shown something. No engine is given a call that it could not be reached for, unless the call comes again, and none a
 * call for a model that it does not serve.
 */
export class EnginesLaw extends Law {
  readonly number = 6;
  readonly #facts = new Facts();
  readonly #rests = new Map<string, Rest>();
  readonly #engineOf = new Map<string, string>();
  readonly #callOf = new Map<string, string>();
  /** Engines that refused a call since an attempt last asked for work. */
  readonly #refusals = new Map<string, Set<string>>();

  protected override heed(event: ControlEvent): void {
    this.#facts.hear(event);
    if (event.kind === 'first-byte' || event.kind === 'finish') this.#shows(event.execution);
    else if (event.kind === 'fail') this.#fails(event);
  }

  protected override weigh(verdict: Verdict): void {
    if (verdict.kind === 'rest') {
      this.hold(verdict.restMs > 0, `${verdict.engine} rests for no time`);
      this.#rests.set(verdict.engine, { until: this.at + verdict.restMs, probes: new Set(), shown: false });
    } else if (verdict.kind === 'back') {
      const rest = this.#rests.get(verdict.engine);
      this.hold(
        rest !== undefined && this.at >= rest.until,
        `${verdict.engine} is back from its rest too early`,
      );
      if (rest !== undefined) rest.shown = true;
    } else if (verdict.kind === 'start') this.#start(verdict);
    else if (verdict.kind === 'queue' || verdict.kind === 'decided') this.#refusals.delete(verdict.call);
    else if (verdict.kind === 'execution-ended') {
      const engine = this.#engineOf.get(verdict.execution) ?? '';
      this.#rests.get(engine)?.probes.delete(verdict.execution);
    }
  }

  #start({ call, execution, engine, attempt }: Extract<Verdict, { kind: 'start' }>): void {
    this.#engineOf.set(execution, engine);
    this.#callOf.set(execution, call);
    const known = this.options.engines.find(({ name }) => name === engine);
    const model = this.#facts.of(attempt)?.model ?? '';
    const serves = known?.models?.includes(model) ?? known !== undefined;
    this.hold(serves || model === '', `${engine} is given ${execution} of ${model}`);
    this.hold(this.#refusals.get(call)?.has(engine) !== true, `${engine} is given ${call}, which it refused`);
    const rest = this.#rests.get(engine);
    if (rest === undefined) return;
    this.hold(this.at >= rest.until, `${execution} started on ${engine}, which rests until ${rest.until}`);
    if (rest.shown) return;
    this.hold(rest.probes.size === 0, `${execution} is one probe more of ${engine}`);
    rest.probes.add(execution);
  }

  #shows(execution: string): void {
    const rest = this.#rests.get(this.#engineOf.get(execution) ?? '');
    if (rest?.probes.delete(execution) === true) rest.shown = true;
  }

  #fails({ execution, failure }: Extract<ControlEvent, { kind: 'fail' }>): void {
    const engine = this.#engineOf.get(execution) ?? '';
    const call = this.#callOf.get(execution) ?? '';
    if (failure.startsWith('status_') || failure === 'error_event') this.#shows(execution);
    if (failure !== 'refused') return;
    const refusals = this.#refusals.get(call) ?? new Set();
    this.#refusals.set(call, refusals.add(engine));
  }
}
