/** Laws 2 and 3: the work of a call is done once and delivered to that call alone. */

import type { ControlEvent } from '../../src/core/control/event.js';
import type { Verdict } from '../../src/core/control/verdict.js';
import type { AttemptEnding, Decision } from '../../src/core/control/words.js';
import { Facts, Law, type Moment } from './moment.js';

interface Work {
  starts: number;
  failures: number;
  live: string | undefined;
  /** A whole answer that is kept for this call. */
  kept: string | undefined;
}

/** Equal calls of one tenant: whose retry a proofless attempt is, nobody can tell, so work may shift among them. */
interface Equals {
  readonly trueCalls: Set<string>;
  starts: number;
  failures: number;
  /** Clients that have seen bytes and left: without proof their return is another call by design (§3.8). */
  seen: number;
  /** Returns that were started before the leaving was seen, and after they had been held back for it. */
  unseen: number;
}

/**
 * Law 2. Executions per call ≤ 1 + granted + failed by the engine; never two at once, never one while a whole answer is
 * kept. For the users' own calls the sum runs over equal calls (one tenant, one body): adoption without proof may give
 * the execution of one to the other, which is then owed one of its own. A client that has seen bytes and returns
 * without proof is another call by design, and so is one whose call the bound on known calls has pushed out, and one
 * whose leaving is seen later than its return is held back for it (§3.6).
 */
export class OnceLaw extends Law {
  readonly number = 2;
  readonly #facts = new Facts();
  readonly #work = new Map<string, Work>();
  readonly #callOf = new Map<string, string>();
  readonly #sealed = new Set<string>();
  readonly #equals = new Map<string, Equals>();
  readonly #equalsOf = new Map<string, Equals>();
  readonly #decided = new Map<string, Decision>();
  /** Attempts of the users' own calls that have not ended, and calls made by a return beside one, with the moment. */
  readonly #open = new Map<string, Set<string>>();
  readonly #besideItself = new Map<string, number>();
  /** The bound on known calls was met: whoever it pushed out is a stranger when it returns. */
  #pushedOut = false;
  #uncharged = false;
  readonly #firsts: number[] = [];
  readonly #charged: number[] = [];

  protected override heed(event: ControlEvent): void {
    this.#facts.hear(event);
  }

