/** Load as named scenes: the budget, the line, buffers, failures and the way down. */

import { deepEqual, equal, ok } from 'node:assert/strict';
import type { AttemptFacts } from '../../src/core/control/event.js';
import { type Scene, scene } from '../support/control-scene.js';
import { AGENTS } from '../support/facts.js';

const eight = Array.from({ length: 8 }, (_, at) => at);

/** A tenant that the engine knows, and `count` calls of it whose work was cancelled: each has nothing left. */
function usedUp(s: Scene, count: number): void {
  s.arrive('known', { fingerprint: 'known' });
  s.deliver('known');
  for (let at = 0; at < count; at += 1) {
    s.arrive(`first-${at}`, { fingerprint: `body-${at}`, cancelOnLeave: true });
    s.stream(`first-${at}`);
    s.leave(`first-${at}`);
  }
}

/** Keeps the only place at the engine and one place in line taken. */
function busy(s: Scene): void {
  s.arrive('runs', { fingerprint: 'runs' });
  s.arrive('waits', { fingerprint: 'waits' });
}

scene(
  'after a hundred used-up first attempts, with a line, the eleventh further execution is refused',
  (start) => {
    const s = start({ room: 1 });
    usedUp(s, 98);
    busy(s);
    s.pass(1_000);
    for (let at = 0; at < 11; at += 1) s.arrive(`further-${at}`, { fingerprint: `body-${at}` });
    for (let at = 0; at < 10; at += 1) equal(s.ending(`further-${at}`), undefined, `further-${at}`);
    equal(s.ending('further-10'), 'refused_budget');
    const [refusal] = s.all('refuse');
    ok(refusal !== undefined && refusal.retryAfterMs >= 1_000 && refusal.retryAfterMs <= 59_000);
  },
);

scene('the budget forgets after its window', (start) => {
  const s = start({ room: 1, bounds: { lineWaitMs: 3_600_000 } });
  usedUp(s, 98);
  busy(s);
  for (let at = 0; at < 11; at += 1) s.arrive(`further-${at}`, { fingerprint: `body-${at}` });
  equal(s.ending('further-10'), 'refused_budget');
  s.pass(62_000);
  s.arrive('newcomer', { fingerprint: 'newcomer' });
  s.arrive('one', { fingerprint: 'body-20', retryCount: 1 });
  s.arrive('two', { fingerprint: 'body-21', retryCount: 1 });
  equal(s.ending('one'), undefined, 'the floor grants one a window');
  equal(s.ending('two'), 'refused_budget');
});

scene('a further execution that can start at once is never refused', (start) => {
  const s = start();
  usedUp(s, 20);
  for (let at = 0; at < 20; at += 1) s.arrive(`further-${at}`, { fingerprint: `body-${at}`, retryCount: 1 });
  equal(s.all('refuse').length, 0);
  equal(s.executions(), 41);
});

scene('under a strict budget every retry that reaches the engine is charged, room or not', (start) => {
  const s = start({ budget: { mode: 'strict' } });
  usedUp(s, 20);
  for (let at = 0; at < 3; at += 1) s.arrive(`further-${at}`, { fingerprint: `body-${at}`, retryCount: 1 });
  deepEqual(
    [0, 1, 2].map((at) => s.ending(`further-${at}`)),
    [undefined, undefined, 'refused_budget'],
  );
});

scene('one tenant cannot use up what another is allowed', (start) => {
  const s = start({ room: 1 });
  usedUp(s, 98);
  busy(s);
  s.arrive('rival', { tenant: 'rival', fingerprint: 'r', retryCount: 1 });
  s.arrive('rival-2', { tenant: 'rival', fingerprint: 'r2', retryCount: 1 });
  equal(s.ending('rival'), undefined);
  equal(s.ending('rival-2'), 'refused_budget', 'its own allowance is the floor');
});

/** A tenant that the engine knows, one call of it whose work was cancelled, and the call's next attempt. */
function usedUpBy(s: Scene, tenant: string): void {
  s.arrive(`known-${tenant}`, { tenant, fingerprint: 'known' });
  s.deliver(`known-${tenant}`);
  s.arrive(`first-${tenant}`, { tenant, fingerprint: 'body', cancelOnLeave: true });
  s.leave(`first-${tenant}`);
}

scene('a grant needs the gateway’s allowance too: of two tenants with a floor each, one gets it', (start) => {
  const s = start({ room: 1 });
  for (const tenant of ['one', 'two']) usedUpBy(s, tenant);
  busy(s);
  for (const tenant of ['one', 'two'])
    s.arrive(`further-${tenant}`, { tenant, fingerprint: 'body', retryCount: 1 });
  equal(s.ending('further-one'), undefined);
  equal(s.ending('further-two'), 'refused_budget');
});

