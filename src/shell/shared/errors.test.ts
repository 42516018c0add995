/** An error that its reader can put right says how, and its exit code says whose hands it is in. */

import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { listenError, UserError } from './errors.js';

test('usage and configuration errors exit with 2, failures of the moment with 1', () => {
  assert.equal(new UserError('bad_usage', 'x').exitCode, 2);
  assert.equal(new UserError('config_invalid', 'x').exitCode, 2);
  assert.equal(new UserError('port_in_use', 'x').exitCode, 1);
});

test('a port in use is named with what to do', async () => {
  const first = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => first.once('listening', resolve));
  const address = first.address();
  assert(address !== null && typeof address === 'object');
  const cause = await new Promise((resolve) => {
    createServer().once('error', resolve).listen(address.port, '127.0.0.1');
  });
  first.close();
  const error = listenError(cause, '127.0.0.1', address.port);
  assert(error instanceof UserError);
  assert.equal(error.code, 'port_in_use');
  assert.equal(
    error.message,
    `cannot listen on 127.0.0.1:${address.port}: something else does; choose another with --port`,
  );
});

test('an address that is not ours and one that is not allowed are told apart', () => {
  const failure = (code: string): unknown => listenError(Object.assign(new Error(code), { code }), 'h', 80);
  assert.match(String(failure('EADDRNOTAVAIL')), /not an address of this machine/);
  assert.match(String(failure('EACCES')), /not allowed/);
  const other = new Error('else');
  assert.equal(listenError(other, 'h', 80), other);
});
