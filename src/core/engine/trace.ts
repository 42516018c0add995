/** What happened to each execution, in the scheduler's own time: one event a line when written down. */

import type { Clock } from '../time/clock.js';
import type { Execution, ExecutionStatus, FinishReason } from './execution.js';
import type { Step } from './step.js';

/** `at` is in the clock's milliseconds, `id` the execution's, `step` the number of the scheduler's step. */
export type TraceEvent =
  | { readonly event: 'queued'; readonly at: number; readonly id: string; readonly promptTokens: number }
  | {
      readonly event: 'scheduled';
      readonly at: number;
      readonly id: string;
      readonly step: number;
      /** Tokens of this step, and how many the execution had before it. */
      readonly tokens: number;
      readonly base: number;
    }
  | { readonly event: 'preempted'; readonly at: number; readonly id: string; readonly step: number }
  | { readonly event: 'first_token'; readonly at: number; readonly id: string; readonly step: number }
  | {
      readonly event: 'aborted';
      readonly at: number;
      readonly id: string;
      readonly status: ExecutionStatus;
      /** Tokens in the KV cache, cached ones too, as far as steps have been issued. */
      readonly computedTokens: number;
      /** Of these, in steps whose result is not processed: they run on and are dropped. */
      readonly inFlightTokens: number;
      readonly outputTokens: number;
      readonly preemptions: number;
      /** Prompt tokens computed for it by all issued steps. */
      readonly promptComputedTokens: number;
    }
  | {
      readonly event: 'finished';
      readonly at: number;
      readonly id: string;
      readonly step: number;
      readonly reason: FinishReason;
      readonly outputTokens: number;
      readonly preemptions: number;
      readonly promptComputedTokens: number;
    };

/** One event as a line of JSON with snake_case names, `at` as `at_ms`; without a line feed. */
export function traceLine(event: TraceEvent): string {
  const { event: kind, at, ...rest } = event;
  const fields = Object.entries(rest).map(([name, value]) => [
    name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    value,
  ]);
  return JSON.stringify({ event: kind, at_ms: at, ...Object.fromEntries(fields) });
}

export type TraceSink = (event: TraceEvent) => void;

/** Turns the loop's moments into events. */
export class Tracer {
  readonly #clock: Clock;
  readonly #sink: TraceSink;
  #step = 0;

  constructor(clock: Clock, sink: TraceSink) {
    this.#clock = clock;
    this.#sink = sink;
  }

  queued({ id, promptTokens }: Execution): void {
    this.#sink({ event: 'queued', at: this.#clock.now(), id, promptTokens });
  }

  scheduled(step: Step): void {
    const at = this.#clock.now();
    for (const { id } of step.preempted) this.#sink({ event: 'preempted', at, id, step: step.number });
    for (let index = 0; index < step.executions.length; index += 1) {
      this.#sink({
        event: 'scheduled',
        at,
        id: step.executions[index]?.id ?? '',
        step: step.number,
        tokens: step.tokens[index] ?? 0,
        base: step.bases[index] ?? 0,
      });
    }
  }

  /** The events up to the next call belong to the result of `step`. */
  updating(step: Step): void {
    this.#step = step.number;
  }

  output(execution: Execution, ended: FinishReason | undefined): void {
    const { id, outputTokens, preemptions, meter } = execution;
    const [at, step] = [this.#clock.now(), this.#step];
    if (outputTokens === 1) this.#sink({ event: 'first_token', at, id, step });
    if (ended === undefined) return;
    const promptComputedTokens = meter.promptComputed;
    this.#sink({
      event: 'finished',
      at,
      id,
      step,
      reason: ended,
      outputTokens,
      preemptions,
      promptComputedTokens,
    });
  }

  aborted(execution: Execution): void {
    this.#sink({
      event: 'aborted',
      at: this.#clock.now(),
      id: execution.id,
      status: execution.status,
      computedTokens: execution.computed,
      inFlightTokens: execution.inFlight,
      outputTokens: execution.outputTokens,
      preemptions: execution.preemptions,
      promptComputedTokens: execution.meter.promptComputed,
    });
  }
}
