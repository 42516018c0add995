/** Law 4: nothing crosses a tenant. What one is told does not depend on what another sends, same bodies and keys and all. */

import { deepEqual, notDeepEqual, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { Random } from '../../src/core/chance/random.js';
import type { AttemptFacts, ControlEvent } from '../../src/core/control/event.js';
import type { ControlSettings } from '../../src/core/control/options.js';
import type { Verdict } from '../../src/core/control/verdict.js';
import { forEachSeed } from '../support/seeds.js';
import { control, type Subject } from '../support/subject.js';
import { REQUESTS_OWN } from './failures.js';
import { KINDS, type Traffic, World } from './world.js';

/** An engine that is never full: load is shared and shows in waits, and nothing else may. */
const TRAFFIC: Traffic = {
  kinds: KINDS,
  tenants: ['one'],
  stages: [{ seconds: 20, rate: 5 }],
  equals: 0.3,
  failing: 0.05,
  // What is said against an engine is shared by all, as load is.
  failures: REQUESTS_OWN.map(([failure]) => failure),
  slow: 0.05,
  large: 0.1,
  places: 1_000,
  serviceMs: 4_500,
};

const SETTINGS: readonly ControlSettings[] = [{}, { grace: 'now' }, { grace: 2_000, coalesce: 'identical' }];
const SEEDS = 8;

/** What tenant `one` is told and when, ids renamed by order of appearance; what falls on one moment has no order. */
function toldToOne(
  seed: number,
  settings: ControlSettings,
  scope: (facts: AttemptFacts) => AttemptFacts,
  shadow: boolean,
): readonly string[] {
  const inner = control(settings);
  const names = new Map<string, string>();
  const mine = new Set<string>();
  const told: string[] = [];
  const rename = (verdict: Verdict): string =>
    JSON.stringify(verdict, (key, value: unknown) => {
      if ((key !== 'call' && key !== 'execution') || typeof value !== 'string') return value;
      const known = names.get(value) ?? `${key}-${names.size}`;
      names.set(value, known);
      return known;
    });
  const listen = (now: number, verdicts: readonly Verdict[]): readonly Verdict[] => {
    const own = verdicts.filter((verdict) => {
      if ('attempt' in verdict && verdict.attempt !== undefined) return !verdict.attempt.startsWith('shadow');
      if ('call' in verdict && verdict.call !== undefined) return mine.has(verdict.call);
      return 'execution' in verdict && verdict.execution !== undefined && mine.has(verdict.execution);
    });
    for (const verdict of own) {
      if ('call' in verdict && verdict.call !== undefined) mine.add(verdict.call);
      if ('execution' in verdict && verdict.execution !== undefined) mine.add(verdict.execution);
      told.push(`${now} ${rename(verdict)}`);
    }
    return own;
  };
  const subject: Subject = {
    step: (now, event) => {
      const before = shadow ? shadowOf(event, scope) : undefined;
      if (before !== undefined) listen(now, inner.step(now, before));
      return listen(now, inner.step(now, event));
    },
    wakeAt: () => inner.wakeAt(),
  };
  new World(TRAFFIC, new Random(seed), subject).run();
  return told.toSorted();
}

/** Another tenant says the same at the same moment: it arrives with the same facts, and leaves when this one does. */
function shadowOf(
  event: ControlEvent,
  scope: (facts: AttemptFacts) => AttemptFacts,
): ControlEvent | undefined {
  if (event.kind === 'arrive') {
    return { kind: 'arrive', attempt: `shadow-${event.attempt}`, facts: scope(event.facts) };
  }
  return event.kind === 'leave' ? { kind: 'leave', attempt: `shadow-${event.attempt}` } : undefined;
}

const other = (facts: AttemptFacts): AttemptFacts => ({ ...facts, tenant: 'two' });

for (const settings of SETTINGS) {
  test(`another tenant with the same bodies, keys and moments changes nothing: ${JSON.stringify(settings)}`, () => {
    forEachSeed(SEEDS, (seed) => {
      const alone = toldToOne(seed, settings, other, false);
      ok(alone.length > 100);
      deepEqual(toldToOne(seed, settings, other, true), alone);
    });
  });
}

test('the same requests inside one tenant do change what is decided: the test can fail', () => {
  const same = (facts: AttemptFacts): AttemptFacts => facts;
  notDeepEqual(toldToOne(1, {}, same, true), toldToOne(1, {}, same, false));
});
