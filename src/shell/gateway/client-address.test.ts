/** A client's address is believed as far as trusted proxies say it, and no client can choose its own. */

import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { incoming } from '../../../tests/support/incoming.js';
import { clientAddress, type ProxySettings, readNetwork } from './client-address.js';

const TRUSTED = ['10.0.0.0/8', '::1', '2001:db8::/32'];

function address(
  remote: string,
  values: readonly string[],
  forwardedHeader: ProxySettings['forwardedHeader'] = 'x-forwarded-for',
  trustedProxies: readonly string[] = TRUSTED,
): string {
  const headers = values.map((value) => [forwardedHeader, value] as const);
  return clientAddress(incoming(headers, remote), { trustedProxies, forwardedHeader });
}

test('the nearest address that is no trusted proxy is the client', () => {
  const cases: [remote: string, values: string[], address: string][] = [
    ['10.1.1.1', ['203.0.113.7'], '203.0.113.7'],
    ['10.1.1.1', ['6.6.6.6, 203.0.113.7, 10.2.2.2'], '203.0.113.7'],
    ['10.1.1.1', ['6.6.6.6', '203.0.113.7'], '203.0.113.7'],
    ['::ffff:10.1.1.1', ['203.0.113.7:4711'], '203.0.113.7'],
    ['::1', ['[2001:db9::5]:80'], '2001:db9::5'],
    ['2001:db8::9', ['2001:db9::5'], '2001:db9::5'],
    ['10.1.1.1', ['10.3.3.3, 10.2.2.2'], '10.3.3.3'],
    ['10.1.1.1', [], '10.1.1.1'],
  ];
  deepEqual(
    cases.map(([remote, values]) => address(remote, values)),
    cases.map(([, , expected]) => expected),
  );
});

test('whoever is not trusted is not believed, nor is what is no address', () => {
  equal(address('203.0.113.7', ['6.6.6.6']), '203.0.113.7');
  equal(address('10.1.1.1', ['6.6.6.6'], 'x-forwarded-for', []), '10.1.1.1');
  for (const odd of ['unknown', '', '_hidden', '6.6.6.6, nobody', '999.1.1.1'])
    equal(address('10.1.1.1', [odd]), '10.1.1.1', odd);
});

test('Forwarded is read as RFC 7239 has it', () => {
  const said = 'for=6.6.6.6, for="[2001:db9::5]:4711";proto=https, by=x;for=10.2.2.2';
  equal(address('10.1.1.1', [said], 'forwarded'), '2001:db9::5');
  equal(address('10.1.1.1', ['proto=https'], 'forwarded'), '10.1.1.1');
});

test('networks are addresses with or without a length', () => {
  deepEqual(
    [
      '10.0.0.0/8',
      '::1',
      ' 1.2.3.4 ',
      'fe80::/010',
      '10.0.0.0/33',
      '10.0.0/8',
      'x',
      '1.2.3.4/',
      '1.2.3.4/8/8',
    ].map((raw) => readNetwork(raw)),
    ['10.0.0.0/8', '::1', '1.2.3.4', 'fe80::/10', undefined, undefined, undefined, undefined, undefined],
  );
});
