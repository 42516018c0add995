/** The one door of the control: events in, verdicts out, nothing else. */

import { assert, unreachable } from '../assert.js';
import { chunk, fail, finish, firstByte, handed, lag, leave } from './answering.js';
import { arrive, reject } from './arrival.js';
import type { BudgetState } from './budget.js';
import type { ClassGauges } from './classes.js';
import type { ControlEvent } from './event.js';
import type { EngineGauges } from './fleet.js';
import { readGauges } from './gauges.js';
import type { GuardState } from './guard.js';
import type { Ledger } from './ledger.js';
import { passTime, stop } from './passing.js';
import { reconfigure } from './reconfigure.js';
import { type ControlParts, State } from './state.js';
import type { Verdict } from './verdict.js';

export type { ControlParts } from './state.js';

/** What stands at one moment; bytes in bytes, the rest counts. */
export interface ControlGauges {
  readonly lineEntries: number;
  readonly lineBytes: number;
  readonly runningExecutions: number;
  readonly listeners: number;
  /** Waiting or running calls that nobody listens to. */
  readonly orphans: number;
  readonly retainedAnswers: number;
  readonly retainedBytes: number;
  readonly liveReplayBytes: number;
  readonly calls: number;
  readonly budget: BudgetState;
  /** Absent while Ĉ is unknown. */
  readonly guard?: GuardState | undefined;
  /** In the order of the options. */
  readonly engines: readonly EngineGauges[];
}

export class Control {
  readonly #state: State;

  constructor(parts: ControlParts) {
    this.#state = new State(parts);
  }

  /** The books, to be read only. */
  get ledger(): Ledger {
    return this.#state.ledger;
  }

  /** Applies `event` at `now` (milliseconds, never backwards), after everything that time alone has brought. */
  step(now: number, event: ControlEvent): readonly Verdict[] {
    const state = this.#state;
    assert(now >= state.now, `time went backwards: ${state.now} to ${now} ms`);
    passTime(state, now);
    apply(state, event);
    passTime(state, now);
    return state.takeVerdicts();
  }

  /** When time alone will bring the next verdict; Infinity when never. */
  wakeAt(): number {
    const { agenda, fleet, now } = this.#state;
    return Math.min(agenda.nextAt(), fleet.nextAt(now));
  }

  /** Entries in line. */
  get lineLength(): number {
    return this.#state.line.size;
  }

  /** What each class has in line, the highest first; it looks at every entry. */
  lineByClass(): readonly ClassGauges[] {
    const state = this.#state;
    const entries = state.classes.names.map(() => 0);
    for (const { call } of state.line) {
      const rank = state.rankOf(call);
      entries[rank] = (entries[rank] ?? 0) + 1;
    }
    return state.classes.names.map((name, rank) => ({ name, entries: entries[rank] ?? 0 }));
  }

  gauges(): ControlGauges {
    const { line, fleet, attempts, executions, orphans, memory, register, budget, guard, now } = this.#state;
    return {
      lineEntries: line.size,
      lineBytes: line.bytes,
      runningExecutions: executions.size,
      listeners: attempts.size,
      orphans: orphans.size,
      retainedAnswers: memory.retainedAnswers,
      retainedBytes: memory.retainedBytes,
      liveReplayBytes: memory.liveBytes,
      calls: register.size,
      budget: budget.state(now),
      guard: guard.state(now),
      engines: fleet.gauges(),
    };
  }

  /** The budget of one tenant, as its own clients may see it; undefined while it shares the unverified ones'. */
  tenantBudget(tenant: string): BudgetState | undefined {
    const { budget, verified, now } = this.#state;
    return verified.has(tenant) ? budget.state(now, tenant) : undefined;
  }
}

function apply(state: State, event: ControlEvent): void {
  switch (event.kind) {
    case 'arrive':
      return arrive(state, event.attempt, event.facts);
    case 'reject':
      return reject(state, event.attempt, event.reason);
    case 'leave':
      return leave(state, event.attempt);
    case 'handed':
      return handed(state, event.attempt);
    case 'lag':
      return lag(state, event.attempt);
    case 'first-byte':
      return firstByte(state, event.execution, event.stream);
    case 'chunk':
      return chunk(state, event.execution, event.bytes);
    case 'finish':
      return finish(state, event);
    case 'fail':
      return fail(state, event);
    case 'gauges':
      return readGauges(state, event);
    case 'reconfigure':
      return reconfigure(state, event.options);
    case 'drain':
      state.draining = true;
      return;
    case 'stop':
      return stop(state);
    case 'time':
      return;
    default:
      unreachable(event);
  }
}
