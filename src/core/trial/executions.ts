/** The life of each execution in the engine, written down as it happens. Times in milliseconds of the run. */

import type { EngineObserver } from '../engine/engine.js';
import type { Execution } from '../engine/execution.js';
import type { Step } from '../engine/step.js';
import type { Clock } from '../time/clock.js';

export interface ExecutionRecord {
  readonly id: string;
  /** The planned call it worked for, and the attempt that made it. */
  readonly call: number;
  readonly attempt: number;
  readonly promptTokens: number;
  readonly createdMs: number;
  /** When its first step was scheduled, about one step before it begins on the device: vLLM's SCHEDULED. */
  firstStepMs: number | undefined;
  firstTokenMs: number | undefined;
  endedMs: number | undefined;
  ending: 'finished' | 'aborted' | 'refused' | undefined;
  /** Found in the prefix cache at its first admission. */
  cachedTokens: number;
  /** Prompt tokens of all steps issued for it, steps that outlive an abort included. */
  computedPromptTokens: number;
  /** Of these, computed for an execution that the engine's prompt counter never counts. */
  hiddenPromptTokens: number;
  /** Of these, in steps whose result was not processed when the abort took effect. */
  inFlightPromptTokens: number;
  outputTokens: number;
}

export class ExecutionBook {
  readonly records: ExecutionRecord[] = [];
  readonly #byId = new Map<string, ExecutionRecord>();
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
  ): ExecutionRecord {
    const record: ExecutionRecord = {
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
  close(record: ExecutionRecord, ending: 'finished' | 'refused', execution?: Execution): void {
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
