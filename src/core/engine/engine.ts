/** vLLM's core loop in whatever time it is handed: issue steps, wait for the oldest, apply what came meanwhile. */

import { assert } from '../assert.js';
import { type Clock, RANK } from '../time/clock.js';
import { type StepCost, stepLoad, stepMs } from './cost.js';
import { Counters } from './counters.js';
import { Execution, type ExecutionListener, type ExecutionRequest, type FinishReason } from './execution.js';
import { type EngineOptions, engineOptions } from './options.js';
import { Scheduler } from './scheduler.js';
import { Step } from './step.js';
import { Tracer, type TraceSink } from './trace.js';

/** Watches the loop itself; a step is only valid during the call. */
export interface EngineObserver {
  added?(execution: Execution): void;
  scheduled?(step: Step): void;
  /** Called before the scheduler forgets `execution`. */
  aborting?(execution: Execution): void;
  updated?(step: Step): void;
}

export interface EngineParts {
  readonly clock: Clock;
  readonly cost: StepCost;
  readonly options?: Partial<EngineOptions>;
  readonly trace?: TraceSink;
  readonly observer?: EngineObserver;
}

interface Input {
  readonly kind: 'add' | 'abort';
  readonly execution: Execution;
}

export class Engine {
  readonly options: EngineOptions;
  readonly counters: Counters;
  readonly scheduler: Scheduler;
  readonly #clock: Clock;
  readonly #cost: StepCost;
  readonly #tracer: Tracer | undefined;
  readonly #observer: EngineObserver;
  readonly #depth: number;
  readonly #spare: Step[] = [];
  readonly #issued: Step[] = [];
  #inputs: Input[] = [];
  /** A turn or the end of a step is due. */
  #pending = false;
  /** The latest step had nothing to do and nothing in flight can change that. */
  #fruitless = false;
  #freeAt = 0;
  #live = 0;
  #tokensBeforeFirst = 0;

