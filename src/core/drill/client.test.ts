/** A client's timers, retries and back-offs, on a virtual clock against a target answered by hand. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Random } from '../chance/random.js';
import { VirtualClock } from '../time/virtual-clock.js';
import { backoffMs, Client } from './client.js';
import { CLIENTS } from './clients.js';
import { type ClientKind, PUBLISHED_CLIENT } from './plan.js';
import type { AttemptRecord, CallRecord } from './record.js';
import type { AttemptListener, AttemptRequest } from './target.js';

function scene(kind: Partial<ClientKind>, seed = 1) {
  const clock = new VirtualClock();
  const requests: AttemptRequest[] = [];
  const listeners: AttemptListener[] = [];
  const attempts: AttemptRecord[] = [];
  const calls: CallRecord[] = [];
  let left = 0;
  const client = new Client(
    {
      index: 0,
      stage: 0,
      atMs: 0,
      promptTokens: 10,
      sharedPrefixTokens: 0,
      responseTokens: 10,
      client: { ...PUBLISHED_CLIENT, ...kind },
    },
    {
      clock,
      seed,
      target: {
        send: (request, listener) => {
          requests.push(request);
          listeners.push(listener);
          return () => (left += 1);
        },
      },
      attemptEnded: (attempt) => attempts.push(attempt),
      callEnded: (call) => calls.push(call),
    },
  );
  client.start();
  return { client, clock, requests, listeners, attempts, calls, left: () => left };
}

test('an unanswered client makes four attempts of 120 s with 0.25 to 3 s between them, then gives up', () => {
  const { clock, attempts, calls, left } = scene({});
  while (clock.step());
  assert.equal(attempts.length, 4);
  assert.equal(left(), 4);
  for (const [at, { sentMs, leftMs, ending }] of attempts.entries()) {
    assert.equal(ending, 'timed_out');
    assert.ok(Math.abs(leftMs - sentMs - 120_000) < 1e-6);
    const before = attempts[at - 1];
    if (before === undefined) continue;
    const gap = sentMs - before.leftMs;
    assert.ok(gap >= 250 && gap < 3_000, `gap ${gap}`);
  }
  assert.deepEqual(
    calls.map(({ delivered, attempts: made }) => [delivered, made]),
    [[false, 4]],
  );
});

test('an answer at the moment of the deadline is an answer', () => {
  const { clock, listeners, calls } = scene({});
  clock.after(120_000, () => listeners[0]?.answered(), 0);
  while (clock.step());
  assert.equal(calls[0]?.delivered, true);
});

test('what comes after a client left is not heard', () => {
  const { clock, listeners, attempts, calls } = scene({ retries: 0 });
  while (clock.step());
  listeners[0]?.answered();
  assert.equal(attempts.length, 1);
  assert.deepEqual(
    calls.map(({ delivered }) => delivered),
    [false],
  );
});

test('a timer on the first byte ends with it, one on silence begins anew with each byte, one on the whole does neither', () => {
  const endsAt = (timer: ClientKind['timer']): number => {
    const { clock, listeners, attempts } = scene({ timer, retries: 0, deadlineSeconds: 10 });
    clock.after(8_000, () => listeners[0]?.bytes());
    clock.after(16_000, () => listeners[0]?.bytes());
    clock.after(40_000, () => listeners[0]?.answered());
    while (clock.step());
    return attempts[0]?.leftMs ?? 0;
  };
  assert.deepEqual([endsAt('whole'), endsAt('silence'), endsAt('first-byte')], [10_000, 26_000, 40_000]);
});

test('a refusal is retried by those who do, at the time told where it is obeyed, and not where it is said so', () => {
  const sentAgainAt = (kind: Partial<ClientKind>, mayRetry?: boolean): number | undefined => {
    const { clock, listeners, attempts } = scene({
      backoff: { kind: 'list', ms: [700] },
      retries: 1,
      ...kind,
    });
    listeners[0]?.refused(429, 5_000, mayRetry);
    clock.runUntil(10_000);
    listeners[1]?.answered();
    return attempts[1]?.sentMs;
  };
  assert.equal(sentAgainAt({}), 700);
  assert.equal(sentAgainAt({ obeysRetryAfterSeconds: 60 }), 5_000);
  assert.equal(sentAgainAt({ obeysRetryAfterSeconds: 4 }), 700);
  assert.equal(sentAgainAt({ retriesRefusals: false }), undefined);
  assert.equal(sentAgainAt({}, false), undefined);
  assert.equal(sentAgainAt({ obeysShouldRetry: false }, false), 700);
});

test('the back-offs of the official SDKs and of agents are the observed ones', () => {
  const random = new Random(1, 'back-offs');
  const sdk = CLIENTS['openai-python']?.backoff;
  assert.ok(sdk !== undefined);
  for (let draw = 0; draw < 200; draw += 1) {
    const waits = [0, 1, 9].map((ordinal) => backoffMs(sdk, ordinal, random));
    const [first, second, tenth] = waits as [number, number, number];
    assert.ok(first >= 375 && first < 500 && second >= 750 && second < 1_000, waits.join());
    assert.ok(tenth >= 6_000 && tenth < 8_000, waits.join());
  }
  assert.equal((CLIENTS['codex']?.retries ?? 0) + 1, 30);
  assert.equal((CLIENTS['qwen-code']?.retries ?? 0) + 1, 28);
  for (const { name, backoff, retries } of Object.values(CLIENTS)) {
    for (let ordinal = 0; ordinal < retries; ordinal += 1) {
      assert.ok(backoffMs(backoff, ordinal, random) >= 0, name);
    }
  }
});

test('two clients of one seed draw their own waits, whatever the other does', () => {
  const gap = (refuseFirst: boolean): number => {
    const { clock, listeners, attempts } = scene({ retries: 1 }, 7);
    if (refuseFirst) listeners[0]?.refused(503);
    while (clock.step());
    return (attempts[1]?.sentMs ?? 0) - (attempts[0]?.leftMs ?? 0);
  };
  assert.ok(Math.abs(gap(true) - gap(false)) < 1e-6);
});

test('headers end a timer on the first byte and feed one on silence, but are no first byte', () => {
  const ended = (timer: ClientKind['timer']): AttemptRecord | undefined => {
    const { clock, listeners, attempts } = scene({ timer, retries: 0, deadlineSeconds: 10 });
    clock.after(8_000, () => listeners[0]?.alive());
    clock.after(40_000, () => listeners[0]?.answered());
    while (clock.step());
    return attempts[0];
  };
  assert.deepEqual(
    (['whole', 'silence', 'first-byte'] as const).map((timer) => ended(timer)?.leftMs),
    [10_000, 18_000, 40_000],
  );
  assert.equal(ended('silence')?.firstByteMs, undefined);
});

test('what the server told of an attempt is in its record, and of that attempt alone', () => {
  const { clock, listeners, attempts } = scene({ retries: 1, backoff: { kind: 'list', ms: [5] } });
  listeners[0]?.told({ reason: 'refused_budget' });
  listeners[0]?.refused(429);
  clock.runUntil(10);
  listeners[1]?.told({ execution: 'e-1' });
  listeners[1]?.told({ outcome: 'attached' });
  listeners[1]?.answered();
  listeners[1]?.told({ execution: 'e-2' });
  assert.deepEqual(
    attempts.map(({ reason, execution, outcome }) => [reason, execution, outcome]),
    [
      ['refused_budget', undefined, undefined],
      [undefined, 'e-1', 'attached'],
    ],
  );
});

test('a retry is due when its back-off is over, a first attempt when it was planned', () => {
  const { clock, requests } = scene({
    backoff: { kind: 'list', ms: [700] },
    retries: 1,
    deadlineSeconds: 10,
  });
  while (clock.step());
  assert.deepEqual(
    requests.map(({ dueMs }) => dueMs),
    [0, 10_700],
  );
});

test('a client that is stopped leaves its attempt or gives up its back-off, and is heard of no more', () => {
  const waiting = scene({});
  waiting.client.stop();
  assert.deepEqual([waiting.attempts[0]?.ending, waiting.left(), waiting.calls.length], ['stopped', 1, 0]);
  const backingOff = scene({});
  backingOff.listeners[0]?.broken();
  backingOff.client.stop();
  for (const { clock } of [waiting, backingOff]) while (clock.step());
  assert.deepEqual([waiting.requests.length, backingOff.requests.length], [1, 1]);
  assert.equal(backingOff.attempts.length, 1);
});
