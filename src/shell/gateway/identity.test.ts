/** Who asks: nothing crosses a tenant, and only what is proof is taken for proof. */

import { deepEqual, equal, match, notEqual } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { incoming } from '../../../tests/support/incoming.js';
import { gatewayConfig } from './config.js';
import { type Identity, type IdentitySettings, identityOf, unquoted } from './identity.js';

const SECRET = 'secret';

function identity(
  headers: Record<string, string> | [string, string][],
  settings: Partial<IdentitySettings> = {},
  address?: string,
): Identity {
  const list = Array.isArray(headers) ? headers : Object.entries(headers);
  return identityOf(incoming(list, address), { ...gatewayConfig(), ...settings }, SECRET);
}

describe('the tenant', () => {
  test('is the credential, whatever else the request says', () => {
    const one = identity({ authorization: 'Bearer a', 'user-agent': 'x' }).tenant;
    equal(identity({ authorization: 'Bearer a' }, {}, '192.0.2.9').tenant, one);
    match(one, /^[\da-f]{32}$/);
  });

  test('differs for another credential, under another name, or with a second one', () => {
    const tenants = [
      identity({ authorization: 'Bearer a' }),
      identity({ authorization: 'Bearer b' }),
      identity({ 'x-api-key': 'Bearer a' }),
      identity({ 'api-key': 'Bearer a' }),
      identity({ authorization: 'Bearer a', 'x-api-key': 'b' }),
      identity([
        ['authorization', 'Bearer a'],
        ['authorization', 'Bearer b'],
      ]),
      identity({}),
    ].map(({ tenant }) => tenant);
    equal(new Set(tenants).size, tenants.length);
  });

  test('is divided by the configured headers, whose values cannot be shifted from one to the next', () => {
    const settings = { tenantHeaders: ['x-team', 'x-project'] };
    const of = (headers: Record<string, string>): string =>
      identity({ authorization: 'a', ...headers }, settings).tenant;
    const tenants = [of({}), of({ 'x-team': 'a' }), of({ 'x-project': 'a' }), of({ 'x-team': 'b' })];
    equal(new Set(tenants).size, tenants.length);
    equal(of({ 'x-team': 'a', 'x-other': 'c' }), of({ 'x-team': 'a' }));
  });

  test('without a credential is the address, or shared, or shares nothing', () => {
    equal(identity({}).tenant, identity({}).tenant);
    notEqual(identity({}).tenant, identity({}, {}, '192.0.2.9').tenant);
    const shared = { anonymous: 'shared' } as const;
    equal(identity({}, shared).tenant, identity({}, shared, '192.0.2.9').tenant);
    equal(identity({}, shared).shareable, true);
    equal(identity({}, { anonymous: 'none' }).shareable, false);
    equal(identity({ authorization: 'a' }, { anonymous: 'none' }).shareable, true);
  });

  test('is not made by a header that holds no credential', () => {
    for (const authorization of ['', ' ', 'Bearer', 'bearer ', 'Basic']) {
      equal(identity({ authorization }).tenant, identity({}).tenant, authorization);
      equal(
        identity({ authorization, 'x-api-key': '' }, { anonymous: 'none' }).shareable,
        false,
        authorization,
      );
    }
  });

  test('shares nothing when the configured end user is missing', () => {
    const settings = { endUserHeader: 'x-user' };
    equal(identity({ authorization: 'a' }, settings).shareable, false);
    const ann = identity({ authorization: 'a', 'x-user': 'ann' }, settings);
    equal(ann.shareable, true);
    notEqual(ann.tenant, identity({ authorization: 'a', 'x-user': 'bob' }, settings).tenant);
  });
});

describe('the key', () => {
  test('is the same bare and quoted', () => {
    equal(identity({ 'idempotency-key': 'a-1' }).key, identity({ 'idempotency-key': '"a-1"' }).key);
    notEqual(identity({ 'idempotency-key': 'a-1' }).key, identity({ 'idempotency-key': 'a-2' }).key);
    deepEqual(['"a\\"b\\\\"', '"a"b"', '"a', 'a"'].map(unquoted), ['a"b\\', '"a"b"', '"a', 'a"']);
  });

  test('comes only from the configured headers', () => {
    for (const name of ['x-request-id', 'x-client-request-id', 'x-correlation-id']) {
      equal(identity({ [name]: 'a' }).key, undefined, name);
    }
    notEqual(identity({ 'x-call': 'a' }, { keyHeaders: ['x-call'] }).key, undefined);
    equal(identity({ 'idempotency-key': '  ' }).key, undefined);
  });

  test('is never kept as it was written', () => {
    const { key, session } = identity({ 'idempotency-key': 'secret-key', 'session-id': 'secret-session' });
    match(key ?? '', /^[\da-f]{32}$/);
    match(session ?? '', /^[\da-f]{32}$/);
  });
});

test('a traceparent counts only when it is one', () => {
  const good = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  equal(identity({ traceparent: good }).traceparent, good);
  for (const bad of [
    '',
    'a',
    good.replace('4bf92f3577b34da6a3ce929d0e0e4736', '0'.repeat(32)),
    `${good}0`,
    good.slice(1),
  ]) {
    equal(identity({ traceparent: bad }).traceparent, undefined, bad);
  }
});

test('a retry count counts only when it is one', () => {
  const counts = ['0', '3', '10', '-1', '1.5', 'two', '99999', ' 2 '].map(
    (text) => identity({ 'x-stainless-retry-count': text }).retryCount,
  );
  deepEqual(counts, [0, 3, 10, undefined, undefined, undefined, undefined, 2]);
});

test('a user agent is kept up to a bound', () => {
  equal(identity({ 'user-agent': 'x'.repeat(5_000) }).userAgent.length, 256);
});
