/** Recognition as named scenes: what becomes of a retry, of its twin, and of whoever only looks like it. */

import { deepEqual, equal, notEqual, ok } from 'node:assert/strict';
import { scene } from '../support/control-scene.js';
import { AGENTS } from '../support/facts.js';

const PYTHON = { userAgent: AGENTS.python, explicitDeadlineMs: 10_000 };
const eight = Array.from({ length: 8 }, (_, at) => at);

for (const [how, first, second] of [
  ['a retry count', { retryCount: 0 }, { retryCount: 1 }],
  ['nothing at all', {}, {}],
  ['a key', { key: 'k' }, { key: 'k' }],
  ['the same traceparent', { traceparent: '00-1-1-01' }, { traceparent: '00-1-1-01' }],
] as const) {
  scene(`a retry with ${how} adopts its orphan, and the work is done once`, (start) => {
    const s = start();
    s.arrive('try', { ...PYTHON, ...first });
    s.pass(10_000);
    s.leave('try');
    s.pass(500);
    s.arrive('again', { ...PYTHON, ...second });
    equal(s.decision('again'), 'adopt_execution');
    equal(s.outcome('again'), 'attached');
    s.deliver('again');
    deepEqual([s.ending('try'), s.ending('again')], ['left_before_first_byte', 'delivered']);
    equal(s.callEnding('again'), 'delivered');
    equal(s.executions(), 1);
  });

  scene(`a retry with ${how} finds its place in the line`, (start) => {
    const s = start({ room: 1, order: 'oldest-first' });
    s.arrive('other', { fingerprint: 'other' });
    s.arrive('try', { ...PYTHON, ...first });
    s.arrive('behind', { fingerprint: 'behind' });
    s.pass(5_000);
    s.leave('try');
    s.pass(500);
    s.arrive('again', { ...PYTHON, ...second });
    equal(s.decision('again'), 'adopt_entry');
    s.deliver('other');
    equal(s.executions('again'), 1);
    equal(s.executions('behind'), 0);
  });

  scene(`a retry with ${how} finds the answer that came while nobody listened`, (start) => {
    const s = start();
    s.arrive('try', { ...PYTHON, ...first });
    s.leave('try');
    s.finish('try');
    s.pass(119_000);
    s.arrive('again', { ...PYTHON, ...second });
    equal(s.decision('again'), 'adopt_answer');
    equal(s.outcome('again'), 'replayed');
    equal(s.executions(), 1);
  });
}

scene('eight parallel equal calls get eight executions, and their retries adopt one each', (start) => {
  const s = start();
  for (const at of eight) s.arrive(`try-${at}`, PYTHON);
  equal(s.executions(), 8);
  s.pass(10_000);
  for (const at of eight) s.leave(`try-${at}`);
  s.pass(400);
  for (const at of eight) s.arrive(`again-${at}`, PYTHON);
  deepEqual(new Set(eight.map((at) => s.decision(`again-${at}`))), new Set(['adopt_execution']));
  equal(new Set(eight.map((at) => s.execution(`again-${at}`))).size, 8);
  equal(s.executions(), 8);
});

scene('eight equal calls in line that all time out keep eight places', (start) => {
  const s = start({ room: 1 });
  s.arrive('other', { fingerprint: 'other' });
  for (const at of eight) s.arrive(`try-${at}`, PYTHON);
  s.pass(9_000);
  for (const at of eight) s.leave(`try-${at}`);
  s.pass(400);
  for (const at of eight) s.arrive(`again-${at}`, PYTHON);
  equal(new Set(eight.map((at) => s.call(`again-${at}`))).size, 8);
  equal(s.all('queue').length, 8);
});

scene('another tenant with the same body, key and traceparent gets its own execution', (start) => {
  const s = start();
  const request = { key: 'k', traceparent: '00-1-1-01', retryCount: 1 };
  s.arrive('try', { ...request, tenant: 'acme' });
  s.leave('try');
  s.arrive('foreign', { ...request, tenant: 'rival' });
  notEqual(s.call('foreign'), s.call('try'));
  equal(s.executions(), 2);
});

