/** Settings that defeat each other are said once each; settings that do not are left in peace. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leavesOf } from '../shared/settings/table.js';
import { type GatewaySettings, gatewayConfig, SETTINGS } from './config.js';
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

const KEY = `sha256:${'0'.repeat(64)}`;
const CASES: readonly (readonly [GatewaySettings, RegExp])[] = [
  [
    { upstreams: [{ url: 'http://a' }], control: { affinity: 'session', room: 8 } },
    /no effect while there is one/,
  ],
  [{ control: { affinity: 'prefix', room: 'off' } }, /always has room/],
  [
    { upstreams: [{ url: 'http://a' }, { url: 'http://b', models: ['m'] }] },
    /is sent every model, m included/,
  ],
  [{ upstreams: [{ url: 'https://a', credential: 'k' }] }, /whoever reaches the gateway uses that key/],
  [
    { upstreams: [{ url: 'http://a', credential: 'k' }], allowedKeysFile: 'keys' },
    /goes over the network as it is/,
  ],
  [{ upstreams: [{ url: 'https://a', verify: false }] }, /verify is false/],
  [{ upstreams: [{ url: 'http://a', serverName: 'b' }] }, /no TLS is spoken/],
  [{ control: { health: { restMs: 11_000 } } }, /longest_rest, which is then/],
  [{ control: { health: { answerMarginMs: 5_000 } } }, /answer_margin is not below/],
  [{ repeatBytes: 0 }, /no request is kept/],
  [{ control: { room: 8, classes: [] }, tenants: [{ key: KEY, maxClass: 'gold' }] }, /has fewer than two/],
  [
    { control: { room: 'off', maxClass: 'standard' } },
    /max_class .* has no effect while control\.room is off/,
  ],
  [{ control: { room: 8, maxClass: 'batch' } }, /max_class is below control\.default_class/],
  [{ control: { room: 8, maxClass: 'interactive' } }, /one client can put off everybody/],
  [{ control: { grace: 'never' } }, /keeps the engine busy/],
  [{ control: { coalesce: 'off', budget: { mode: 'off' } } }, /both off/],
  [{ control: { coalesce: 'off' } }, /the retry budget cannot see it/],
  [{ control: { coalesce: 'identical' } }, /parallel samples/],
  [{ control: { retainMs: 0 } }, /thrown away/],
  [{ control: { bounds: { replayBytes: 0 } } }, /no answer can be replayed/],
  [{ control: { order: 'newest-first', room: 'off' } }, /control\.order has no effect/],
  [{ control: { room: 8, bounds: { lineBytes: 1024 } } }, /line_bytes is below request_bytes/],
  [{ control: { lateMergeMs: 10 } }, /late_merge_hold is above/],
  [{ cors: { credentials: true } }, /cors\.credentials has no effect/],
  [{ cors: { credentials: true, origins: ['https://a.example', '*'] } }, /cors\.credentials has no effect/],
  [{ tls: { certFile: 'a.pem' } }, /belong together/],
  [{ tls: { keyFile: 'a.key' } }, /belong together/],
  [{ anonymous: 'shared' }, /anonymous is shared/],
  [{ keyHeaders: ['x-request-id'] }, /a retry will look like another call/],
  [{ upstreamTimeouts: { firstByteMs: 30_000 } }, /first_byte is below control\.default_deadline/],
  [{ upstreamTimeouts: { connectMs: 61_000 } }, /connect is above control\.default_deadline/],
  [{ control: { budget: { ratio: 0, floor: 0 } } }, /ratio and floor are both 0/],
  [{ control: { budget: { ratio: 1 } } }, /bounds next to nothing/],
  [
    { control: { capacity: 2.78, budget: { floor: 5 } } },
    /floor has no effect while control\.capacity is known/,
  ],
  [
    { control: { defaultDeadlineMs: 1_000 }, upstreamTimeouts: { connectMs: 900 } },
    /default_deadline is below control\.least_deadline/,
  ],
  [{ control: { grace: 500 } }, /grace_after_first_byte is above control\.grace/],
  [{ control: { retainKeyedMs: 60_000 } }, /retain_keyed is below control\.retain/],
  [
    { control: { bounds: { liveReplayBytes: 1024 } } },
    /replay_bytes is above control\.bounds\.live_replay_bytes/,
  ],
  [{ control: { bounds: { retainedBytes: 2 * 1024 * 1024 } } }, /dropped when it is whole/],
  [{ control: { room: 8, bounds: { lineEntries: 0 } } }, /nobody can wait/],
  [{ control: { room: 8, bounds: { lineWaitMs: 10_000 } } }, /line_wait is below control\.default_deadline/],
  [{ control: { room: 8, bounds: { calls: 100 } } }, /refused before the line is full/],
  [
    { tenantHeaders: ['x-a', 'x-a'], sessionHeaders: ['x-a'] },
    /^x-a \(tenant_headers, session_headers\): one header is read with two meanings/,
  ],
  [{ keyHeaders: ['x-request-deadline'] }, /x-request-deadline \(key_headers, deadline_header\)/],
  [{ upstreams: [{ url: 'http://a:1' }, { url: 'http://a:1' }] }, /an engine twice/],
  [{ upstreams: [{ url: 'http://localhost:8900' }] }, /come back to it without end/],
  [{ host: '0.0.0.0', upstreams: [{ url: 'http://127.0.0.1:8900/x' }] }, /come back to it without end/],
  [{ host: '::1', upstreams: [{ url: 'http://[::1]:8900' }] }, /come back to it without end/],
  [{ port: 80, host: 'gw', upstreams: [{ url: 'http://gw' }] }, /come back to it without end/],
  [{ routes: ['/v1/messages'] }, /calls in any case/],
  [{ drainMs: 0 }, /cuts every answer that is under way/],
  [{ log: { level: 'silent' } }, /seen in holdfast_config_reloads_total alone/],
];

test('each pair that defeats itself has its own sentence', () => {
  for (const [settings, sentence] of CASES) {
    const all = said(settings);
    assert.equal(all.length, 1, JSON.stringify([settings, all]));
    assert.match(all[0] ?? '', sentence);
  }
});

test('what is near to defeating itself and does not is left in peace', () => {
  const cases: GatewaySettings[] = [
    { upstreams: [{ url: 'http://127.0.0.1:8000' }] },
    { port: 0, upstreams: [{ url: 'http://127.0.0.1:80' }] },
    { port: 8000, upstreams: [{ url: 'http://engine:8000' }] },
    { host: '0.0.0.0', upstreams: [{ url: 'http://10.0.0.7:8900' }] },
    { control: { capacity: 2.78 } },
    { control: { budget: { ratio: 0, floor: 0, mode: 'off' } } },
    { control: { room: 'off', bounds: { lineWaitMs: 10_000, calls: 100 } } },
    { routes: ['/v1/score'] },
  ];
  for (const settings of cases) assert.deepEqual(said(settings), [], JSON.stringify(settings));
});

test('sharing by twos with room for one listener is said beside what sharing does', () => {
  const all = said({ control: { coalesce: 'identical', bounds: { listeners: 1 } } });
  assert.equal(all.length, 2);
  assert.match(all[1] ?? '', /no second request can share an execution/);
});

test('a warning names keys that there are', () => {
  const known = new Set(
    leavesOf(SETTINGS).flatMap(({ keys }) => keys.map((_, at) => keys.slice(0, at + 1).join('.'))),
  );
  const words = CASES.flatMap(([settings]) => said(settings)).flatMap(
    (text) => text.match(/\b(?:control|upstream_timeouts|log)\.[a-z_.]+[a-z]/g) ?? [],
  );
  assert(words.length > 30);
  for (const word of words) assert(known.has(word), `${word} is no key`);
});
