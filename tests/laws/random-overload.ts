/** An overload drawn from a seed: rates, deadlines, attempts, programs and tenants, as a plan for the trial. */

import { Random } from '../../src/core/chance/random.js';
import type { ControlSettings } from '../../src/core/control/options.js';
import { type ClientKind, type Plan, PUBLISHED_CLIENT, PUBLISHED_PLAN } from '../../src/core/drill/plan.js';
import { profile } from '../../src/core/engine/profiles.js';
import { runTrial, type TrialRecord } from '../../src/core/trial/trial.js';

/** Calls a second of the profile that is played, with the published workload. */
export const CAPACITY = 2.78;
const BASE_SECONDS = 40;
/** A program whose family is known to ask four times, and one that nothing is known of. */
const PROGRAMS = ['OpenAI/2.0 (.NET 8.0)', 'drill'] as const;
/** Retries of a program of no known family. */
const SELDOM_OR_OFTEN = [0, 1, 2, 3, 4] as const;
const DEADLINES = [60, 90, 120, 180] as const;

export interface Overload {
  readonly seed: number;
  readonly plan: Plan;
  /** Seconds from the start until the pulse is over. */
  readonly pulseEndSeconds: number;
  /** Calls a second before and after the pulse. */
  readonly holdRate: number;
  /** The longest of its clients', seconds. */
  readonly deadlineSeconds: number;
}

/** A pulse that leaves up to one and a half of its clients' deadlines of work, and time to do all of it. */
export function overloadOf(seed: number): Overload {
  const random = new Random(seed, 'overload');
  const between = (low: number, high: number): number => low + (high - low) * random.uniform();
  const one = <T>(of: readonly T[]): T => of[random.integer(0, of.length - 1)] as T;
  const load = between(0.4, 0.75);
  const height = between(1.3, 3);
  const kinds = random.integer(1, 3);
  const clients = Array.from({ length: kinds }, (_, at): ClientKind => {
    const program = one(PROGRAMS);
    return {
      ...PUBLISHED_CLIENT,
      name: `kind-${at}`,
      weight: between(0.2, 1),
      tenant: `tenant-${random.integer(0, 1)}`,
      userAgent: program,
      deadlineSeconds: one(DEADLINES),
      retries: program === 'drill' ? one(SELDOM_OR_OFTEN) : 3,
      key: random.uniform() < 0.3,
      announces: random.uniform() < 0.7,
    };
  });
  const shortest = Math.min(...clients.map(({ deadlineSeconds }) => deadlineSeconds));
  const backlogSeconds = between(0.2, 1.5) * shortest;
  const pulseSeconds = backlogSeconds / (height - 1);
  const stages = [
    { name: 'base', rate: { capacity: load }, seconds: BASE_SECONDS },
    { name: 'pulse', rate: { capacity: height }, seconds: pulseSeconds },
    { name: 'hold', rate: { capacity: load }, seconds: (1.5 * backlogSeconds) / (1 - load) },
  ];
  return {
    seed,
    plan: { ...PUBLISHED_PLAN, name: 'drawn', stages, clients },
    pulseEndSeconds: BASE_SECONDS + pulseSeconds,
    holdRate: load * CAPACITY,
    deadlineSeconds: Math.max(...clients.map(({ deadlineSeconds }) => deadlineSeconds)),
  };
}

export function played({ plan, seed }: Overload, control: ControlSettings): TrialRecord {
  const { cost, numGpuBlocks } = profile('qwen2.5-7b');
  return runTrial({ plan, seed, capacity: CAPACITY, control, engine: { numGpuBlocks }, cost });
}