scene('a tenant that was pushed out of the books has still used the gateway’s allowance', (start) => {
  const s = start({ room: 1, bounds: { tenants: 2 } });
  usedUpBy(s, 'one');
  s.arrive('further', { tenant: 'one', fingerprint: 'body', retryCount: 1 });
  s.deliver('further');
  for (const tenant of ['two', 'three']) {
    s.arrive(`known-${tenant}`, { tenant });
    s.deliver(`known-${tenant}`);
  }
  busy(s);
  s.arrive('again', { tenant: 'one', fingerprint: 'other', retryCount: 1 });
  equal(s.ending('again'), 'refused_budget');
});

scene('credentials that the engine has not accepted share one allowance', (start) => {
  const s = start({ room: 1 });
  for (let at = 0; at < 5; at += 1) {
    s.arrive(`first-${at}`, { tenant: `stranger-${at}`, fingerprint: `f-${at}`, cancelOnLeave: true });
    s.leave(`first-${at}`);
  }
  busy(s);
  for (let at = 0; at < 3; at += 1) {
    s.arrive(`again-${at}`, { tenant: `stranger-${at}`, fingerprint: `f-${at}`, retryCount: 1 });
  }
  deepEqual(
    [0, 1, 2].map((at) => s.ending(`again-${at}`)),
    [undefined, 'refused_budget', 'refused_budget'],
  );
});

scene('a call that was shed once keeps its right to one execution', (start) => {
  const s = start({ room: 1, bounds: { lineEntries: 1 } });
  busy(s);
  s.arrive('shed', { retryCount: 0 });
  equal(s.ending('shed'), 'refused_line_full');
  s.deliver('runs');
  s.deliver('waits');
  s.arrive('hold', { fingerprint: 'hold' });
  s.arrive('again', { retryCount: 1 });
  equal(s.decision('again'), 'rejoin_owed');
  equal(s.ending('again'), undefined);
});

scene('an engine crash refuses nobody: the failed work is owed', (start) => {
  const s = start({ room: 20 });
  const all = Array.from({ length: 20 }, (_, at) => at);
  for (const at of all) s.arrive(`try-${at}`, { fingerprint: `body-${at}` });
  for (const at of all) s.fail(`try-${at}`, 'reset');
  for (const at of all) equal(s.ending(`try-${at}`), 'upstream_reset');
  s.pass(500);
  for (const at of all) s.arrive(`again-${at}`, { fingerprint: `body-${at}` });
  equal(s.executions(), 21, 'one tries the engine');
  s.pass(5_000);
  equal(s.all('refuse').length, 0);
  equal(s.executions(), 40);
});

scene('a restart refuses nobody while the engine has room', (start) => {
  const s = start({ room: 20 });
  for (let at = 0; at < 20; at += 1) s.arrive(`again-${at}`, { fingerprint: `body-${at}`, retryCount: 2 });
  equal(s.decision('again-0'), 'unknown_predecessor');
  equal(s.all('refuse').length, 0);
  equal(s.executions(), 20);
});

scene(
  'a full line refuses the newcomer; newest first it displaces the oldest that nobody waits for',
  (start) => {
    const bounds = { lineEntries: 2 };
    const old = start({ room: 1, bounds });
    const fresh = start({ room: 1, bounds, order: 'newest-first' });
    for (const s of [old, fresh]) {
      s.arrive('runs', { fingerprint: 'runs' });
      s.arrive('one', { fingerprint: 'one' });
      s.arrive('two', { fingerprint: 'two' });
      s.pass(1_000);
      s.leave('one');
      s.arrive('three', { fingerprint: 'three' });
    }
    equal(old.ending('three'), 'refused_line_full');
    equal(fresh.entryEnding('one'), 'displaced');
    equal(fresh.ending('three'), undefined);
    fresh.arrive('four', { fingerprint: 'four' });
    equal(fresh.ending('four'), 'refused_line_full', 'nobody who waits is displaced');
    fresh.arrive('one-again', { fingerprint: 'one' });
    equal(fresh.decision('one-again'), 'rejoin_owed');
  },
);

scene('the line is bounded in bytes too', (start) => {
  const s = start({ room: 1, bounds: { lineBytes: 100 } });
  s.arrive('runs', { fingerprint: 'runs', bodyBytes: 1_000 });
  s.arrive('one', { fingerprint: 'one', bodyBytes: 100 });
  s.arrive('two', { fingerprint: 'two', bodyBytes: 1 });
  equal(s.ending('two'), 'refused_line_bytes');
});

