/** The line of executions that wait to be admitted: a linked list, so that leaving from the middle is cheap. */

import { assert } from '../assert.js';
import type { Execution } from './execution.js';
import type { SchedulingPolicy } from './options.js';

/** True when `a` is admitted before `b` under the policy `priority`. */
function moreUrgent(a: Execution, b: Execution): boolean {
  if (a.priority !== b.priority) return a.priority < b.priority;
  if (a.arrivedAt !== b.arrivedAt) return a.arrivedAt < b.arrivedAt;
  return a.id < b.id;
}

export class Waiting {
  readonly #policy: SchedulingPolicy;
  #head: Execution | undefined;
  #tail: Execution | undefined;
  #size = 0;

  constructor(policy: SchedulingPolicy) {
    this.#policy = policy;
  }

  get size(): number {
    return this.#size;
  }

  get head(): Execution | undefined {
    return this.#head;
  }

  /** A new execution takes its place: the tail, or by urgency. */
  add(execution: Execution): void {
    let behind = this.#tail;
    if (this.#policy === 'priority') {
      while (behind !== undefined && moreUrgent(execution, behind)) behind = behind.before;
    }
    this.#insert(execution, behind);
  }

  /** A preempted execution comes back: to the head, or by urgency. */
  putBack(execution: Execution): void {
    if (this.#policy === 'priority') this.add(execution);
    else this.#insert(execution, undefined);
  }

  remove(execution: Execution): void {
    assert(this.#size > 0, 'nothing waits');
    if (execution.before === undefined) this.#head = execution.after;
    else execution.before.after = execution.after;
    if (execution.after === undefined) this.#tail = execution.before;
    else execution.after.before = execution.before;
    execution.before = undefined;
    execution.after = undefined;
    this.#size -= 1;
  }

  #insert(execution: Execution, behind: Execution | undefined): void {
    const ahead = behind === undefined ? this.#head : behind.after;
    execution.before = behind;
    execution.after = ahead;
    if (behind === undefined) this.#head = execution;
    else behind.after = execution;
    if (ahead === undefined) this.#tail = execution;
    else ahead.before = execution;
    this.#size += 1;
  }
}