scene('the same key with another body is another call', (start) => {
  const s = start();
  s.arrive('one', { key: 'k' });
  s.leave('one');
  s.arrive('two', { key: 'k', fingerprint: 'body-2' });
  equal(s.decision('two'), 'new_call');
  equal(s.executions(), 2);
});

scene('an orphan that its client saw part of is adopted only on proof', (start) => {
  for (const [brings, decision] of [
    [{}, 'new_call'],
    [{ key: 'k' }, 'adopt_execution'],
    [{ retryCount: 1 }, 'adopt_execution'],
    [{ userAgent: AGENTS.codex }, 'adopt_execution'],
  ] as const) {
    const s = start({ graceAfterFirstByteMs: 5_000 });
    s.arrive('try', { stream: true, key: 'k' });
    s.stream('try');
    s.leave('try');
    equal(s.ending('try'), 'left_mid_answer');
    s.arrive('again', { stream: true, ...brings });
    equal(s.decision('again'), decision, JSON.stringify(brings));
  }
});

scene('an answer that turns out to be a stream counts as one, whatever was asked for', (start) => {
  const s = start();
  s.arrive('try', { stream: false });
  const execution = s.execution('try');
  s.send({ kind: 'first-byte', execution, stream: true });
  s.send({ kind: 'chunk', execution, bytes: 10 });
  s.leave('try');
  s.arrive('equal', { stream: false });
  equal(s.decision('equal'), 'new_call', 'only proof may adopt what was seen');
  s.pass(1_000);
  equal(s.executionEnding(execution), 'cancelled_grace');
});

scene('an orphan that streamed to nobody may be adopted by any equal', (start) => {
  const s = start();
  s.arrive('try', { stream: true });
  s.leave('try');
  s.stream('try');
  s.arrive('again', { stream: true });
  equal(s.decision('again'), 'adopt_execution');
});

scene('a request with state in the engine is adopted only on proof', (start) => {
  const s = start();
  s.arrive('try', { stateful: true });
  s.leave('try');
  s.arrive('equal', { stateful: true });
  equal(s.decision('equal'), 'new_call');
  s.arrive('again', { stateful: true, retryCount: 1 });
  equal(s.decision('again'), 'adopt_execution');
  equal(s.call('again'), s.call('try'));
});

scene('a count takes over from a listener past its deadline, with a warning', (start) => {
  const s = start();
  s.arrive('try', { ...PYTHON, retryCount: 0 });
  s.pass(10_000);
  s.arrive('again', { ...PYTHON, retryCount: 1 });
  equal(s.decision('again'), 'take_over');
  equal(s.ending('try'), 'taken_over');
  deepEqual(
    s.all('warn').map((one) => one.warning),
    ['listener_taken_over'],
  );
  equal(s.executions(), 1);
});

scene('a count takes nothing over before the deadline, nor from another client or session', (start) => {
  for (const [age, changes] of [
    [9_900, {}],
    [10_000, { userAgent: AGENTS.node }],
    [10_000, { session: 'other' }],
    [10_000, { retryCount: 2 }],
  ] as const) {
    const s = start();
    s.arrive('try', { ...PYTHON, retryCount: 0 });
    s.pass(age);
    s.arrive('again', { ...PYTHON, retryCount: 1, ...changes });
    equal(s.decision('again'), 'new_call_beside_live', JSON.stringify(changes));
    equal(s.ending('try'), undefined);
  }
});

scene(
  'a key takes over once; from the second overlap on it names calls of its own, with a warning',
  (start) => {
    const s = start();
    s.arrive('one', { key: 'k' });
    s.pass(1_000);
    s.arrive('two', { key: 'k' });
    equal(s.decision('two'), 'take_over');
    equal(s.ending('one'), 'taken_over');
    s.pass(1_000);
    s.arrive('three', { key: 'k' });
    equal(s.decision('three'), 'new_call_beside_live');
    equal(s.ending('two'), undefined);
    ok(s.all('warn').some((one) => one.warning === 'key_on_overlapping_attempts'));
  },
);

