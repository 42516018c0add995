/** The life of each execution in the engine, written down as it happens. Times in milliseconds of the run. */

import type { ExecutionRecord } from '../drill/record.js';
import type { EngineObserver } from '../engine/engine.js';
import type { Execution } from '../engine/execution.js';
import type { Step } from '../engine/step.js';
import type { Clock } from '../time/clock.js';

/** A record while its execution lives. */
export type OpenExecution = { -readonly [Field in keyof ExecutionRecord]: ExecutionRecord[Field] };

export class ExecutionBook {
  readonly records: OpenExecution[] = [];
  readonly #byId = new Map<string, OpenExecution>();
  readonly #clock: Clock;
  readonly observer: EngineObserver = {
    scheduled: (step) => this.#scheduled(step),
    aborting: (execution) => this.#aborting(execution),
  };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  open(
    { id, promptTokens }: Pick<Execution, 'id' | 'promptTokens'>,
    call: number,
    attempt: number,
  ): OpenExecution {
    const record: OpenExecution = {
      id,
      call,
      attempt,
      promptTokens,
      createdMs: this.#clock.now(),
      firstStepMs: undefined,
      firstTokenMs: undefined,
      endedMs: undefined,
      ending: undefined,
      cachedTokens: 0,
      computedPromptTokens: 0,
      hiddenPromptTokens: 0,
      inFlightPromptTokens: 0,
      outputTokens: 0,
    };
    this.records.push(record);
    this.#byId.set(id, record);
    return record;
  }

  /** It ended by the engine's word; `execution` is absent when it never became one. */
  close(record: OpenExecution, ending: 'finished' | 'refused', execution?: Execution): void {
    record.ending = ending;
    record.endedMs = this.#clock.now();
    record.outputTokens = execution?.outputTokens ?? 0;
    record.computedPromptTokens = execution?.meter.promptComputed ?? 0;
    this.#byId.delete(record.id);
  }

  #scheduled(step: Step): void {
    for (const execution of step.admitted) {
      const record = this.#byId.get(execution.id);
      if (record === undefined || record.firstStepMs !== undefined) continue;
      record.firstStepMs = this.#clock.now();
      record.cachedTokens = execution.cachedTokens;
    }
  }

  #aborting(execution: Execution): void {
    const record = this.#byId.get(execution.id);
    if (record === undefined) return;
    const { promptTokens, computed, inFlight, meter } = execution;
    record.endedMs = this.#clock.now();
    record.ending = 'aborted';
    record.outputTokens = execution.outputTokens;
    record.computedPromptTokens = meter.promptComputed;
    record.hiddenPromptTokens = execution.outputTokens === 0 ? meter.promptComputed : 0;
    record.inFlightPromptTokens =
      Math.min(promptTokens, computed) - Math.min(promptTokens, computed - inFlight);
    this.#byId.delete(execution.id);
  }
}
