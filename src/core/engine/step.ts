/** One step as the scheduler fixed it: who computes how many tokens, and what that brings. */

import type { Execution } from './execution.js';

export class Step {
  /** Counts from 1, empty steps too. */
  number = 0;
  /** In scheduling order; the three arrays below run beside it. */
  readonly executions: Execution[] = [];
  readonly tokens: number[] = [];
  /** Tokens each had computed before this step. */
  readonly bases: number[] = [];
  /** Whether the step ends each one's known tokens, and so brings an output token. */
  readonly yields: boolean[] = [];
  /** Sum of `tokens`. */
  total = 0;
  /** Newly running by this step: first admissions, then resumed ones. */
  readonly admitted: Execution[] = [];
  readonly preempted: Execution[] = [];
  /** When it begins and ends on the device, in the clock's milliseconds; set by whoever runs it. */
  startsAt = 0;
  endsAt = 0;

  #count = 0;

  add(execution: Execution, tokens: number): void {
    const at = this.#count;
    this.executions[at] = execution;
    this.tokens[at] = tokens;
    this.bases[at] = execution.computed;
    this.#count = at + 1;
    this.total += tokens;
  }

  /** Takes back what `execution` was given in this step; the tokens it had. */
  withdraw(execution: Execution): number {
    const at = this.executions.indexOf(execution);
    if (at === -1 || at >= this.#count) return 0;
    const tokens = this.tokens[at] as number;
    this.executions.splice(at, 1);
    this.tokens.splice(at, 1);
    this.bases.splice(at, 1);
    this.#count -= 1;
    this.total -= tokens;
    return tokens;
  }

  /** Begins anew; what the arrays held is written over, since arrays that are emptied lose their memory each step. */
  clear(): void {
    this.#count = 0;
    while (this.admitted.length > 0) this.admitted.pop();
    while (this.preempted.length > 0) this.preempted.pop();
    this.total = 0;
  }

  /** Nobody is added any more: the arrays hold this step and nothing of the one before. */
  seal(): void {
    while (this.executions.length > this.#count) {
      this.executions.pop();
      this.tokens.pop();
      this.bases.pop();
      this.yields.pop();
    }
  }
}
