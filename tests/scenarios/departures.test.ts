/** Departures as named scenes: how long the work of a client that left is kept, as its kind was seen to come back. */

import { equal, ok } from 'node:assert/strict';
import type { AttemptFacts } from '../../src/core/control/event.js';
import { ownScene, type Scene } from '../support/control-scene.js';

/** Longer than any grace and any memory of a call. */
const LONG_MS = 1_000_000;

let bodies = 0;

/** One client asks and leaves; returns the attempt and what became of its execution at once. */
function depart(
  s: Scene,
  changes: Partial<AttemptFacts> = {},
): { attempt: string; ending: string | undefined } {
  bodies += 1;
  const attempt = `gone-${bodies}`;
  s.arrive(attempt, { fingerprint: attempt, ...changes });
  const execution = s.execution(attempt);
  s.leave(attempt);
  return { attempt, ending: s.executionEnding(execution) };
}

/** So many clients ask, leave and never come back, and enough time passes to know it. */
function lose(s: Scene, count: number): void {
  for (let at = 0; at < count; at += 1) depart(s);
  s.pass(LONG_MS);
}

/** One client leaves and comes back to where nothing is left, and is served. */
function comeBack(s: Scene, afterMs = 500): void {
  const { attempt } = depart(s);
  s.pass(afterMs);
  s.arrive(`${attempt}-again`, { fingerprint: attempt });
  s.deliver(`${attempt}-again`);
}

ownScene(
  'clients of a kind that left fifty times for good are not waited for at the fifty-first',
  (start) => {
    const s = start();
    lose(s, 49);
    const { attempt, ending } = depart(s);
    equal(ending, undefined, 'of forty-nine nothing is learned');
    const execution = s.execution(attempt);
    s.pass(LONG_MS);
    equal(s.executionEnding(execution), 'cancelled_grace');
    equal(depart(s).ending, 'cancelled_on_leave');
  },
);

ownScene('what one kind of client does is not held against another', (start) => {
  const s = start();
  lose(s, 50);
  equal(depart(s).ending, 'cancelled_on_leave');
  for (const other of [{ tenant: 'rival' }, { userAgent: 'other/1.0' }, { route: '/v1/completions' }])
    equal(depart(s, other).ending, undefined, JSON.stringify(other));
});

ownScene('where grace is not learned, nobody’s departures shorten it', (start) => {
  const s = start({ learnGrace: false });
  lose(s, 60);
  equal(depart(s).ending, undefined);
});

ownScene('two hundred that leave at once say nothing until it is known whether they return', (start) => {
  const s = start();
  const burst = Array.from({ length: 200 }, () => depart(s));
  ok(burst.every(({ ending }) => ending === undefined));
  const { attempt, ending } = depart(s);
  equal(ending, undefined);
  s.arrive('again', { fingerprint: attempt });
  equal(s.decision('again'), 'adopt_execution');
});

ownScene('a departure that was pushed out of memory says nothing', (start) => {
  const s = start({ bounds: { calls: 10 } });
  for (let at = 0; at < 100; at += 1) s.finish(depart(s).attempt);
  equal(depart(s).ending, undefined);
});

ownScene('a kind of client that was given up is waited for again once one in twenty returns', (start) => {
  const s = start();
  lose(s, 100);
  for (let at = 0; at < 5; at += 1) comeBack(s);
  equal(depart(s).ending, 'cancelled_on_leave', 'five of a hundred and five are too few');
  s.pass(LONG_MS);
  comeBack(s);
  const { attempt, ending } = depart(s);
  equal(ending, undefined, 'six of a hundred and seven are enough');
  s.pass(500);
  s.arrive('again', { fingerprint: attempt });
  equal(s.decision('again'), 'adopt_execution');
});

ownScene('a client that was seen to come back late is waited for longer than the grace', (start) => {
  const s = start({ grace: 10_000 });
  comeBack(s, 30_000);
  const execution = s.execution(depart(s).attempt);
  s.pass(37_499);
  equal(s.executionEnding(execution), undefined);
  s.pass(1);
  equal(s.executionEnding(execution), 'cancelled_grace');
});

ownScene(
  'while a tenant’s clients were told to wait, its work is kept two seconds past that wait',
  (start) => {
    for (const [shed, leavesAfterMs, kept] of [
      ['acme', 0, true],
      ['acme', 10_000, false],
      ['rival', 0, false],
    ] as const) {
      const s = start({ room: 1, grace: 1_000, bounds: { lineEntries: 0 } });
      s.arrive('runs', { fingerprint: 'runs' });
      s.arrive('shed', { tenant: shed, fingerprint: 'shed' });
      const [refusal] = s.all('refuse');
      ok(refusal !== undefined && refusal.retryAfterMs > 1_000);
      s.pass(leavesAfterMs);
      const execution = s.execution('runs');
      s.leave('runs');
      const graceMs = kept ? refusal.retryAfterMs + 2_000 : 1_000;
      s.pass(graceMs - 1);
      equal(s.executionEnding(execution), undefined, `${shed} was told, ${leavesAfterMs} ms before`);
      s.pass(1);
      equal(s.executionEnding(execution), 'cancelled_grace');
    }
  },
);
