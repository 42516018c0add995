/** One run in virtual time: the drill's clients, the control that the gateway runs, and the engine's scheduler. */

import { Random } from '../chance/random.js';
import { Control } from '../control/control.js';
import { type ControlSettings, controlOptions } from '../control/options.js';
import { Drill } from '../drill/drill.js';
import type { Plan, PlannedCall } from '../drill/plan.js';
import { planCalls } from '../drill/planning.js';
import type { AttemptRecord, CallRecord, ExecutionRecord } from '../drill/record.js';
import type { StepCost } from '../engine/cost.js';
import { Engine } from '../engine/engine.js';
import type { EngineOptions } from '../engine/options.js';
import { VirtualClock } from '../time/virtual-clock.js';
import { ExecutionBook } from './executions.js';
import { GatewayTarget } from './gateway-target.js';
import { type GaugeModel, watchGauges } from './gauges.js';
import { Sampler, type TrialSample } from './sampler.js';

export interface TrialSettings {
  readonly plan: Plan;
  readonly seed: number;
  /** Ĉ in calls per second, for rates that are multiples of it. */
  readonly capacity: number;
  readonly control: ControlSettings;
  readonly engine: Partial<EngineOptions>;
  readonly cost: StepCost;
  /** How the control hears of the engine's gauges; absent: not at all. */
  readonly gauges?: GaugeModel | undefined;
  /** Of tenants that have one other than 1, for `shares: tenant`. */
  readonly weights?: Readonly<Record<string, number>> | undefined;
}

export interface TrialRecord {
  readonly plan: Plan;
  readonly seed: number;
  readonly capacity: number;
  readonly planned: readonly PlannedCall[];
  readonly attempts: readonly AttemptRecord[];
  readonly calls: readonly CallRecord[];
  readonly executions: readonly ExecutionRecord[];
  /** Once a second of the run. */
  readonly samples: readonly TrialSample[];
  /** Endings of attempts as the control booked them, and what it decided of retries. */
  readonly attached: number;
  readonly refused: number;
  readonly retries: number;
}

/** Runs the plan until every call is settled and the engine is empty. Same settings, same record. */
export function runTrial(settings: TrialSettings): TrialRecord {
  const { plan, seed, capacity, weights = {} } = settings;
  const clock = new VirtualClock();
  const planned = planCalls(plan, seed, capacity);
  const book = new ExecutionBook(clock);
  const engine = new Engine({
    clock,
    cost: settings.cost,
    options: settings.engine,
    observer: book.observer,
  });
  const jitter = new Random(seed, 'retry-after');
  let ids = 0;
  const control = new Control({
    options: controlOptions({ capacity, ...settings.control }),
    makeId: (of) => `${of}-${(ids += 1)}`,
    uniform: () => jitter.uniform(),
  });
  const target = new GatewayTarget({ clock, control, engine, book, planned, weights });
  const drill = new Drill(planned, { clock, target, seed });
  const done = (): boolean => drill.settled && engine.live === 0;
  const sampler = new Sampler(clock, { control, engine, done });
  drill.start();
  sampler.start();
  if (settings.gauges !== undefined) {
    watchGauges(settings.gauges, { clock, engine, done, told: (load) => target.gauges(load) });
  }
  while (clock.step());
  return {
    plan,
    seed,
    capacity,
    planned,
    attempts: drill.attempts,
    calls: drill.calls,
    executions: book.records,
    samples: sampler.samples,
    attached: target.attached,
    refused: target.refused,
    retries: target.retries,
  };
}
