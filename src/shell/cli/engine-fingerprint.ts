/** What a capacity of the engine model belongs to: every number that may move it. */

import type { Workload } from '../../core/drill/plan.js';
import type { StepCost } from '../../core/engine/cost.js';
import { type EngineOptions, engineOptions } from '../../core/engine/options.js';
import { type CapacityOf, workloadDigest } from '../probe/capacity-store.js';

/** The target of every run without an engine. */
export const VIRTUAL_TARGET = 'virtual time';

/** `name`: the profile's. */
export function virtualEngine(
  name: string,
  workload: Workload,
  cost: StepCost,
  options: Partial<EngineOptions>,
): CapacityOf {
  const told = (value: number | string | boolean | undefined): string => String(value ?? 'unset');
  const engine = Object.fromEntries([
    ...Object.entries(cost).map(([key, value]) => [`cost.${key}`, told(value as number)] as const),
    ...Object.entries(engineOptions(options)).map(
      ([key, value]) => [`engine.${key}`, told(value as string | number | boolean | undefined)] as const,
    ),
  ]);
  return { target: VIRTUAL_TARGET, model: name, workload: workloadDigest(workload), engine };
}
