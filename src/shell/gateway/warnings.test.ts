/** Settings that defeat each other are said once each; settings that do not are left in peace. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type GatewaySettings, gatewayConfig } from './config.js';
import { warnings } from './warnings.js';

const said = (settings: GatewaySettings): readonly string[] => warnings(gatewayConfig(settings));

test('the defaults are warned about nothing', () => {
  assert.deepEqual(said({}), []);
});

test('cancelling at once while coalescing is on is said to defeat it', () => {
  for (const grace of ['now', 0, 249] as const) {
    assert.match(
      said({ control: { grace } }).join('\n'),
      /cancelling destroys the work before its retry can find it, so nothing will be attached/,
    );
  }
  assert.deepEqual(said({ control: { grace: 10_000 } }), []);
  assert(
    !said({ control: { grace: 'now', coalesce: 'off' } })
      .join('\n')
      .includes('destroys the work'),
  );
});

test('each pair that defeats itself has its own sentence', () => {
  const cases: [GatewaySettings, RegExp][] = [
    [{ control: { grace: 'never' } }, /keeps the engine busy/],
    [{ control: { coalesce: 'off', budget: { mode: 'off' } } }, /both off/],
    [{ control: { coalesce: 'off' } }, /the retry budget cannot see it/],
    [{ control: { coalesce: 'identical' } }, /parallel samples/],
    [{ control: { retainMs: 0 } }, /thrown away/],
    [{ control: { bounds: { replayBytes: 0 } } }, /no answer can be replayed/],
    [{ control: { order: 'newest-first' } }, /control\.order has no effect/],
    [{ control: { room: 8, bounds: { lineBytes: 1024 } } }, /line_bytes is below request_bytes/],
    [{ control: { lateMergeMs: 10 } }, /late_merge_hold is above/],
    [{ anonymous: 'shared' }, /anonymous is shared/],
    [{ keyHeaders: ['x-request-id'] }, /a retry will look like another call/],
    [{ upstreamTimeouts: { firstByteMs: 30_000 } }, /first_byte is below control\.default_deadline/],
  ];
  for (const [settings, sentence] of cases) {
    const all = said(settings);
    assert.equal(all.length, 1, JSON.stringify([settings, all]));
    assert.match(all[0] ?? '', sentence);
  }
});