scene('a retry that came just before its predecessor was seen to leave merges into it', (start) => {
  const s = start();
  s.arrive('try');
  s.pass(10_000);
  s.arrive('again');
  equal(s.decision('again'), 'new_call_beside_live');
  equal(s.executions(), 1, 'held back');
  s.pass(50);
  s.leave('try');
  equal(s.decision('again'), 'late_merge');
  equal(s.call('again'), s.call('try'));
  s.deliver('again');
  equal(s.executions(), 1);
  deepEqual(
    s.all('call-ended').map((one) => one.ending),
    ['merged', 'delivered'],
  );
});

scene('an entry in line merges up to one second late, and not after', (start) => {
  for (const [late, decision] of [
    [1_000, 'late_merge'],
    [1_001, 'new_call_beside_live'],
  ] as const) {
    const s = start({ room: 1 });
    s.arrive('try');
    s.pass(10_000);
    s.arrive('again');
    s.pass(late);
    s.leave('try');
    equal(s.decision('again'), decision);
  }
});

scene('an equal call is held back for no more than a tenth of a second, and a sample not at all', (start) => {
  const s = start();
  s.arrive('old');
  s.pass(10_000);
  s.arrive('equal');
  s.pass(99);
  equal(s.executions('equal'), 0);
  s.pass(1);
  equal(s.executions('equal'), 1);
  s.arrive('sample');
  equal(s.executions('sample'), 1);
});

scene('what only proof may adopt merges with nobody', (start) => {
  const s = start({ room: 1 });
  s.arrive('try', { stream: true });
  s.stream('try');
  s.pass(10_000);
  s.arrive('again', { stream: true });
  s.pass(50);
  s.leave('try');
  equal(s.decision('again'), 'new_call_beside_live');
});

scene('immediate cancellation loses the attach that a grace keeps', (start) => {
  for (const [grace, decision, executions] of [
    ['now', 'rejoin_spent', 2],
    [10_000, 'adopt_execution', 1],
    ['never', 'adopt_execution', 1],
  ] as const) {
    const s = start({ grace });
    s.arrive('try', PYTHON);
    const execution = s.execution('try');
    s.pass(10_000);
    s.leave('try');
    equal(s.executionEnding(execution), grace === 'now' ? 'cancelled_on_leave' : undefined);
    s.pass(3_000);
    s.arrive('again', PYTHON);
    equal(s.decision('again'), decision);
    equal(s.executions(), executions);
  }
});

scene('an orphan is cancelled at the end of its grace, not a millisecond before', (start) => {
  const s = start({ grace: 30_000, learnGrace: false });
  s.arrive('try', { userAgent: AGENTS.python });
  const execution = s.execution('try');
  s.pass(1_000);
  s.leave('try');
  s.pass(29_999);
  equal(s.executionEnding(execution), undefined);
  s.pass(1);
  equal(s.executionEnding(execution), 'cancelled_grace');
});

scene('whoever stops half-way through a stream frees the engine within a second', (start) => {
  const s = start();
  s.arrive('try', { stream: true });
  s.stream('try');
  const execution = s.execution('try');
  s.leave('try');
  s.pass(999);
  equal(s.executionEnding(execution), undefined);
  s.pass(1);
  equal(s.executionEnding(execution), 'cancelled_grace');
});

scene('whoever says that it cancels on leaving frees the engine at once', (start) => {
  const s = start();
  s.arrive('try', { cancelOnLeave: true });
  const execution = s.execution('try');
  s.leave('try');
  equal(s.executionEnding(execution), 'cancelled_on_leave');
});

scene('a request that may not be shared attaches to nothing and ends with its client', (start) => {
  const s = start();
  s.arrive('try', { shareable: false });
  s.arrive('equal', { shareable: false, key: 'k', retryCount: 1 });
  equal(s.decision('equal'), 'new_call_not_shared');
  const execution = s.execution('try');
  s.leave('try');
  equal(s.executionEnding(execution), 'cancelled_on_leave');
});

