/** vLLM's scheduler as a state machine without time: what runs next, what a finished step changes. */

import { assert } from '../assert.js';
import type { Hits } from './blocks.js';
import type { Execution, FinishReason } from './execution.js';
import { KvCache } from './kv-cache.js';
import type { EngineOptions } from './options.js';
import type { Step } from './step.js';
import { Waiting } from './waiting.js';

/** Hears each output token as it is applied: `ended` says that it was the last, and its blocks are free. */
export type OutputSink = (execution: Execution, ended: FinishReason | undefined) => void;

export class Scheduler {
  readonly kv: KvCache;
  readonly #options: EngineOptions;
  readonly #waiting: Waiting;
  /** In order of admission. */
  readonly #running: Execution[] = [];
  readonly #hits: Hits = { stretches: [], ends: [] };
  #steps = 0;
  #budget = 0;
  #position = 0;
  #finishedUnannounced = false;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.kv = new KvCache(options);
    this.#waiting = new Waiting(options.schedulingPolicy);
  }

  get running(): number {
    return this.#running.length;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Whether a step has anything to do: live executions, or ends that the workers have not heard of. */
  get hasRequests(): boolean {
    return this.#running.length > 0 || this.#waiting.size > 0 || this.#finishedUnannounced;
  }

  get hasUnannouncedEnds(): boolean {
    return this.#finishedUnannounced;
  }

  add(execution: Execution): void {
    assert(execution.status === 'new', `${execution.id} was added before`);
    execution.status = 'waiting';
    this.#waiting.add(execution);
  }

  /** Ends a live execution at its client's wish; issued steps run on. */
  abort(execution: Execution): void {
    if (execution.status === 'running') this.#leaveRunning(execution);
    else this.#waiting.remove(execution);
    this.#end(execution, 'abort');
  }

  /** Fixes the next step: running executions first, then, if nobody was preempted, waiting ones. */
  schedule(step: Step): void {
    step.clear();
    this.#steps += 1;
    step.number = this.#steps;
    this.#finishedUnannounced = false;
    this.#budget = this.#options.maxNumBatchedTokens;
    this.#scheduleRunning(step);
    if (step.preempted.length === 0) this.#scheduleWaiting(step);
    this.#issue(step);
  }

  /** Applies the result of the oldest issued step. */
  update(step: Step, output: OutputSink): void {
    for (let at = 0; at < step.executions.length; at += 1) {
      const execution = step.executions[at] as Execution;
      execution.inFlight -= step.tokens[at] as number;
      if (execution.status === 'finished' || step.yields[at] !== true) continue;
      output(execution, this.#applyToken(execution));
    }
  }

  #scheduleRunning(step: Step): void {
    const running = this.#running;
    for (this.#position = 0; this.#position < running.length && this.#budget > 0; this.#position += 1) {
      const execution = running[this.#position] as Execution;
      const tokens = this.#wantedBy(execution);
      if (tokens === 0) continue;
      if (!this.#makeRoom(execution, tokens, step)) return;
      step.add(execution, tokens);
      this.#budget -= tokens;
    }
  }

  /** Tokens a running execution computes next; 0 when the steps issued already bring its last token. */
  #wantedBy(execution: Execution): number {
    const { computed, placeholders, promptTokens, maxTokens } = execution;
    if (placeholders > 0 && computed + 2 - placeholders >= promptTokens + maxTokens) return 0;
    const want = execution.tokens + placeholders - computed;
    return Math.max(0, Math.min(want, this.#budget, this.#options.maxModelLen - computed - 1));
  }

  /** Preempts until the tokens fit; false when `execution` itself had to go. */
  #makeRoom(execution: Execution, tokens: number, step: Step): boolean {
    while (!this.kv.grow(execution, tokens)) {
      const victim = this.#preemptOne(step);
      if (victim === execution) return false;
    }
    return true;
  }

  #preemptOne(step: Step): Execution {
    const running = this.#running;
    let victim = running.length - 1;
    if (this.#options.schedulingPolicy === 'priority') {
      victim = 0;
      for (let at = 1; at < running.length; at += 1) {
        if (lessUrgent(running[at] as Execution, running[victim] as Execution)) victim = at;
      }
    }
    const execution = running[victim] as Execution;
    running.splice(victim, 1);
    if (victim < this.#position) this.#position -= 1;
    this.#budget += step.withdraw(execution);
    this.kv.release(execution);
    execution.status = 'preempted';
    execution.computed = 0;
    execution.placeholders = 0;
    execution.preemptions += 1;
    step.preempted.push(execution);
    this.#waiting.putBack(execution);
    return execution;
  }

  #scheduleWaiting(step: Step): void {
    while (this.#budget > 0 && this.#running.length < this.#options.maxNumSeqs) {
      const execution = this.#waiting.head;
      if (execution === undefined) break;
      // A preemption in a step that was issued beside another one is followed by waiting for that other one.
      assert(execution.inFlight === 0, `${execution.id} comes back while a step of its is in flight`);
      const cached = this.kv.lookup(execution, this.#hits);
      const tokens = Math.min(execution.tokens - cached, this.#budget);
      if (!this.kv.admit(execution, tokens, this.#hits)) break;
      this.#waiting.remove(execution);
      this.#running.push(execution);
      execution.status = 'running';
      execution.computed = cached;
      execution.cachedTokens = cached;
      step.admitted.push(execution);
      step.add(execution, tokens);
      this.#budget -= tokens;
    }
    if (step.admitted.length > 1) step.admitted.sort(firstBeforeResumed);
  }

  #issue(step: Step): void {
    step.seal();
    for (let at = 0; at < step.executions.length; at += 1) {
      const execution = step.executions[at] as Execution;
      const tokens = step.tokens[at] as number;
      execution.computed += tokens;
      execution.inFlight += tokens;
      const yields = execution.computed >= execution.tokens + execution.placeholders;
      step.yields[at] = yields;
      if (yields && this.#options.asyncScheduling) execution.placeholders += 1;
    }
  }

  /** The reason, when the token ends the execution. */
  #applyToken(execution: Execution): FinishReason | undefined {
    execution.outputTokens += 1;
    const wasRunning = execution.status === 'running';
    if (wasRunning && this.#options.asyncScheduling) {
      execution.placeholders -= 1;
      this.kv.remember(execution, execution.computed - execution.placeholders);
    }
    const ended = this.#endOf(execution);
    if (ended === undefined) return undefined;
    if (wasRunning) this.#leaveRunning(execution);
    else this.#waiting.remove(execution);
    this.#end(execution, ended);
    return ended;
  }

  #endOf(execution: Execution): FinishReason | undefined {
    const { outputTokens, maxTokens, minTokens, stopAfter } = execution;
    if (outputTokens < minTokens) return undefined;
    if (outputTokens >= stopAfter) return 'stop';
    return outputTokens >= maxTokens || execution.tokens >= this.#options.maxModelLen ? 'length' : undefined;
  }

  #leaveRunning(execution: Execution): void {
    const at = this.#running.indexOf(execution);
    assert(at !== -1, `${execution.id} does not run`);
    this.#running.splice(at, 1);
  }

  #end(execution: Execution, reason: FinishReason): void {
    execution.status = 'finished';
    execution.finishReason = reason;
    this.kv.release(execution);
    this.#finishedUnannounced = true;
  }
}

function lessUrgent(a: Execution, b: Execution): boolean {
  return a.priority > b.priority || (a.priority === b.priority && a.arrivedAt > b.arrivedAt);
}

function firstBeforeResumed(a: Execution, b: Execution): number {
  return Number(a.preemptions > 0) - Number(b.preemptions > 0);
}
