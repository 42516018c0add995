/** Ĉ of a trial whose plan has a workload of its own: the built-in numbers are the standard workload's. */

import { PUBLISHED_PLAN } from '../../core/drill/plan.js';
import { armOf } from '../../core/trial/arms.js';
import { type Changes, settingsOf } from '../../core/trial/scenario.js';
import { capacityFor, defaultStore, workloadDigest } from '../probe/capacity-store.js';
import type { World } from './command.js';
import { virtualEngine } from './engine-fingerprint.js';

/** The kept Ĉ of this engine and workload; undefined where the built-in one is used, which is said where it is none. */
export function keptCapacity(
  scenario: string,
  changes: Changes,
  store: string | undefined,
  { env, err }: Pick<World, 'env' | 'err'>,
): number | undefined {
  const { plan, cost, engine, capacity } = settingsOf(scenario, 1, changes);
  const needed = plan.trace === undefined && plan.stages.some(({ rate }) => 'capacity' in rate);
  const standard = workloadDigest(plan.workload) === workloadDigest(PUBLISHED_PLAN.workload);
  if (!needed || standard) return undefined;
  const profile = armOf(scenario)?.profile ?? '';
  const found = capacityFor(store ?? defaultStore(env), virtualEngine(profile, plan.workload, cost, engine));
  if (found.kind === 'known') {
    err(`Ĉ is ${found.kept.capacity.toPrecision(4)} calls/s, measured ${found.kept.measuredAt}\n`);
    return found.kept.capacity;
  }
  const why =
    found.kind === 'stale'
      ? `the kept ${found.kept.capacity.toPrecision(4)} is stale (${found.differs.join('; ')})`
      : 'none is kept for the workload of this plan';
  err(
    `warning: Ĉ is taken as ${capacity} calls/s, the standard workload's: ${why}; measure it with holdfast calibrate --profile ${profile} --plan FILE, or state it with --capacity\n`,
  );
  return undefined;
}