scene('the newest or the oldest entry starts next, as the order says', (start) => {
  for (const [order, next] of [
    ['oldest-first', 'one'],
    ['newest-first', 'three'],
  ] as const) {
    const s = start({ room: 1, order });
    for (const name of ['runs', 'one', 'two', 'three']) s.arrive(name, { fingerprint: name });
    s.pass(1_000);
    s.deliver('runs');
    deepEqual(
      ['one', 'two', 'three'].filter((name) => s.executions(name) === 1),
      [next],
    );
  }
});

scene('a client that stays connected waits in line up to the bound, and is told', (start) => {
  const s = start({ room: 1, bounds: { lineWaitMs: 30_000 } });
  busy(s);
  s.pass(29_999);
  equal(s.ending('waits'), undefined);
  s.pass(1);
  equal(s.ending('waits'), 'gave_up');
  equal(s.entryEnding('waits'), 'gave_up');
  equal(s.callEnding('waits'), 'gave_up');
  equal(s.all('refuse')[0]?.reason, 'gave_up');
});

scene('an orphan in line leaves it at the end of its grace and is still owed its execution', (start) => {
  const s = start({ room: 1, grace: 10_000 });
  s.arrive('runs', { fingerprint: 'runs' });
  s.arrive('try', { userAgent: AGENTS.python });
  s.pass(1_000);
  s.leave('try');
  s.pass(10_000);
  equal(s.entryEnding('try'), 'expired');
  s.arrive('again', { userAgent: AGENTS.python });
  equal(s.decision('again'), 'rejoin_owed');
});

/** Eight equal calls meet a full line and come back when it has room again, but is not empty. */
function shedTogether(s: Scene, first: Partial<AttemptFacts>, again: Partial<AttemptFacts>): void {
  for (let at = 0; at < 10; at += 1) s.arrive(`other-${at}`, { fingerprint: `other-${at}` });
  for (const at of eight) s.arrive(`try-${at}`, first);
  deepEqual(
    eight.map((at) => s.ending(`try-${at}`)),
    eight.map(() => 'refused_line_full'),
  );
  for (const at of eight) s.deliver(`other-${at}`);
  s.pass(6_000);
  for (const at of eight) s.arrive(`again-${at}`, again);
}

for (const [client, first, again] of [
  ['a client that counts', { userAgent: AGENTS.python, retryCount: 0 }, { retryCount: 1 }],
  ['a client whose count stays 0', { userAgent: AGENTS.langchain, retryCount: 0 }, {}],
  ['a client that obeys Retry-After', { userAgent: AGENTS.aiSdk }, {}],
  ['a client of which nothing is known', {}, {}],
] as const) {
  scene(`equal calls shed at once keep an execution each: ${client}`, (start) => {
    const s = start({
      room: 1,
      order: 'oldest-first',
      budget: { ratio: 0, floor: 0 },
      bounds: { lineEntries: 9 },
    });
    shedTogether(s, first, { ...first, ...again });
    equal(new Set(eight.map((at) => s.call(`try-${at}`))).size, 8);
    deepEqual(
      eight.map((at) => s.decision(`again-${at}`)),
      eight.map(() => 'rejoin_owed'),
    );
    equal(new Set(eight.map((at) => s.call(`again-${at}`))).size, 8);
    for (const name of ['other-8', 'other-9', ...eight.map((at) => `again-${at}`)]) s.deliver(name);
    deepEqual(
      eight.map((at) => s.ending(`again-${at}`)),
      eight.map(() => 'delivered'),
    );
  });
}

scene('equal calls that a broken engine fails at once are owed an execution each', (start) => {
  const s = start({ room: 1, budget: { ratio: 0, floor: 0 } });
  for (const at of eight) {
    s.arrive(`try-${at}`, { userAgent: AGENTS.python, retryCount: 0 });
    s.fail(`try-${at}`, 'status_5xx');
  }
  busy(s);
  s.pass(400);
  for (const at of eight) s.arrive(`again-${at}`, { userAgent: AGENTS.python, retryCount: 1 });
  deepEqual(
    eight.map((at) => s.decision(`again-${at}`)),
    eight.map(() => 'rejoin_owed'),
  );
});

