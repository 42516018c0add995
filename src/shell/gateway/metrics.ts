/** The gateway's meter: `holdfast_*` in Prometheus' text, counted from what the control hears and says. */

import type { ControlEvent, Usage } from '../../core/control/event.js';
import type { Verdict, Warning } from '../../core/control/verdict.js';
import {
  ATTEMPT_ENDINGS,
  CALL_ENDINGS,
  DECISIONS,
  type Decision,
  ENTRY_ENDINGS,
  EXECUTION_ENDINGS,
  type Outcome,
} from '../../core/control/words.js';
import {
  type Family,
  histogramSamples,
  sample,
  scalar,
  writeExposition,
} from '../../core/meter/exposition.js';
import { Histogram } from '../../core/meter/histogram.js';
import { ClassMetrics } from './class-metrics.js';
import { EngineMetrics } from './engine-metrics.js';
import { type Followed, HELP, READINGS } from './metric-names.js';
import type { Observer } from './observer.js';
import type { Pseudonym } from './pseudonym.js';
import { Tally, TenantLabels, TenantTally } from './tally.js';

/** Seconds; waits in overload run to minutes, so the buckets do too. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 180, 300, 600];

/** Tenants with a label of their own. */
export const TENANT_LABELS = 100;

/** Whether a decision makes a call; every other one joins a call that is known. */
const MAKES_CALL: Readonly<Record<Decision, boolean>> = {
  new_call: true,
  new_call_not_shared: true,
  new_call_beside_live: true,
  unknown_predecessor: true,
  retry_not_attached: true,
  adopt_entry: false,
  adopt_execution: false,
  adopt_answer: false,
  rejoin_owed: false,
  rejoin_spent: false,
  take_over: false,
  late_merge: false,
  replay_delivered: false,
  join_identical: false,
};

const REFUSALS = ATTEMPT_ENDINGS.filter((ending) => ending.startsWith('refused_') || ending === 'gave_up');
const OUTCOMES = wordsOf<Outcome>({ started: true, attached: true, replayed: true });
const WARNINGS = wordsOf<Warning>({
  listener_taken_over: true,
  key_on_overlapping_attempts: true,
  unknown_class: true,
  engine_gauges_absent: true,
  engine_gauges_wrong: true,
});
const STATUS_CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx', 'left'];

/** The members of a union that is a type only; the compiler refuses one that is missing. */
function wordsOf<Word extends string>(words: Readonly<Record<Word, true>>): readonly string[] {
  return Object.keys(words);
}

export interface MetricsParts {
  readonly pseudonym: Pseudonym;
  /** Families of others, such as the process's own, appended to the text. */
  readonly more?: () => readonly Family[];
}

export class Metrics implements Observer {
  readonly #tenants: TenantLabels;
  readonly #more: (() => readonly Family[])[];
  #followed: Followed | undefined;

  #attempts = 0;
  #calls = 0;
  #executions = 0;
  #entries = 0;
  #withoutUsage = 0;
  #wastedExecutions = 0;
  #wastedBytes = 0;
  /** Calls with an entry in line, and when each execution still without a byte was started. */
  readonly #inLine = new Set<string>();
  readonly #awaited = new Map<string, number>();

