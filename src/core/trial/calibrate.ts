/** The search for Ĉ against the engine model, in virtual time: one fresh engine a stage, clients that wait for ever. */

import {
  type CalibrationOptions,
  type CalibrationResult,
  CapacitySearch,
  calibrationOptions,
  type JudgedStage,
} from '../drill/calibrate.js';
import type { GaugeReading, LoadStage, StageCall, StageEvidence } from '../drill/growth.js';
import {
  type Arrivals,
  type Plan,
  type PlannedCall,
  PUBLISHED_CLIENT,
  type Workload,
} from '../drill/plan.js';
import { planCalls } from '../drill/planning.js';
import type { StepCost } from '../engine/cost.js';
import { Engine } from '../engine/engine.js';
import type { EngineOptions } from '../engine/options.js';
import { VirtualClock } from '../time/virtual-clock.js';
import { promptOf } from './prompts.js';

/** Stages that outlast the settling of a full batch several times over, since virtual time is cheap. */
export const VIRTUAL_CALIBRATION: Partial<CalibrationOptions> = {
  grain: 0.02,
  settleSeconds: 300,
  judgedSeconds: 900,
  mostSeconds: 100_000,
};

export interface VirtualCalibration {
  readonly cost: StepCost;
  readonly engine: Partial<EngineOptions>;
  readonly workload: Workload;
  /** `even` unless it is asked how chance in the arrivals moves Ĉ. */
  readonly arrivals?: Arrivals;
  readonly options?: Partial<CalibrationOptions>;
  /** Hears of each stage as it ends. */
  readonly judged?: (stage: JudgedStage) => void;
}

const READ_EVERY_MS = 1_000;
const LOOK_EVERY_MS = 60_000;

/** Ĉ of the engine model. Same parts, same result. */
export function calibrateEngine(parts: VirtualCalibration): CalibrationResult {
  const search = new CapacitySearch(calibrationOptions({ ...VIRTUAL_CALIBRATION, ...parts.options }));
  for (;;) {
    const next = search.next();
    if ('verdict' in next) return next;
    const judged = search.hear(
      next,
      playStage(parts, next, (sofar) => search.enough(next, sofar)),
    );
    parts.judged?.(judged);
  }
}

/** The calls of one stage; `arrivals` are even in a search, since a chance cluster would look like growth. */
export function stageCalls(
  workload: Workload,
  { perSecond, seconds, seed }: LoadStage,
  arrivals: Arrivals = 'even',
): readonly PlannedCall[] {
  const plan: Plan = {
    name: 'stage',
    stages: [{ name: 'stage', rate: { perSecond }, seconds }],
    arrivals,
    workload,
    clients: [PUBLISHED_CLIENT],
    horizonSeconds: seconds,
  };
  return planCalls(plan, seed);
}

type Told = { -readonly [Key in keyof StageCall]: StageCall[Key] };

function playStage(
  { cost, engine: options, workload, arrivals }: VirtualCalibration,
  stage: LoadStage,
  enough: (evidence: StageEvidence) => boolean,
): StageEvidence {
  const clock = new VirtualClock();
  const engine = new Engine({ clock, cost, options });
  const calls: Told[] = [];
  const readings: GaugeReading[] = [];
  const lengthMs = 1_000 * stage.seconds;
  let endMs = lengthMs;
  for (const call of stageCalls(workload, stage, arrivals)) {
    clock.after(call.atMs, () => {
      if (call.atMs < endMs) calls.push(sent(engine, clock, call));
    });
  }
  const read = (): void => {
    readings.push({ atMs: clock.now(), waiting: engine.counters.gauges.waiting });
    if (clock.now() + READ_EVERY_MS < endMs) clock.after(READ_EVERY_MS, read);
  };
  read();
  const sofar = (): StageEvidence => ({ readings, calls, seconds: clock.now() / 1_000 });
  while (clock.now() < lengthMs) {
    clock.runUntil(Math.min(lengthMs, clock.now() + LOOK_EVERY_MS));
    if (clock.now() === lengthMs || enough(sofar())) break;
  }
  endMs = clock.now();
  while (clock.step());
  return { readings, calls, seconds: endMs / 1_000 };
}

function sent(engine: Engine, clock: VirtualClock, call: PlannedCall): Told {
  const told: Told = { sentMs: clock.now(), firstByteMs: undefined, finishedMs: undefined };
  if (engine.refusal(1) !== undefined) return told;
  const request = { id: `c${call.index}`, prompt: promptOf(call), maxTokens: call.responseTokens };
  engine.add(request, (execution, ended) => {
    if (execution.outputTokens === 1) told.firstByteMs = clock.now();
    if (ended !== undefined) told.finishedMs = clock.now();
  });
  return told;
}