  protected override weigh(verdict: Verdict): void {
    if (verdict.kind === 'decided') this.#meet(verdict.attempt, verdict.call, verdict.decision);
    else if (verdict.kind === 'queue') this.#queue(verdict.attempt);
    else if (verdict.kind === 'start') this.#start(verdict.call, verdict.execution);
    else if (verdict.kind === 'attempt-ended') this.#left(verdict);
    else if (verdict.kind === 'seal') this.#seal(verdict.execution);
    else if (verdict.kind === 'execution-ended') {
      const work = this.#work.get(verdict.call);
      const equals = this.#equalsOf.get(verdict.call);
      if (work === undefined || equals === undefined) return;
      work.live = undefined;
      if (verdict.ending === 'finished' && !this.#sealed.has(verdict.execution))
        work.kept = verdict.execution;
      if (!verdict.ending.startsWith('failed')) return;
      work.failures += 1;
      equals.failures += 1;
    } else if (verdict.kind === 'forget') {
      const work = this.#work.get(this.#callOf.get(verdict.execution) ?? '');
      if (work !== undefined) work.kept = undefined;
    }
  }

  protected override close({ granted, verdicts, gauges }: Moment): void {
    this.#pushedOut ||= (gauges()?.calls ?? 0) >= this.options.bounds.calls;
    if (!verdicts.some((verdict) => verdict.kind === 'start')) return;
    // What was not charged for a while is in the sum for ever.
    this.#uncharged ||= this.options.budget.mode === 'off';
    if (granted === undefined || this.#uncharged) return;
    let beyond = 0;
    for (const { starts, failures } of this.#work.values()) beyond += Math.max(0, starts - 1 - failures);
    this.hold(beyond <= granted, `${beyond} executions beyond right and failures, ${granted} granted`);
    const { trueCall } = this.surroundings;
    const { options } = this;
    if (trueCall === undefined || options.coalesce === 'off' || this.#pushedOut) return;
    const most = (one: Equals): number => one.trueCalls.size + one.failures + one.seen + one.unseen;
    const beside = [...this.#equals].filter(([, one]) => one.starts > most(one));
    const further = beside.reduce((sum, [, one]) => sum + one.starts - most(one), 0);
    const where = beside.map(([name, one]) => {
      return `${name} ${one.starts} for ${[...one.trueCalls].join(' ')}, ${one.failures} failures, ${one.seen} seen`;
    });
    this.hold(further <= granted, `${further} executions too many, ${granted} granted: ${where.join('; ')}`);
  }

  #left({
    attempt,
    call,
    ending,
  }: {
    attempt: string;
    call?: string | undefined;
    ending: AttemptEnding;
  }): void {
    this.#open.get(this.surroundings.trueCall?.(attempt) ?? '')?.delete(attempt);
    const equals = this.#equalsOf.get(call ?? '');
    const saw = ending === 'left_mid_answer' || ending === 'left_unconfirmed' || ending === 'slow_reader';
    if (saw && equals !== undefined) equals.seen += 1;
  }

  #seal(execution: string): void {
    this.#sealed.add(execution);
    const work = this.#work.get(this.#callOf.get(execution) ?? '');
    if (work?.kept === execution) work.kept = undefined;
  }

  #meet(attempt: string, call: string, decision: Decision): void {
    const facts = this.#facts.of(attempt);
    if (facts === undefined) return;
    const name = JSON.stringify([facts.tenant, facts.fingerprint]);
    const equals = this.#equals.get(name) ?? {
      trueCalls: new Set(),
      starts: 0,
      failures: 0,
      seen: 0,
      unseen: 0,
    };
    this.#equals.set(name, equals);
    this.#equalsOf.set(call, equals);
    const trueCall = this.surroundings.trueCall?.(attempt) ?? '';
    equals.trueCalls.add(trueCall);
    const open = this.#open.get(trueCall) ?? new Set();
    this.#open.set(trueCall, open);
    if (decision === 'new_call_beside_live' && open.size > 0) this.#besideItself.set(call, this.at);
    open.add(attempt);
    if (!this.#work.has(call))
      this.#work.set(call, { starts: 0, failures: 0, live: undefined, kept: undefined });
    this.#decided.set(attempt, decision);
    if (decision.startsWith('new_call') && (facts.retryCount ?? 0) === 0) this.#firsts.push(this.at);
  }

  /** A call that had used up its right and has to wait was granted an execution: the window must have allowed it. */
  #queue(attempt: string): void {
    const { budget, capacity } = this.options;
    if (budget.mode !== 'entitlement' || this.#decided.get(attempt) !== 'rejoin_spent') return;
    // A window that is kept in sixty parts may be one part longer or shorter than it says.
    const partMs = budget.windowMs / 60;
    const within = (times: readonly number[], ms: number): number =>
      times.filter((time) => time > this.at - ms && time <= this.at).length;
    this.#charged.push(this.at);
    const floor = capacity === undefined ? budget.floor : 0.02 * capacity * (budget.windowMs / 1_000);
    const most = Math.max(budget.ratio * within(this.#firsts, budget.windowMs + partMs), floor);
    const charged = within(this.#charged, budget.windowMs - partMs);
    this.hold(charged <= most, `${charged} executions granted in a window that allows ${most}`);
  }

  #start(call: string, execution: string): void {
    this.#callOf.set(execution, call);
    const work = this.#work.get(call);
    const equals = this.#equalsOf.get(call);
    if (work === undefined || equals === undefined)
      return this.hold(false, `${execution} of an unknown call`);
    this.hold(work.live === undefined, `${execution} started while ${work.live} runs for the same call`);
    this.hold(work.kept === undefined, `${execution} started while the answer of ${work.kept} is kept`);
    const besideSince = this.#besideItself.get(call) ?? Number.POSITIVE_INFINITY;
    if (this.at - besideSince >= this.options.lateMergeHoldMs) equals.unseen += 1;
    this.#besideItself.delete(call);
    work.starts += 1;
    work.live = execution;
    equals.starts += 1;
  }
}

/** Law 3. One execution is delivered to one call: never to two users' calls, never twice without proof. */
export class DeliveryLaw extends Law {
  readonly number = 3;
  readonly #delivered = new Map<string, string[]>();
  readonly #proof = new Map<string, boolean>();
  readonly #listeners = new Map<string, Set<string>>();
  readonly #callOf = new Map<string, string>();

  protected override weigh(verdict: Verdict): void {
    if (verdict.kind === 'decided') {
      const { evidence, decision } = verdict;
      const proves =
        evidence.includes('key') || evidence.includes('traceparent') || evidence.includes('retry_count');
      this.#proof.set(verdict.attempt, decision === 'replay_delivered' && proves);
    } else if (verdict.kind === 'attach') this.#attach(verdict.attempt, verdict.call);
    else if (verdict.kind === 'attempt-ended') {
      this.#listeners.get(this.#callOf.get(verdict.attempt) ?? '')?.delete(verdict.attempt);
      if (verdict.ending === 'delivered') this.#deliver(verdict.attempt, verdict.execution);
    }
  }

  #attach(attempt: string, call: string): void {
    const before = this.#callOf.get(attempt);
    if (before !== undefined) this.#listeners.get(before)?.delete(attempt);
    this.#callOf.set(attempt, call);
    const listeners = this.#listeners.get(call) ?? new Set();
    this.#listeners.set(call, listeners.add(attempt));
    const counted = [...listeners].filter((one) => this.#proof.get(one) !== true).length;
    if (this.options.coalesce === 'identical') return;
    this.hold(counted <= 1, `${counted} attempts listen to ${call}, and not to replay it on proof`);
  }

  #deliver(attempt: string, execution: string | undefined): void {
    this.hold(execution !== undefined, `${attempt} was delivered nothing`);
    if (execution === undefined || this.options.coalesce === 'identical') return;
    const before = this.#delivered.get(execution) ?? [];
    this.#delivered.set(execution, [...before, attempt]);
    if (before.length === 0) return;
    this.hold(
      this.#proof.get(attempt) === true,
      `${execution} delivered again, to ${attempt}, without proof`,
    );
    const { trueCall } = this.surroundings;
    if (trueCall === undefined) return;
    const calls = new Set([...before, attempt].map(trueCall));
    this.hold(calls.size === 1, `${execution} delivered to ${[...calls].join(' and ')}`);
  }
}
