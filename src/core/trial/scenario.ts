/** From a scenario's name and a seed to a run's settings, and from the run to what is told of it. */

import { outcomes, outcomesByClient, type StageOutcome, totalOutcome } from '../drill/outcome.js';
import { type Plan, PUBLISHED_PLAN } from '../drill/plan.js';
import { backlogRecovery, onTimeRecovery, overloadOf } from '../drill/recovery.js';
import { profile } from '../engine/profiles.js';
import { type Arm, armOf, planOf } from './arms.js';
import { CAPACITIES } from './capacities.js';
import { backlogOf } from './figures.js';
import { figuresOf } from './published.js';
import type { TrialRecord, TrialSettings } from './trial.js';

/** What of an arm is run otherwise; all plain data, so that it can be handed to another thread. */
export interface Changes {
  /** Instead of the published plan with the arm's pulse. */
  readonly plan?: Plan | undefined;
  /** Ĉ, calls per second. */
  readonly capacity?: number | undefined;
  readonly control?: Readonly<Record<string, unknown>> | undefined;
  readonly engine?: Readonly<Record<string, unknown>> | undefined;
  /** Of the profile's step cost. */
  readonly cost?: Readonly<Record<string, number>> | undefined;
  /** For a point of the sweep. */
  readonly load?: number | undefined;
  readonly deadlineSeconds?: number | undefined;
}

/** The settings of one run; throws a `RangeError` for an unknown scenario or an option that does not fit. */
export function settingsOf(scenario: string, seed: number, changes: Changes = {}): TrialSettings {
  const arm = armOf(scenario);
  if (arm === undefined) throw new RangeError(`there is no scenario ${scenario}`);
  const { cost, numGpuBlocks, maxModelLen, name } = profile(arm.profile);
  const changed = (changes.control ?? {}) as TrialSettings['control'];
  return {
    plan: pointOf(changes.plan === undefined ? planOf(arm) : withoutRetries(changes.plan, arm), changes),
    seed,
    capacity: changes.capacity ?? CAPACITIES[name] ?? 1,
    control: { ...arm.control, ...changed, budget: { ...arm.control.budget, ...changed.budget } },
    engine: { numGpuBlocks, maxModelLen, ...arm.engine, ...changes.engine },
    cost: { ...cost, ...changes.cost },
    gauges: arm.gauges,
    weights: arm.weights,
  };
}

/** An arm without retries is one for any plan's clients; whatever else the plan says of them stands. */
function withoutRetries(plan: Plan, { client }: Arm): Plan {
  if (client.retries !== 0) return plan;
  return { ...plan, clients: plan.clients.map((kind) => ({ ...kind, retries: 0 })) };
}

/** The plan at a point of the sweep: another load before and after the pulse, another deadline. */
function pointOf(plan: Plan, { load, deadlineSeconds }: Changes): Plan {
  if (load === undefined && deadlineSeconds === undefined) return plan;
  const stages = plan.stages.map((stage) =>
    stage.name === 'pulse' || load === undefined
      ? stage
      : { name: stage.name, seconds: stage.seconds, rate: { capacity: load } },
  );
  const impatient = (kind: Plan['clients'][number]): Plan['clients'][number] => ({
    ...kind,
    deadlineSeconds: deadlineSeconds ?? kind.deadlineSeconds,
  });
  return { ...plan, stages, clients: plan.clients.map(impatient) };
}

export interface RunSummary {
  readonly scenario: string;
  readonly seed: number;
  readonly stages: readonly StageOutcome[];
  /** All stages in one. */
  readonly total: StageOutcome;
  /** By kind of client (`client NAME`), where the plan has several. */
  readonly clients?: readonly StageOutcome[];
  /** Seconds after the overload, by both definitions; null: not before the last stage ended. */
  readonly recovery: { readonly backlogSeconds: number | null; readonly onTimeSeconds: number | null };
  /** The published figures; their windows are the published plan's, so any other plan has none. */
  readonly figures: Readonly<Record<string, number | null>>;
}

export function summaryOf(scenario: string, run: TrialRecord): RunSummary {
  const overload = overloadOf(run.plan, run.capacity);
  const deadline = run.plan.clients[0]?.deadlineSeconds ?? 0;
  return {
    scenario,
    seed: run.seed,
    stages: outcomes(run),
    total: totalOutcome(run),
    ...(run.plan.clients.length > 1 ? { clients: outcomesByClient(run).map(named) } : {}),
    recovery: {
      backlogSeconds: orNull(backlogRecovery(backlogOf(run), overload)),
      onTimeSeconds: orNull(onTimeRecovery(run.calls, overload, deadline)),
    },
    figures: hasPublishedStages(run.plan) ? figuresOf(run) : {},
  };
}

/** A kind of client may be called as a stage is. */
function named(outcome: StageOutcome): StageOutcome {
  return { ...outcome, stage: `client ${outcome.stage}` };
}

function hasPublishedStages({ stages }: Plan): boolean {
  const lengths = (of: Plan['stages']): string => of.map(({ seconds }) => seconds).join();
  return lengths(stages) === lengths(PUBLISHED_PLAN.stages);
}

function orNull(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