  readonly #attemptsEnded = tally('holdfast_attempts_ended_total', 'ending', ATTEMPT_ENDINGS);
  readonly #callsEnded = tally('holdfast_calls_ended_total', 'ending', CALL_ENDINGS);
  readonly #executionsEnded = tally('holdfast_executions_ended_total', 'ending', EXECUTION_ENDINGS);
  readonly #entriesEnded = tally('holdfast_entries_ended_total', 'ending', ENTRY_ENDINGS);
  readonly #outcomes = tally('holdfast_attempts_outcome_total', 'outcome', OUTCOMES);
  readonly #decisions = tally('holdfast_decisions_total', 'decision', DECISIONS);
  readonly #refusals = tally('holdfast_refusals_total', 'reason', REFUSALS);
  readonly #deliveries = tally('holdfast_deliveries_total', 'outcome', OUTCOMES);
  readonly #passthrough = tally('holdfast_passthrough_total', 'status', STATUS_CLASSES);
  readonly #warnings = tally('holdfast_warnings_total', 'warning', WARNINGS);
  readonly #promptTokens = tenantTally('holdfast_prompt_tokens_total');
  readonly #completionTokens = tenantTally('holdfast_completion_tokens_total');
  readonly #wastedTokens = tenantTally('holdfast_wasted_tokens_total');
  readonly #engines = new EngineMetrics();
  readonly #classes = new ClassMetrics(SECONDS);
  readonly #queueSeconds = new Histogram(SECONDS);
  readonly #firstByteSeconds = new Histogram(SECONDS);

  constructor({ pseudonym, more = () => [] }: MetricsParts) {
    this.#tenants = new TenantLabels(TENANT_LABELS, pseudonym);
    this.#more = [more];
  }

  /** From now on the text also has what `control` alone can tell: bytes, orphans, the budget's window. */
  follow(control: Followed): void {
    this.#followed = control;
  }

  /** From now on the text also has these. */
  also(more: () => readonly Family[]): void {
    this.#more.push(more);
  }

  event(event: ControlEvent, now: number): void {
    if (event.kind === 'arrive' || event.kind === 'reject') this.#attempts += 1;
    if (event.kind !== 'first-byte') return;
    const startedAt = this.#awaited.get(event.execution);
    if (startedAt === undefined) return;
    this.#awaited.delete(event.execution);
    this.#firstByteSeconds.observe((now - startedAt) / 1000);
  }

  answered(): void {
    // The endings of attempts say more than their status codes.
  }

  reached(): void {
    // Where work went is for the log.
  }

  unreachable(): void {
    // So is why it did not get there.
  }

  gauges(): void {
    // The control says when they are of no use, and that is counted.
  }

  passedThrough(status: number): void {
    // HTTP lets a server answer 600 to 999, which its client must treat as a server's error.
    this.#passthrough.add(status === 0 ? 'left' : `${Math.min(Math.floor(status / 100), 5)}xx`);
  }

  verdict(verdict: Verdict, now: number): void {
    switch (verdict.kind) {
      case 'decided':
        this.#decisions.add(verdict.decision);
        if (MAKES_CALL[verdict.decision]) this.#calls += 1;
        return;
      case 'queue':
      case 'return':
        this.#entries += 1;
        this.#inLine.add(verdict.call);
        return;
      case 'drop':
        this.#inLine.delete(verdict.call);
        this.#entriesEnded.add(verdict.ending);
        return;
      case 'start':
        return this.#started(verdict, now);
      case 'refuse':
        return this.#refusals.add(verdict.reason);
      case 'attempt-ended':
        return this.#attemptEnded(verdict);
      case 'execution-ended':
        return this.#executionEnded(verdict);
      case 'call-ended':
        return this.#callsEnded.add(verdict.ending);
      case 'wasted':
        return this.#wasted(verdict);
      case 'warn':
        return this.#warnings.add(verdict.warning);
      case 'attach':
      case 'end':
      case 'cancel':
      case 'seal':
      case 'forget':
      case 'back':
        return;
      case 'rest':
        return this.#engines.rested(verdict);
    }
  }

  #started(verdict: Extract<Verdict, { kind: 'start' }>, now: number): void {
    this.#executions += 1;
    this.#awaited.set(verdict.execution, now);
    this.#queueSeconds.observe(verdict.waitedMs / 1000);
    this.#classes.started(verdict);
    if (this.#inLine.delete(verdict.call)) this.#entriesEnded.add('started');
  }

