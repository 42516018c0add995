/**
 * What one decision of the line costs with ten thousand calls waiting: coming, being chosen, and a new pace; of one class
 * of calls, and of three. Usage: npm run bench:line [-- --json]
 */

import { Random } from '../src/core/chance/random.js';
import type { Entry } from '../src/core/control/call.js';
import { type Chosen, type Ready, readyOf } from '../src/core/control/order.js';
import { ReadyByClass } from '../src/core/control/precedence.js';
import { Rescue } from '../src/core/control/rescue.js';
import type { Dues, Prospect } from '../src/core/control/tiers.js';

const SIZES = [100, 1_000, 10_000] as const;
const CLASSES = [1, 3] as const;
const ROUNDS = 20_000;
const PACE_ROUNDS = 50;
const TENANTS = 20;

interface Row {
  readonly waiting: number;
  readonly classes: number;
  /** Microseconds: one call comes and one is chosen and leaves, with the engine's pace as it was. */
  readonly decisionMicros: number;
  /** … with a pace that differs from the last one by more than it may. */
  readonly newPaceMicros: number;
}

/** The line of one tenant, as the gateway makes it. */
class Line {
  readonly #ready: Ready;
  readonly #dues = new Map<Entry, Dues>();
  #paceMs = 0;

  constructor(classes: number) {
    const dues = (entry: Entry): Dues => this.#dues.get(entry) as Dues;
    const prospect = (): Prospect => ({
      paceMs: this.#paceMs,
      serviceMs: 5_000,
      longestMs: 15_000,
      margin: 1.5,
    });
    const makeQueue = (): Ready => readyOf('deadline', { key: '', members: [] }, { dues, prospect });
    const rescue = { make: () => new Rescue<Entry>(), dues, prospect };
    this.#ready =
      classes === 1
        ? makeQueue()
        : new ReadyByClass({ rankOf: ({ call }) => call.number % classes, makeQueue, rescue });
  }

  get size(): number {
    return this.#ready.size;
  }

  come(number: number, dues: Dues): void {
    const entry = { call: { number } } as Entry;
    this.#dues.set(entry, dues);
    this.#ready.set(entry);
  }

  choose(now: number, paceMs: number): void {
    this.#paceMs = paceMs;
    const chosen: Chosen | undefined = this.#ready.next(now);
    if (chosen === undefined) return;
    this.#ready.served?.(chosen.entry);
    this.#ready.delete(chosen.entry);
    this.#dues.delete(chosen.entry);
  }
}

function measure(waiting: number, classes: number): Row {
  const random = new Random(1, 'line');
  const line = new Line(classes);
  let [now, next] = [0, 0];
  const dues = (): Dues => {
    const deadlineAt = now + random.between(30_000, 300_000);
    const tenant = `t${random.integer(1, TENANTS)}`;
    return { deadlineAt, giveUpAt: deadlineAt + 300_000, late: random.uniform() < 0.3, tenant, weight: 1 };
  };
  // So fast that the line is always what it is asked to be: about as many calls as can be on time.
  const paceMs = 200_000 / waiting;
  while (line.size < waiting) line.come(next++, dues());
  const decide = (pace: number): void => {
    line.come(next++, dues());
    line.choose(now, pace);
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
    classes,
    decisionMicros: (1_000 * (decided - begun)) / ROUNDS,
    newPaceMicros: (1_000 * (paced - decided)) / PACE_ROUNDS,
  };
}

const rows = CLASSES.flatMap((classes) => SIZES.map((waiting) => measure(waiting, classes)));
if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify({ rows }, undefined, 2)}\n`);
else {
  for (const { waiting, classes, decisionMicros, newPaceMicros } of rows) {
    const of = classes === 1 ? '' : ` of ${classes} classes`;
    process.stdout.write(
      `${String(waiting).padStart(6)} waiting${of}: ${decisionMicros.toFixed(1)} µs a decision, ${newPaceMicros.toFixed(0)} µs with another pace\n`,
    );
  }
}
