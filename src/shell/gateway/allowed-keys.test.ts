/** Only whoever brings a key of the file comes in, whichever header it stands in. */

import { deepEqual, equal, throws } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { incoming } from '../../../tests/support/incoming.js';
import { parseAllowedKeys, readAllowedKeys } from './allowed-keys.js';

const request = (headers: Record<string, string[]>): IncomingMessage =>
  incoming(
    Object.entries(headers).flatMap(([name, values]) => values.map((value) => [name, value] as const)),
  );

test('a key may stand in each of the headers that APIs use, and as its hash in the file', () => {
  const hashed = createHash('sha256').update('sk-b').digest('hex');
  const keys = parseAllowedKeys(`# ours\nsk-a\r\n\n sha256:${hashed} \n`, 'keys');
  equal(keys.size, 2);
  const cases: [Record<string, string[]>, boolean][] = [
    [{ authorization: ['Bearer sk-a'] }, true],
    [{ authorization: ['bearer  sk-b'] }, true],
    [{ 'x-api-key': ['sk-b'] }, true],
    [{ 'api-key': ['sk-a'] }, true],
    [{}, false],
    [{ authorization: ['Bearer '] }, false],
    [{ authorization: ['Bearer sk-'] }, false],
    [{ authorization: ['Bearer sk-aa'] }, false],
    [{ authorization: ['Basic sk-a'] }, false],
    [{ authorization: [`Bearer sha256:${hashed}`] }, false],
    [{ authorization: ['Bearer sk-a'], 'x-api-key': ['another'] }, false],
  ];
  deepEqual(
    cases.map(([headers]) => keys.allows(request(headers))),
    cases.map(([, allowed]) => allowed),
  );
});

test('a file that is wrong is refused with its line, and no key is repeated', () => {
  for (const [text, message] of [
    ['', /^keys: has no key/],
    ['# nothing\n', /^keys: has no key/],
    ['a\nsecret two\n', /^keys: line 2: a key has no space inside; one key a line$/],
    ['sha256:12', /^keys: line 1: behind sha256: there must be 64 hexadecimal digits$/],
    ['k'.repeat(5_000), /^keys: line 1: a key has at most 4096 bytes$/],
  ] as const) {
    throws(() => parseAllowedKeys(text, 'keys'), { message });
  }
  throws(() => readAllowedKeys('/nowhere/keys'), { message: /^cannot read the allowed keys: .*ENOENT$/ });
});
