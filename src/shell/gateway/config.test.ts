/** A gateway's settings are checked once, at construction, and an option out of its bounds is named. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FIXED_SETTINGS } from '../../core/control/options.js';
import { leavesOf } from '../shared/settings/table.js';
import { type GatewaySettings, gatewayConfig, SETTINGS } from './config.js';

test('what is left out has its default, at every level', () => {
  const config = gatewayConfig({
    control: { budget: { ratio: 0.2 } },
    upstreamTimeouts: { idleMs: 5 },
    log: {},
  });
  assert.equal(config.control.budget.windowMs, 60_000);
  assert.deepEqual(config.upstreamTimeouts, { connectMs: 10_000, firstByteMs: 0, idleMs: 5 });
  assert.equal(config.log.level, 'info');
  assert.equal(config.requestBytes, 32 * 1024 * 1024);
  assert.deepEqual(config.keyHeaders, ['idempotency-key']);
});

test('an option out of its bounds is refused by its own name', () => {
  const cases: [GatewaySettings, RegExp][] = [
    [{ port: -1 }, /^port must be a whole number from 0 to 65535, not -1$/],
    [{ port: Number.NaN }, /^port must be/],
    [{ drainMs: 1e9 }, /^drainMs must be a number from 0 to 3600000/],
    [{ readerBytes: 0 }, /^readerBytes must be/],
    [{ control: { grace: -1 } }, /^control\.grace must be a number from 0 to 3600000, not -1$/],
    [{ control: { bounds: { listeners: 0 } } }, /^control\.bounds\.listeners must be/],
    [{ upstreamTimeouts: { connectMs: -1 } }, /^upstreamTimeouts\.connectMs must be/],
    [{ anonymous: 'everyone' as 'none' }, /^anonymous must be address, shared or none, not "everyone"$/],
    [{ log: { level: 'loud' as 'info' } }, /^log\.level must be/],
  ];
  for (const [settings, message] of cases) {
    assert.throws(() => gatewayConfig(settings), { name: 'RangeError', message });
  }
});

test('the file’s word on what may change while running is the control’s', () => {
  const restart = leavesOf(SETTINGS.control)
    .filter(({ setting }) => setting.changes === 'restart')
    .map(({ names }) => names.join('.'));
  const { control, budget, bounds } = FIXED_SETTINGS;
  const fixed = [
    ...control,
    ...budget.map((name) => `budget.${name}`),
    ...bounds.map((name) => `bounds.${name}`),
  ];
  assert.deepEqual(restart.toSorted(), fixed.toSorted());
});
