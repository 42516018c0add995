/**
 * What one decision of the line costs with ten thousand calls waiting: coming, being chosen, and a new pace.
 * Usage: npm run bench:line [-- --json]
 */

import { Random } from '../src/core/chance/random.js';
import { type Dues, type Prospect, Tiers } from '../src/core/control/tiers.js';

const SIZES = [100, 1_000, 10_000] as const;
const ROUNDS = 20_000;
const PACE_ROUNDS = 50;
const TENANTS = 20;

interface Row {
  readonly waiting: number;
  /** Microseconds: one call comes and one is chosen and leaves, with the engine's pace as it was. */
  readonly decisionMicros: number;
  /** … with a pace that differs from the last one by more than it may. */
  readonly newPaceMicros: number;
}

function measure(waiting: number): Row {
  const random = new Random(1, 'line');
  const tiers = new Tiers<number>();
  let [now, next] = [0, 0];
  const dues = (): Dues => {
    const deadlineAt = now + random.between(30_000, 300_000);
    const tenant = `t${random.integer(1, TENANTS)}`;
    return { deadlineAt, giveUpAt: deadlineAt + 300_000, late: random.uniform() < 0.3, tenant, weight: 1 };
  };
  const prospect = (paceMs: number): Prospect => ({
    paceMs,
    serviceMs: 5_000,
    longestMs: 15_000,
    margin: 1.5,
  });
  // So fast that the line is always what it is asked to be: about as many calls as can be on time.
  const paceMs = 200_000 / waiting;
  while (tiers.size < waiting) tiers.set(next++, dues());
  const decide = (pace: number): void => {
    tiers.set(next++, dues());
    const chosen = tiers.next(now, prospect(pace));
    if (chosen !== undefined) tiers.delete(chosen);
    now += pace;
  };
  for (let round = 0; round < ROUNDS; round += 1) decide(paceMs);
  const begun = performance.now();
  for (let round = 0; round < ROUNDS; round += 1) decide(paceMs);
  const decided = performance.now();
  for (let round = 0; round < PACE_ROUNDS; round += 1) decide(paceMs * (1 + 0.02 * (round % 2)));
  const paced = performance.now();
  return {
    waiting,
    decisionMicros: (1_000 * (decided - begun)) / ROUNDS,
    newPaceMicros: (1_000 * (paced - decided)) / PACE_ROUNDS,
  };
}

const rows = SIZES.map(measure);
if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify({ rows }, undefined, 2)}\n`);
else {
  for (const { waiting, decisionMicros, newPaceMicros } of rows) {
    process.stdout.write(
      `${String(waiting).padStart(6)} waiting: ${decisionMicros.toFixed(1)} µs a decision, ${newPaceMicros.toFixed(0)} µs with another pace\n`,
    );
  }
}
