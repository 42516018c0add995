/** Each rule of the order `deadline` is seen to be held: taken out of the code, it makes the named test fail. */

import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { type Fault, run } from './fault-run.js';

const TIERS = 'src/core/control/tiers.test.js';
const SCENES = 'tests/scenarios/order.test.js';
const LAWS = 'tests/laws/order.test.js';
/** One of the law's seeds is enough, with a program that asks twice. */
const BRIEFLY = { HOLDFAST_SEED: '3' };

const FAULTS: readonly Fault[] = [
  {
    about: 'the late are served before those who can be on time',
    file: 'tiers',
    was: 'this.#onTime.first() ?? this.#late.first()',
    is: 'this.#late.first() ?? this.#onTime.first()',
    tests: TIERS,
    fails: 'whoever can be on time is served nearest deadline first',
  },
  {
    about: 'nobody looks whether the late would still make it',
    file: 'tiers',
    was: 'return this.#late.size > 0 &&',
    is: 'return false &&',
    tests: TIERS,
    fails: 'the late go first when they would not all make it otherwise',
  },
  {
    about: 'the margin is ignored',
    file: 'reserve',
    was: 'reserveMs(workMs, { longestMs, margin }) {',
    is: 'reserveMs(workMs, { longestMs }) { const margin = 1;',
    tests: TIERS,
    fails: 'the late go first when they would not all make it otherwise',
  },
  {
    about: 'nobody is hopeless',
    file: 'tiers',
    was: 'while (this.#late.latestBeginning < beginning)',
    is: 'while (false)',
    tests: TIERS,
    fails: 'whoever cannot make its give-up is hopeless and last',
  },
  {
    about: 'nobody is let go early',
    file: 'tiers',
    was: 'this.#letGo(this.#surplus(miss));',
    is: 'break;',
    tests: TIERS,
    fails: 'when not all can be on time, those nearest their deadline are let go at once',
  },
  {
    about: 'whoever is let go is never taken back',
    file: 'tiers',
    was: 'if (!fits)',
    is: 'if (true)',
    tests: TIERS,
    fails: 'one that was let go early is on time again',
  },
  {
    about: 'a late call is on time again with its next attempt',
    file: 'state',
    was: 'late: call.tardy',
    is: 'late: false',
    tests: SCENES,
    fails: 'once its first attempt has left a call is late for good',
  },
  {
    about: 'the deadline is that of the latest attempt',
    file: 'expecting',
    was: 'call.deadlineAt = call.createdAt + deadlineMs',
    is: 'call.deadlineAt = call.askedAt + deadlineMs',
    tests: SCENES,
    fails: 'the deadline is that of the first attempt',
  },
  {
    about: 'a later attempt does not move the end of the last',
    file: 'expecting',
    was: 'call.lastEndsAt = patience',
    is: 'if (call.attempts <= 1) call.lastEndsAt = patience',
    tests: SCENES,
    fails: 'the deadline is that of the first attempt',
  },
  {
    about: 'the bound of the line is not counted with',
    file: 'state',
    was: 'queuedAt + this.options.bounds.lineWaitMs)',
    is: 'Infinity)',
    tests: SCENES,
    fails: 'nobody is put off past the longest wait in line',
  },
  {
    about: 'any number of calls wait past the last attempt that was seen',
    file: 'returns',
    was: 'const EXPLORING = 0.005',
    is: 'const EXPLORING = 1',
    tests: LAWS,
    fails: 'the order delivers at most 0.5 % of calls fewer',
  },
];

for (const tests of [TIERS, SCENES, LAWS]) {
  test(`without a fault nothing fails in ${tests}`, () => {
    const { failed, said } = run(tests, undefined, BRIEFLY);
    deepEqual(failed, [], said);
  });
}

for (const fault of FAULTS) {
  test(`it is noticed when ${fault.about}`, () => {
    const { failed, said } = run(fault.tests, fault, BRIEFLY);
    equal(
      failed.some((name) => name.startsWith(fault.fails)),
      true,
      `${failed.join('; ')}\n${said.slice(0, 2_000)}`,
    );
  });
}