  constructor(parts: EngineParts) {
    this.options = engineOptions(parts.options);
    this.counters = new Counters(this.options.enablePrefixCaching);
    this.scheduler = new Scheduler(this.options);
    this.#clock = parts.clock;
    this.#cost = parts.cost;
    this.#tracer = parts.trace === undefined ? undefined : new Tracer(parts.clock, parts.trace);
    this.#observer = parts.observer ?? {};
    this.#depth = this.options.asyncScheduling ? 2 : 1;
    for (let count = 0; count < this.#depth; count += 1) this.#spare.push(new Step());
  }

  /** Executions the front end waits for, queued and running together. */
  get live(): number {
    return this.#live;
  }

  /** Why `count` more executions would be refused now, or undefined; holds no place for them. */
  refusal(count: number): 'requests' | 'tokens' | undefined {
    const { maxNumQueuedReqs, maxNumQueuedTokens } = this.options;
    if (maxNumQueuedReqs !== undefined && this.#live + count > maxNumQueuedReqs) return 'requests';
    if (maxNumQueuedTokens !== undefined && this.#tokensBeforeFirst >= maxNumQueuedTokens) return 'tokens';
    return undefined;
  }

  /** Takes a request; the loop sees it at its next turn. Prompt and one token must fit the model's length. */
  add(request: ExecutionRequest, listener: ExecutionListener): Execution {
    const most = this.options.maxModelLen;
    if (request.prompt.length < 1 || request.prompt.length >= most) {
      throw new RangeError(`a prompt has 1 to ${most - 1} tokens, not ${request.prompt.length}`);
    }
    if (!Number.isInteger(request.maxTokens) || request.maxTokens < 1) {
      throw new RangeError(`maxTokens must be a whole number from 1, not ${request.maxTokens}`);
    }
    const execution = new Execution(request, this.#clock.now());
    execution.listener = listener;
    this.#live += 1;
    this.#tokensBeforeFirst += execution.promptTokens;
    this.counters.received();
    this.#take({ kind: 'add', execution });
    return execution;
  }

  /** The client has left: nothing more is heard of it, and the loop drops it when the awaited step ends. */
  abort(execution: Execution): void {
    if (execution.listener === undefined) return;
    if (execution.outputTokens === 0) this.#tokensBeforeFirst -= execution.promptTokens;
    this.#forget(execution);
    this.#take({ kind: 'abort', execution });
  }

  #forget(execution: Execution): void {
    execution.listener = undefined;
    this.#live -= 1;
  }

  /** An idle loop turns after everything else of this moment, so that equal arrivals share a step. */
  #take(input: Input): void {
    this.#inputs.push(input);
    if (this.#pending) return;
    this.#pending = true;
    this.#clock.after(0, () => this.#turn(), RANK.retry);
  }

  #turn(): void {
    for (;;) {
      this.#pending = true;
      this.#applyInputs();
      if (this.scheduler.hasRequests && !this.#fruitless) {
        const step = this.#issueStep();
        if (this.#issued.length < this.#depth && (step.total > 0 || this.scheduler.hasRequests)) continue;
      }
      const oldest = this.#issued[0];
      if (oldest === undefined) this.#pending = false;
      else this.#clock.after(Math.max(0, oldest.endsAt - this.#clock.now()), this.#endStep, RANK.answer);
      return;
    }
  }

  #issueStep(): Step {
    const step = this.#spare.pop();
    assert(step !== undefined, 'more steps in flight than the pipeline is deep');
    const announces = this.scheduler.hasUnannouncedEnds;
    this.scheduler.schedule(step);
    const changes = announces || step.total > 0 || step.preempted.length > 0;
    this.#fruitless = !changes && this.#issued.every((each) => each.total === 0);
    step.startsAt = Math.max(this.#clock.now(), this.#freeAt);
    step.endsAt = step.startsAt + stepMs(this.#cost, stepLoad(step));
    this.#freeAt = step.endsAt;
    this.#issued.push(step);
    this.counters.issued(step);
    this.#tracer?.scheduled(step);
    this.#observer.scheduled?.(step);
    return step;
  }

  readonly #endStep = (): void => {
    const step = this.#issued.shift();
    assert(step !== undefined, 'no step to end');
    this.#applyAborts();
    this.#tracer?.updating(step);
    this.scheduler.update(step, this.#output);
    const { pool } = this.scheduler.kv;
    this.counters.processed(this.scheduler.running, this.scheduler.waiting, 1 - pool.free / pool.usable);
    this.#observer.updated?.(step);
    this.#spare.push(step);
    this.#turn();
  };

  readonly #output = (execution: Execution, ended: FinishReason | undefined): void => {
    this.#tracer?.output(execution, ended);
    const listener = execution.listener;
    if (listener === undefined) return;
    if (execution.outputTokens === 1) this.#tokensBeforeFirst -= execution.promptTokens;
    this.counters.output(execution, ended);
    if (ended !== undefined) this.#forget(execution);
    listener(execution, ended);
  };

  /** At the top of the loop: everything that came, in order. */
  #applyInputs(): void {
    const inputs = this.#inputs;
    if (inputs.length === 0) return;
    this.#inputs = [];
    this.#fruitless = false;
    for (const { kind, execution } of inputs) {
      if (kind === 'abort') this.#drop(execution);
      else {
        this.scheduler.add(execution);
        this.#tracer?.queued(execution);
        this.#observer.added?.(execution);
      }
    }
  }

  /** At the end of a step: only the aborts, and only of executions the loop has taken. */
  #applyAborts(): void {
    if (this.#inputs.length === 0) return;
    const due = ({ kind, execution }: Input): boolean => kind === 'abort' && execution.status !== 'new';
    for (const input of this.#inputs) if (due(input)) this.#drop(input.execution);
    this.#inputs = this.#inputs.filter(({ kind, execution }) => kind === 'add' || execution.status === 'new');
  }

  #drop(execution: Execution): void {
    if (execution.status === 'finished') return;
    this.#observer.aborting?.(execution);
    this.#tracer?.aborted(execution);
    this.counters.aborted(execution);
    this.scheduler.abort(execution);
  }
}