  #attemptEnded(verdict: Extract<Verdict, { kind: 'attempt-ended' }>): void {
    this.#attemptsEnded.add(verdict.ending);
    if (verdict.outcome === undefined) return;
    this.#outcomes.add(verdict.outcome);
    if (verdict.ending === 'delivered') this.#deliveries.add(verdict.outcome);
  }

  #executionEnded(verdict: Extract<Verdict, { kind: 'execution-ended' }>): void {
    this.#executionsEnded.add(verdict.ending);
    this.#awaited.delete(verdict.execution);
    const { usage } = verdict;
    if (usage === undefined) {
      this.#withoutUsage += 1;
      return;
    }
    const tenant = this.#tenants.of(verdict.tenant);
    this.#promptTokens.add(tenant, usage.promptTokens);
    this.#completionTokens.add(tenant, usage.completionTokens);
  }

  #wasted(verdict: {
    readonly tenant: string;
    readonly usage?: Usage | undefined;
    readonly bytes: number;
  }): void {
    this.#wastedExecutions += 1;
    this.#wastedBytes += verdict.bytes;
    if (verdict.usage === undefined) return;
    const tenant = this.#tenants.of(verdict.tenant);
    this.#wastedTokens.add(tenant, verdict.usage.promptTokens, { kind: 'prompt' });
    this.#wastedTokens.add(tenant, verdict.usage.completionTokens, { kind: 'completion' });
  }

  /** The whole exposition, as `/metrics` answers it. */
  text(): string {
    return writeExposition([...this.#families(), ...this.#gauges(), ...this.#more.flatMap((each) => each())]);
  }

  #families(): Family[] {
    return [
      counter('holdfast_attempts_total', this.#attempts),
      this.#attemptsEnded.family(),
      gauge('holdfast_attempts_open', this.#attempts - this.#attemptsEnded.total),
      this.#outcomes.family(),
      counter('holdfast_calls_total', this.#calls),
      this.#callsEnded.family(),
      gauge('holdfast_calls_open', this.#calls - this.#callsEnded.total),
      counter('holdfast_executions_total', this.#executions),
      this.#executionsEnded.family(),
      gauge('holdfast_running_executions', this.#executions - this.#executionsEnded.total),
      counter('holdfast_entries_total', this.#entries),
      this.#entriesEnded.family(),
      gauge('holdfast_line_entries', this.#entries - this.#entriesEnded.total),
      this.#decisions.family(),
      this.#refusals.family(),
      this.#warnings.family(),
      this.#deliveries.family(),
      this.#passthrough.family(),
      this.#promptTokens.family(),
      this.#completionTokens.family(),
      counter('holdfast_executions_without_usage_total', this.#withoutUsage),
      this.#wastedTokens.family(),
      counter('holdfast_wasted_executions_total', this.#wastedExecutions),
      counter('holdfast_wasted_bytes_total', this.#wastedBytes),
      histogram('holdfast_queue_seconds', this.#queueSeconds),
      histogram('holdfast_first_byte_seconds', this.#firstByteSeconds),
    ];
  }

  #gauges(): Family[] {
    if (this.#followed === undefined) return [];
    const { ledger } = this.#followed;
    const gauges = this.#followed.gauges();
    const readings = READINGS.map(({ name, type, of }) => {
      const value = of(gauges, ledger);
      return { name, type, help: HELP[name], samples: value === undefined ? [] : [sample(name, value)] };
    });
    return [
      ...readings,
      ...this.#classes.families(this.#followed.lineByClass()),
      ...this.#engines.families(gauges.engines),
    ];
  }
}

type Name = keyof typeof HELP;

function tally(name: Name, label: string, values: readonly string[]): Tally {
  return new Tally(name, HELP[name], label, values);
}

function tenantTally(name: Name): TenantTally {
  return new TenantTally(name, HELP[name]);
}

function counter(name: Name, value: number): Family {
  return scalar(name, 'counter', HELP[name], value);
}

function gauge(name: Name, value: number): Family {
  return scalar(name, 'gauge', HELP[name], value);
}

function histogram(name: Name, state: Histogram): Family {
  return { name, type: 'histogram', help: HELP[name], samples: histogramSamples(name, state) };
}