scene('a finished answer that nobody took is kept two minutes, ten with a key', (start) => {
  for (const [key, kept] of [
    [undefined, 120_000],
    ['k', 600_000],
  ] as const) {
    const s = start();
    s.arrive('try', { key });
    s.leave('try');
    s.finish('try');
    s.pass(kept - 1);
    equal(s.all('forget').length, 0);
    s.pass(1);
    equal(s.all('forget').length, 1);
    equal(s.all('wasted').length, 1);
    s.arrive('again', { key });
    equal(s.decision('again'), 'rejoin_spent', 'its call is remembered, and has nothing left');
  }
});

scene('where nothing is attached no answer is kept, delivered or not', (start) => {
  const s = start({ coalesce: 'off' });
  s.arrive('gone', { key: 'k' });
  s.leave('gone');
  s.finish('gone');
  deepEqual(
    s.all('forget').map((one) => one.execution),
    [s.execution('gone')],
  );
  s.arrive('late', { fingerprint: 'late' });
  s.finish('late');
  s.leave('late');
  equal(s.all('forget').length, 2);
  s.arrive('taken', { fingerprint: 'taken', key: 'k' });
  s.deliver('taken');
  equal(s.all('forget').length, 3);
  equal(s.all('wasted').length, 2);
  s.arrive('again', { key: 'k' });
  equal(s.decision('again'), 'retry_not_attached', 'its call is remembered');
});

scene('a delivered answer is given again only on proof, for five seconds', (start) => {
  for (const [later, brings, decision] of [
    [4_000, { key: 'k' }, 'replay_delivered'],
    [4_000, { traceparent: 't' }, 'replay_delivered'],
    [4_000, { retryCount: 1 }, 'replay_delivered'],
    [4_000, { retryCount: 2 }, 'unknown_predecessor'],
    [4_000, {}, 'new_call'],
    [5_001, { key: 'k' }, 'new_call'],
  ] as const) {
    const s = start();
    s.arrive('try', { key: 'k', traceparent: 't', retryCount: 0 });
    s.finish('try');
    s.handed('try');
    s.pass(250);
    equal(s.ending('try'), 'delivered');
    s.pass(later);
    s.arrive('again', brings);
    equal(s.decision('again'), decision, `${later} ms later with ${JSON.stringify(brings)}`);
  }
});

scene(
  'an answer that went to an equal call is not given again on a count: it may be the count of who lost it',
  (start) => {
    const s = start();
    s.arrive('mine', { retryCount: 0 });
    s.finish('mine');
    s.send({ kind: 'lag', attempt: 'mine' });
    s.pass(1_000);
    s.arrive('equal', { retryCount: 0 });
    equal(s.decision('equal'), 'adopt_answer');
    s.handed('equal');
    s.pass(250);
    equal(s.ending('equal'), 'delivered');
    s.arrive('mine again', { retryCount: 1 });
    equal(s.decision('mine again'), 'unknown_predecessor');
    notEqual(s.execution('mine again'), s.execution('equal'), 'an execution of its own');
  },
);

scene('no-store keeps nothing past delivery, and an undelivered answer until then', (start) => {
  const s = start();
  s.arrive('try', { key: 'k', noStore: true });
  s.deliver('try');
  equal(s.all('forget').length, 1);
  s.arrive('again', { key: 'k', noStore: true });
  equal(s.decision('again'), 'new_call');
});

scene(
  'a connection that breaks within a quarter of a second after the last byte has not received it',
  (start) => {
    const s = start();
    s.arrive('try', { retryCount: 0 });
    s.finish('try');
    s.handed('try');
    s.pass(249);
    s.leave('try');
    equal(s.ending('try'), 'left_unconfirmed');
    s.arrive('again', { retryCount: 1 });
    equal(s.decision('again'), 'adopt_answer');
    equal(s.executions(), 1);
  },
);