scene('what is heard before a shed client can be back is another call, unless it counts on', (start) => {
  for (const [userAgent, afterMs, brings, decision] of [
    [AGENTS.python, 3_000, { retryCount: 0 }, 'new_call'],
    [AGENTS.python, 3_000, { retryCount: 1 }, 'rejoin_owed'],
    [AGENTS.python, 6_000, { retryCount: 0 }, 'rejoin_owed'],
    [AGENTS.codex, 100, {}, 'new_call'],
    [AGENTS.codex, 200, {}, 'rejoin_owed'],
    [AGENTS.plain, 99, {}, 'new_call'],
    [AGENTS.plain, 100, {}, 'rejoin_owed'],
    [AGENTS.plain, 1, { traceparent: 't' }, 'rejoin_owed'],
    [AGENTS.dotnet, 1, {}, 'rejoin_owed'],
  ] as const) {
    const s = start({ room: 1, bounds: { lineEntries: 1 } });
    busy(s);
    s.arrive('try', { userAgent, traceparent: 't' });
    equal(s.ending('try'), 'refused_line_full');
    s.pass(afterMs);
    s.arrive('again', { userAgent, ...brings });
    equal(s.decision('again'), decision, `${userAgent} after ${afterMs} ms`);
  }
});

scene('whoever left may be back at once, however long it was told to wait before', (start) => {
  const s = start({ room: 1, grace: 'now', bounds: { lineEntries: 1 } });
  busy(s);
  s.arrive('try', { userAgent: AGENTS.python, retryCount: 0 });
  equal(s.ending('try'), 'refused_line_full');
  s.deliver('runs');
  s.arrive('again', { userAgent: AGENTS.python, retryCount: 1 });
  s.leave('again');
  s.arrive('anew', { userAgent: AGENTS.python, retryCount: 0 });
  equal(s.decision('anew'), 'rejoin_owed');
});

scene('whoever is refused by the budget and asks again without a pause stays on the budget', (start) => {
  const s = start({ room: 1, budget: { ratio: 0, floor: 0 } });
  usedUp(s, 1);
  busy(s);
  for (const at of eight) {
    s.arrive(`again-${at}`, { fingerprint: 'body-0' });
    equal(s.ending(`again-${at}`), 'refused_budget');
  }
  equal(new Set(eight.map((at) => s.call(`again-${at}`))).size, 1);
});

scene('of equal calls shed at once no more than sixty-four are told apart', (start) => {
  const s = start({ room: 1, bounds: { lineEntries: 1 } });
  busy(s);
  for (let at = 0; at < 100; at += 1) s.arrive(`try-${at}`);
  equal(new Set(Array.from({ length: 100 }, (_, at) => s.call(`try-${at}`))).size, 64);
});

scene('what does not fit the replay buffer goes on to its reader and is nobody else’s', (start) => {
  const s = start({ bounds: { replayBytes: 100 } });
  s.arrive('try', { key: 'k' });
  s.stream('try', 101);
  const execution = s.execution('try');
  deepEqual(
    s.all('seal').map((one) => one.execution),
    [execution],
  );
  equal(s.ending('try'), undefined);
  s.leave('try');
  equal(s.executionEnding(execution), 'cancelled_not_replayable');
  s.arrive('again', { key: 'k' });
  equal(s.decision('again'), 'rejoin_spent');
});

scene('when all buffers together are full the newest is sealed', (start) => {
  const s = start({ bounds: { replayBytes: 100, liveReplayBytes: 150 } });
  s.arrive('old', { fingerprint: 'old' });
  s.pass(10);
  s.arrive('new', { fingerprint: 'new' });
  s.stream('new', 90);
  s.stream('old', 90);
  deepEqual(
    s.all('seal').map((one) => one.execution),
    [s.execution('new')],
  );
});

scene('when kept answers are too many the oldest goes, and a tenant only its own share', (start) => {
  const s = start({ bounds: { replayBytes: 100, retainedBytes: 250, retainedTenantShare: 0.8 } });
  for (const name of ['a', 'b', 'c']) {
    s.arrive(name, { fingerprint: name });
    s.leave(name);
    s.pass(10);
    s.finish(name, 90);
    s.pass(10);
  }
  deepEqual(
    s.all('forget').map((one) => one.execution),
    [s.execution('a')],
  );
  s.arrive('rival', { tenant: 'rival', fingerprint: 'r' });
  s.leave('rival');
  s.finish('rival', 90);
  deepEqual(
    s.all('forget').map((one) => one.execution),
    [s.execution('a'), s.execution('b')],
  );
});

scene('a tenant above its share of kept answers lets go of its own, not of a rival’s older one', (start) => {
  const s = start({ bounds: { replayBytes: 100, retainedBytes: 250, retainedTenantShare: 0.5 } });
  for (const [name, tenant] of [
    ['rival', 'rival'],
    ['one', 'acme'],
    ['two', 'acme'],
  ] as const) {
    s.arrive(name, { tenant, fingerprint: name });
    s.leave(name);
    s.finish(name, 90);
    s.pass(10);
  }
  deepEqual(
    s.all('forget').map((one) => one.execution),
    [s.execution('one')],
  );
});

