/** Settings come from flags over environment over file over defaults, and a complaint names the one at fault. */

import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type GatewayConfig, gatewayConfig } from '../gateway/config.js';
import { UserError } from '../shared/errors.js';
import { configurationOf } from './configuration.js';
import { readFlags } from './flags.js';
import { SETTING_FLAGS } from './setting-flags.js';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-serve-'));

function file(text: string): string {
  const path = join(folder, 'gateway.yaml');
  writeFileSync(path, text);
  return path;
}

function config(args: readonly string[], env: Record<string, string> = {}): GatewayConfig {
  return configurationOf(readFlags('serve', SETTING_FLAGS, args), env).config;
}

test('without anything the defaults hold', () => {
  assert.deepEqual(config([]), gatewayConfig());
});

test('every flag sets its setting', () => {
  const args =
    '--host ::1 --port 0 --upstream http://a:1 --upstream http://b:2/ --coalesce off --budget strict --room 8 ' +
    '--order newest-first --capacity 2.78 --grace now --drain 5s --log-level debug';
  assert.deepEqual(
    config(args.split(' ')),
    gatewayConfig({
      host: '::1',
      port: 0,
      upstreams: [{ url: 'http://a:1' }, { url: 'http://b:2' }],
      control: {
        coalesce: 'off',
        budget: { mode: 'strict' },
        room: 8,
        order: 'newest-first',
        capacity: 2.78,
        grace: 'now',
      },
      drainMs: 5_000,
      log: { level: 'debug' },
    }),
  );
});

test('flags win over the environment, it over the file, and the file over the defaults', () => {
  const path = file(
    'port: 1\nupstreams: [{ url: "http://file" }]\nlog: { level: error }\n' +
      'control: { room: 3, budget: { ratio: 0.5 }, bounds: { listeners: 2 } }\n',
  );
  const args = ['--config', path, '--port', '2', '--room', 'off', '--budget', 'strict'];
  const both = config(args, { LOG_LEVEL: 'warn' });
  assert.deepEqual(
    [both.port, both.control.room, both.control.bounds.listeners, both.log.level],
    [2, 'off', 2, 'warn'],
  );
  assert.deepEqual([both.control.budget.mode, both.control.budget.ratio], ['strict', 0.5]);
  assert.deepEqual(both.upstreams, [{ url: 'http://file' }]);
  assert.deepEqual(config([...args, '--upstream', 'http://flag']).upstreams, [{ url: 'http://flag' }]);
  assert.equal(config([...args, '--log-level', 'debug'], { LOG_LEVEL: 'warn' }).log.level, 'debug');
  assert.equal(config(args).log.level, 'error');
});

test('the log level is heard from the environment, our own name first', () => {
  assert.equal(config([], { LOG_LEVEL: 'WARN' }).log.level, 'warn');
  assert.equal(config([], { LOG_LEVEL: 'warn', HOLDFAST_LOG_LEVEL: 'error' }).log.level, 'error');
  assert.equal(config([], { LOG_LEVEL: '', HOLDFAST_LOG_LEVEL: '' }).log.level, 'info');
});

test('a value that does not fit is told by its flag, variable or key', () => {
  const cases: [string[], Record<string, string>, RegExp][] = [
    [['--port', 'http'], {}, /^--port must be a whole number from 0 to 65535, not "http"$/],
    [
      ['--room', 'many'],
      {},
      /^--room must be auto, off, first-token, engine or a whole number from 1 to 1000000, not "many"$/,
    ],
    [
      ['--grace', '60'],
      {},
      /^--grace must be now, never or a duration such as .* \(with its unit: 60s, or 60ms\), not "60"$/,
    ],
    [
      ['--upstream', 'localhost:8000'],
      {},
      /^--upstream must be http\(s\):\/\/host:port .*, not "localhost:8000"$/,
    ],
    [
      ['--upstream', 'http://a/v1'],
      {},
      /^--upstream must be http\(s\):\/\/host:port without .*\/v1 \(clients bring the \/v1 themselves: http:..a\), not "http:\/\/a\/v1"$/,
    ],
    [['--budget', 'none'], {}, /^--budget must be entitlement, strict or off, not "none"$/],
    [['--port', '70000'], {}, /^--port must be a whole number from 0 to 65535, not 70000$/],
    [[], { LOG_LEVEL: 'loud' }, /^LOG_LEVEL must be trace, debug, .* or silent, not "loud"$/],
    [
      ['--config', file('prot: 1')],
      {},
      /gateway\.yaml does not fit:\n {2}line 1: prot is not a setting; did you mean port\?/,
    ],
    [['--config', join(folder, 'nowhere')], {}, /^cannot read the configuration: .*nowhere/],
  ];
  for (const [args, env, message] of cases) {
    assert.throws(
      () => config(args, env),
      (error) => error instanceof UserError && error.exitCode === 2 && message.test(error.message),
      `${args.join(' ')} ${String(message)}`,
    );
  }
});
