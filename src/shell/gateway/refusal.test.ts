/** The table of refusals: what each family of clients is told, for every ending that the gateway answers itself. */

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { FAMILIES, MANNERS } from '../../core/control/family.js';
import { ATTEMPT_ENDINGS } from '../../core/control/words.js';
import { errorBody } from './error-body.js';
import { isOwnEnding, type OwnEnding, refusal } from './refusal.js';

const OWN = ATTEMPT_ENDINGS.filter((ending): ending is OwnEnding => isOwnEnding(ending));

test('no client is ever told 408, 409 or 529, which SDKs take for an invitation', () => {
  for (const ending of OWN) {
    for (const family of FAMILIES) {
      for (const mayRetry of [true, false]) {
        const { status, headers } = refusal(ending, family, { mayRetry, retryAfterMs: 5_000 });
        ok([400, 401, 404, 413, 429, 502, 503, 504].includes(status), `${ending} ${family}`);
        equal(headers['x-holdfast-reason'], ending);
      }
    }
  }
});

test('contention is 429, no capacity 503, a time limit 504', () => {
  const statuses = Object.fromEntries(
    OWN.map((ending) => [ending, refusal(ending, 'unknown', { mayRetry: true }).status]),
  );
  deepEqual(statuses, {
    refused_budget: 429,
    refused_guard: 429,
    refused_line_full: 429,
    refused_line_bytes: 429,
    refused_listeners: 429,
    refused_calls: 503,
    refused_model: 404,
    refused_draining: 503,
    taken_over: 503,
    gave_up: 504,
    slow_reader: 503,
    upstream_refused: 503,
    upstream_unavailable: 503,
    upstream_reset: 502,
    upstream_truncated: 502,
    upstream_timeout: 504,
    upstream_malformed: 502,
    drained: 503,
    rejected_too_large: 413,
    rejected_malformed: 400,
    rejected_bodies_full: 429,
    rejected_too_slow: 400,
    rejected_key: 401,
    rejected_tenant_full: 429,
    rejected_tenant_bytes: 429,
  });
});

test('clients that stop on 429 get 503 while a later attempt can make it, and 429 without a time when none can', () => {
  for (const family of FAMILIES) {
    const later = refusal('refused_budget', family, { mayRetry: true, retryAfterMs: 3_000 });
    const never = refusal('gave_up', family, { mayRetry: false, retryAfterMs: 3_000 });
    equal(later.status, MANNERS[family].stopsOn429 ? 503 : 429, family);
    equal(later.headers['x-should-retry'], undefined);
    equal(later.headers['retry-after'], '3');
    equal(never.headers['x-should-retry'], 'false');
    equal(never.status, MANNERS[family].stopsOn429 ? 429 : 504, family);
    equal(never.headers['retry-after'], MANNERS[family].stopsOn429 ? undefined : '3');
  }
});

test('the time to wait is whole seconds from 1 to 59, and the same to the millisecond', () => {
  const said = [1, 999, 1_000, 1_001, 4_200.6, 58_999, 59_000, 59_001, 600_000].map((retryAfterMs) => {
    const { headers } = refusal('refused_budget', 'unknown', { mayRetry: true, retryAfterMs });
    match(headers['retry-after'] ?? '', /^([1-9]|[1-5]\d)$/);
    return `${headers['retry-after']} ${headers['retry-after-ms']}`;
  });
  deepEqual(said, [
    '1 1',
    '1 999',
    '1 1000',
    '2 1001',
    '5 4201',
    '59 58999',
    '59 59000',
    '59 59000',
    '59 59000',
  ]);
});

test('a request that is wrong in itself is not called retryable or not', () => {
  equal(refusal('rejected_too_large', 'unknown', { mayRetry: false }).headers['x-should-retry'], undefined);
});

test('no message talks of a quota, which some clients take for a reason to give up', () => {
  for (const ending of OWN)
    ok(!/quota|billing|exceeded your/i.test(refusal(ending, 'unknown', { mayRetry: true }).message));
});

test('the body has the shape of the API that was called', () => {
  deepEqual(JSON.parse(errorBody('openai', 429, 'refused_budget', 'No.').toString()), {
    error: { message: 'No.', type: 'rate_limit_error', param: null, code: 'refused_budget' },
  });
  deepEqual(JSON.parse(errorBody('anthropic', 503, 'refused_calls', 'No.').toString()), {
    type: 'error',
    error: { type: 'overloaded_error', message: 'No.', code: 'refused_calls' },
  });
});