scene('a reader further behind than the buffer is cut', (start) => {
  const s = start();
  s.arrive('try', { stream: true });
  s.stream('try', 100);
  s.send({ kind: 'lag', attempt: 'try' });
  equal(s.ending('try'), 'slow_reader');
  equal(s.all('end')[0]?.ending, 'slow_reader');
});

scene('an engine failure reaches every kind of client by its name', (start) => {
  for (const [failure, ending] of [
    ['refused', 'upstream_refused'],
    ['truncated', 'upstream_truncated'],
    ['timeout', 'upstream_timeout'],
    ['status_5xx', 'upstream_status_5xx'],
    ['error_event', 'upstream_error_event'],
    ['malformed', 'upstream_malformed'],
  ] as const) {
    const s = start();
    s.arrive('try');
    s.fail('try', failure, failure === 'status_5xx' ? 500 : undefined);
    equal(s.ending('try'), ending);
    s.pass(100);
    s.arrive('again');
    equal(s.decision('again'), 'rejoin_owed');
  }
});

scene('a request that the engine finds wrong fails at once; a contended one is owed', (start) => {
  for (const [status, ends, decision] of [
    [400, 'failed', 'new_call'],
    [404, 'failed', 'new_call'],
    [408, undefined, 'rejoin_owed'],
    [429, undefined, 'rejoin_owed'],
  ] as const) {
    const s = start();
    s.arrive('try');
    s.fail('try', 'status_4xx', status);
    equal(s.callEnding('try'), ends);
    s.pass(100);
    s.arrive('again');
    equal(s.decision('again'), decision, String(status));
  }
});

scene('work that failed while nobody listened is owed to the retry', (start) => {
  const s = start();
  s.arrive('try');
  s.leave('try');
  s.fail('try', 'status_5xx', 503);
  equal(s.all('end').length, 0);
  s.arrive('again');
  equal(s.decision('again'), 'rejoin_owed');
});

scene('at most so many calls are known: the oldest idle one goes, else the newcomer is refused', (start) => {
  const s = start({ bounds: { calls: 2 } });
  s.arrive('one', { fingerprint: 'one' });
  s.arrive('two', { fingerprint: 'two' });
  s.arrive('three', { fingerprint: 'three' });
  equal(s.ending('three'), 'refused_calls');
  s.fail('one', 'reset');
  s.arrive('four', { fingerprint: 'four' });
  equal(s.ending('four'), undefined);
  equal(s.callEnding('one'), 'failed');
});

scene('before a new call is refused, answers that nobody reads go: the delivered first', (start) => {
  const s = start({ bounds: { calls: 3 } });
  for (const name of ['first', 'second']) {
    s.arrive(name, { fingerprint: name });
    s.leave(name);
    s.finish(name);
    s.pass(10);
  }
  s.arrive('taken', { fingerprint: 'taken' });
  s.deliver('taken');
  for (const [newcomer, goes] of [
    ['one', 'taken'],
    ['two', 'first'],
    ['three', 'second'],
  ] as const) {
    s.arrive(newcomer, { fingerprint: newcomer });
    equal(s.ending(newcomer), undefined);
    equal(s.all('forget').at(-1)?.execution, s.execution(goes));
  }
  s.arrive('four', { fingerprint: 'four' });
  equal(s.ending('four'), 'refused_calls');
});

scene('draining finishes what is there and takes nothing new; stopping ends everything by name', (start) => {
  const s = start({ room: 1 });
  busy(s);
  s.arrive('orphan', { fingerprint: 'orphan' });
  s.leave('orphan');
  s.send({ kind: 'drain' });
  s.arrive('late', { fingerprint: 'late' });
  equal(s.ending('late'), 'refused_draining');
  s.deliver('runs');
  equal(s.ending('runs'), 'delivered');
  s.send({ kind: 'stop' });
  equal(s.ending('waits'), 'drained');
  equal(s.executionEnding(s.execution('waits')), 'cancelled_drained');
  equal(s.entryEnding('orphan'), 'drained');
  equal(s.callEnding('orphan'), 'drained');
});

scene('a request turned away before it was recognised is an attempt that ended', (start) => {
  const s = start();
  s.send({ kind: 'reject', attempt: 'huge', reason: 'rejected_too_large' });
  equal(s.ending('huge'), 'rejected_too_large');
});
