/** Each rule of the rooms that follow gauges, and of the shares, is seen to be held: taken out, a test or law fails. */

import { deepEqual, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { type Fault, run } from './fault-run.js';

const LAWS = 'tests/laws/laws.test.js';
const MODEL = 'tests/laws/model.test.js';
const ROOMS = 'tests/scenarios/room.test.js';
const SHARES = 'tests/scenarios/shares.test.js';
const TIERS = 'src/core/control/tiers.test.js';
/** Short enough to be run with every fault. */
const BRIEFLY = { HOLDFAST_SEED: '1' };
const AGREES = 'the control says what the reference model says';

const FAULTS: readonly Fault[] = [
  {
    about: 'what waits in the engine is not taken off',
    file: 'engine-load',
    was: 'used - this.waiting + target',
    is: 'used + target',
    tests: LAWS,
    fails: 'laws 1, 2, 3, 5, 6 and 7 hold through a pulse: what the engine itself says leaves room',
  },
  {
    about: 'what was just sent counts as missing from the gauges',
    file: 'engine-load',
    was: 'held.used - this.#young.size',
    is: 'held.used',
    tests: ROOMS,
    fails: 'what was just sent need not show in the gauges yet',
  },
  {
    about: 'what has ended still counts as just sent',
    file: 'room',
    was: 'this.#gauged.released(execution);',
    is: '',
    tests: ROOMS,
    fails: 'executions that end at once do not hide that the gauges lack others',
  },
  {
    about: 'an engine that never had gauges is taken to have lost them',
    file: 'room',
    was: "this.#policy === 'auto' && !this.#gauged.seen",
    is: 'false',
    tests: ROOMS,
    fails: 'by default an engine whose gauges were never read has no limit',
  },
  {
    about: 'every tenant weighs the same',
    file: 'shares',
    was: 'queue.turn += 1 / queue.weight',
    is: 'queue.turn += 1',
    tests: MODEL,
    fails: AGREES,
  },
  {
    about: 'a tenant that comes back begins where it was, and has saved up',
    file: 'shares',
    was: 'Math.max(this.#clock, this.#lastTurns.get(tenant) ?? 0)',
    is: '(this.#lastTurns.get(tenant) ?? 0)',
    tests: SHARES,
    fails: 'a tenant that waits alone has all of the service',
  },
  {
    about: 'whoever was hopeless at one pace is for good',
    file: 'tiers',
    was: 'this.#hopeAgain();',
    is: '',
    tests: TIERS,
    fails: 'whoever could not make its give-up at a slow pace is late again',
  },
  {
    about: 'what waited before its tenant was known stays with the unknown',
    file: 'answering',
    was: 'state.line.review(entry)',
    is: 'void entry',
    tests: SHARES,
    fails: 'what waited before its tenant was known has the tenant’s share once it is',
  },
];

for (const tests of [LAWS, MODEL, ROOMS, SHARES]) {
  test(`without a fault nothing fails in ${tests}`, () => {
    const { failed, said } = run(tests, undefined, BRIEFLY);
    deepEqual(failed, [], said);
  });
}

for (const fault of FAULTS) {
  test(`it is noticed when ${fault.about}`, () => {
    const { failed, said } = run(fault.tests, fault, BRIEFLY);
    ok(
      failed.some((name) => name.startsWith(fault.fails)),
      `${failed.join('; ')}\n${said.slice(0, 2_000)}`,
    );
  });
}
