/** What a run has to reach, as expressions: `hold.delivered > 99%`, `recovery.backlog < 300s`. */

import type { StageOutcome } from './outcome.js';
import type { RunHead } from './run.js';

/** What an expression is held against. */
export type Judged = Pick<RunHead, 'stages' | 'total' | 'recovery' | 'generator'>;

export interface Threshold {
  /** As it was written. */
  readonly text: string;
  readonly subject: string;
  readonly measure: string;
  readonly operator: Operator;
  /** In the measure's own unit. */
  readonly bound: number;
}

export interface Verdict {
  readonly text: string;
  /** In the measure's own unit; null where the run could not tell, which meets no threshold. */
  readonly value: number | null;
  readonly unit: Unit;
  readonly met: boolean;
}

/** An expression that cannot be read; `position` counts characters from 1. */
export class ThresholdError extends Error {
  override readonly name = 'ThresholdError';
  readonly position: number;

  constructor(text: string, position: number, message: string) {
    super(`${JSON.stringify(text)}, character ${position}: ${message}`);
    this.position = position;
  }
}

/** A share in percent, a time in seconds, a count or a ratio. */
type Unit = '%' | 's' | '';
type Operator = '>=' | '<=' | '==' | '>' | '<';

interface Measure<Of> {
  readonly unit: Unit;
  readonly of: (subject: Of) => number | null | undefined;
}

const OPERATORS: Readonly<Record<Operator, (value: number, bound: number) => boolean>> = {
  '>=': (value, bound) => value >= bound,
  '<=': (value, bound) => value <= bound,
  '==': (value, bound) => value === bound,
  '>': (value, bound) => value > bound,
  '<': (value, bound) => value < bound,
};

const share = (of: (outcome: StageOutcome) => number): Measure<StageOutcome> => ({
  unit: '%',
  of: (outcome) => (100 * of(outcome)) / outcome.calls,
});
const count = (of: (outcome: StageOutcome) => number | undefined): Measure<StageOutcome> => ({
  unit: '',
  of,
});
const perCall = (of: (outcome: StageOutcome) => number | undefined): Measure<StageOutcome> =>
  count((outcome) => (of(outcome) ?? Number.NaN) / outcome.calls);
const after = (of: (latency: StageOutcome['latenessMs']) => number): Measure<StageOutcome> => ({
  unit: 's',
  of: ({ latenessMs }) => of(latenessMs) / 1_000,
});

/** Of a stage, or of all in one. Shares are of all planned calls, whatever became of them. */
const STAGE_MEASURES: Readonly<Record<string, Measure<StageOutcome>>> = {
  delivered: share(({ deliveredByHorizon }) => deliveredByHorizon),
  on_time: share(({ deliveredByDeadline }) => deliveredByDeadline),
  answered: share(({ delivered }) => delivered),
  refused: share(({ refused }) => refused),
  abandoned: share(({ abandoned }) => abandoned),
  broken: share(({ broken }) => broken),
  open: share(({ open }) => open),
  calls: count(({ calls }) => calls),
  attempts: count(({ attempts }) => attempts),
  attempts_per_call: perCall(({ attempts }) => attempts),
  executions: count(({ executions }) => executions),
  executions_per_call: perCall(({ executions }) => executions),
  answer_median: after(({ median }) => median),
  answer_p90: after(({ p90 }) => p90),
  answer_p99: after(({ p99 }) => p99),
};
const RECOVERY_MEASURES: Readonly<Record<string, Measure<RunHead['recovery']>>> = {
  backlog: { unit: 's', of: ({ backlogSeconds }) => backlogSeconds },
  on_time: { unit: 's', of: ({ onTimeSeconds }) => onTimeSeconds },
};
const GENERATOR_MEASURES: Readonly<Record<string, Measure<RunHead['generator']>>> = {
  send_p99: { unit: 's', of: (lag) => (lag === null ? null : lag.sendMs.p99 / 1_000) },
  loop_p99: { unit: 's', of: (lag) => (lag === null ? null : lag.loopMs.p99 / 1_000) },
};
const OWN_SUBJECTS: Readonly<Record<string, Readonly<Record<string, { readonly unit: Unit }>>>> = {
  total: STAGE_MEASURES,
  recovery: RECOVERY_MEASURES,
  generator: GENERATOR_MEASURES,
};

/** What one of a measure's unit is, in that unit. */
const FACTORS: Readonly<Record<Unit, Readonly<Record<string, number>>>> = {
  '%': { '%': 1 },
  s: { s: 1, ms: 0.001, m: 60 },
  '': { '': 1 },
};

