/** Each rule of the classes is seen to be held: taken out of the code, it makes the named test fail. */

import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { type Fault, run } from './fault-run.js';

const QUEUES = 'src/core/control/precedence.test.js';
const RESCUE = 'src/core/control/rescue.test.js';
const SCENES = 'tests/scenarios/classes.test.js';

const FAULTS: readonly Fault[] = [
  {
    about: 'a lower class goes before a higher one',
    file: 'precedence',
    was: 'other.rank > rank',
    is: 'other.rank < rank',
    tests: SCENES,
    fails: 'a higher class goes first',
  },
  {
    about: 'a lower class has no least part',
    file: 'precedence',
    was: 'this.#owed(now) ??',
    is: '',
    tests: SCENES,
    fails: 'a lower class that waits has one start in twenty',
  },
  {
    about: 'a turn that was had is still owed',
    file: 'precedence',
    was: 'queue.owed - LEAST_ONE_IN',
    is: 'queue.owed',
    tests: QUEUES,
    fails: 'a class that waits has one start in twenty',
  },
  {
    about: 'a tenant’s share does not tell its classes who was served',
    file: 'shares',
    was: 'queue.entries.served?.(entry);',
    is: '',
    tests: SCENES,
    fails: 'tenants are served by weight before classes are looked at',
  },
  {
    about: 'what is hopeless goes by its class',
    file: 'precedence',
    was: "if (chosen !== undefined && chosen.tier !== 'hopeless')\n                return chosen;",
    is: 'if (chosen !== undefined) return chosen;',
    tests: SCENES,
    fails: 'by deadline, what is hopeless in a higher class',
  },
  {
    about: 'nobody looks who would be lost',
    file: 'precedence',
    was: 'this.#rescued(now) ??',
    is: '',
    tests: SCENES,
    fails: 'by deadline, a late call of a lower class goes before',
  },
  {
    about: 'whoever is given up is one of the highest class',
    file: 'rescue',
    was: 'rank > lowest',
    is: '(lowest < 0 || rank < lowest)',
    tests: RESCUE,
    fails: 'of two of whom one can be answered it is the one of the higher class',
  },
  {
    about: 'whoever is given up is never taken back',
    file: 'rescue',
    was: 'if (!fits)',
    is: 'if (true)',
    tests: RESCUE,
    fails: 'whoever was given up has its place back',
  },
  {
    about: 'somebody else goes at the last moment',
    file: 'rescue',
    was: '< beginning + paceMs)',
    is: '< beginning)',
    tests: RESCUE,
    fails: 'for whoever asks once alone less time is kept free',
  },
  {
    about: 'a tenant’s highest class is not looked at',
    file: 'classes',
    was: 'return Math.max(rank,',
    is: 'return Math.min(rank,',
    tests: SCENES,
    fails: 'a class above its tenant’s highest is lowered',
  },
  {
    about: 'a credential that was not accepted has what it claims',
    file: 'classes',
    was: 'verified ? highest',
    is: 'true ? highest',
    tests: SCENES,
    fails: 'a credential that the engine has not accepted',
  },
  {
    about: 'a session has the class of its latest call',
    file: 'classes',
    was: 'return first ?? own',
    is: 'return own',
    tests: SCENES,
    fails: 'a session keeps the class of its first call',
  },
  {
    about: 'sessions of all tenants are one',
    file: 'classes',
    was: 'JSON.stringify([tenant, session])',
    is: 'session',
    tests: SCENES,
    fails: 'a session keeps the class of its first call',
  },
  {
    about: 'a call stays in the class of its first attempt',
    file: 'arrival',
    was: 'call.askedRank = Math.min',
    is: 'Math.min',
    tests: SCENES,
    fails: 'an attempt of a higher class raises the call',
  },
  {
    about: 'a merged call stays in the class of the earlier',
    file: 'releasing',
    was: 'into.askedRank = Math.min',
    is: 'Math.min',
    tests: SCENES,
    fails: 'an equal that turns out to be the retry of a waiting call',
  },
];

for (const tests of [QUEUES, RESCUE, SCENES]) {
  test(`without a fault nothing fails in ${tests}`, () => {
    const { failed, said } = run(tests);
    deepEqual(failed, [], said);
  });
}

for (const fault of FAULTS) {
  test(`it is noticed when ${fault.about}`, () => {
    const { failed, said } = run(fault.tests, fault);
    const noticed = failed.some((name) => name.startsWith(fault.fails));
    equal(noticed, true, `${failed.join('; ')}\n${said.slice(0, 2_000)}`);
  });
}