/**
 * Reads `SUBJECT.MEASURE OPERATOR NUMBER[UNIT]`: a subject is one of `stages`, in double quotes where its name is no
 * plain word, or `total`, `recovery`, `generator`. Throws a {@link ThresholdError}.
 */
export function readThreshold(text: string, stages: readonly string[]): Threshold {
  const reader = new Reader(text);
  const subjectAt = reader.position;
  const subject = reader.take(
    /"(?<quoted>[^"]*)"|(?<plain>[^\s."<>=]+)/y,
    'a stage, total, recovery or generator',
  );
  const measures = measuresOf(subject, stages);
  if (measures === undefined) {
    const known = [...stages, ...Object.keys(OWN_SUBJECTS)].join(', ');
    throw new ThresholdError(text, subjectAt, `there is no ${subject}; there is ${known}`);
  }
  reader.take(/\./y, 'a full stop');
  const measureAt = reader.position;
  const measure = reader.take(/[\w]+/y, `one of ${Object.keys(measures).join(', ')}`);
  const unit = Object.hasOwn(measures, measure) ? measures[measure]?.unit : undefined;
  if (unit === undefined) {
    const known = Object.keys(measures).join(', ');
    throw new ThresholdError(text, measureAt, `${subject} has no ${measure}; it has ${known}`);
  }
  const operator = reader.take(/>=|<=|==|>|</y, 'one of > >= < <= ==') as Operator;
  const number = Number(reader.take(/-?\d+(?:\.\d+)?/y, 'a number'));
  const unitAt = reader.position;
  const factor = FACTORS[unit][reader.take(/[a-z%]*/y, 'a unit')];
  if (factor === undefined) {
    const right = unit === '' ? 'no unit' : Object.keys(FACTORS[unit]).join(' or ');
    throw new ThresholdError(text, unitAt, `${measure} takes ${right}`);
  }
  reader.end();
  return { text: text.trim(), subject, measure, operator, bound: number * factor };
}

/** Whether a run meets `threshold`; what it could not tell meets nothing. */
export function judge(threshold: Threshold, run: Judged): Verdict {
  const { text, operator, bound } = threshold;
  const { value, unit } = valueOf(threshold, run);
  const known = value !== null && value !== undefined && Number.isFinite(value);
  return {
    text,
    value: known ? value : null,
    unit,
    met: known && OPERATORS[operator](value, bound),
  };
}

function measuresOf(
  subject: string,
  stages: readonly string[],
): Readonly<Record<string, { readonly unit: Unit }>> | undefined {
  if (stages.includes(subject)) return STAGE_MEASURES;
  return Object.hasOwn(OWN_SUBJECTS, subject) ? OWN_SUBJECTS[subject] : undefined;
}

function valueOf(
  { subject, measure }: Threshold,
  { stages, total, recovery, generator }: Judged,
): { readonly value: number | null | undefined; readonly unit: Unit } {
  const told = <Of>(known: Measure<Of> | undefined, of: Of | undefined) => ({
    value: known === undefined || of === undefined ? null : known.of(of),
    unit: known?.unit ?? ('' as const),
  });
  const stage = stages.find((each) => each.stage === subject);
  if (stage !== undefined) return told(STAGE_MEASURES[measure], stage);
  if (subject === 'recovery') return told(RECOVERY_MEASURES[measure], recovery);
  if (subject === 'generator') return told(GENERATOR_MEASURES[measure], generator);
  return told(STAGE_MEASURES[measure], subject === 'total' ? total : undefined);
}

/** Walks through a text, word by word; blanks between words mean nothing. */
class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.#skipBlanks();
  }

  /** Where the next word begins, from 1. */
  get position(): number {
    return this.#at + 1;
  }

  /** The next word, which has to match the sticky `pattern`: its first group that took part, or all of it. */
  take(pattern: RegExp, wanted: string): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found === null) throw new ThresholdError(this.#text, this.position, `wanted ${wanted}`);
    this.#at = pattern.lastIndex;
    this.#skipBlanks();
    const group = Object.values(found.groups ?? {}).find((each) => each !== undefined);
    return group ?? found[0];
  }

  end(): void {
    if (this.#at < this.#text.length) {
      throw new ThresholdError(this.#text, this.position, 'wanted nothing more');
    }
  }

  #skipBlanks(): void {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at += 1;
  }
}
