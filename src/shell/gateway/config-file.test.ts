/** The configuration file is read strictly, and whatever does not fit is explained where it stands. */

import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { UserError } from '../shared/errors.js';
import { fileView, type GatewayConfig, type GatewaySettings, gatewayConfig } from './config.js';
import { readConfigFile, readSettings } from './config-file.js';

/** The configuration of `text` alone. */
function read(text: string, env: Readonly<Record<string, string>> = {}): GatewayConfig {
  return gatewayConfig(readSettings(text, 'gateway.yaml', env));
}

/** The complaint about `text`, which must be refused. */
function complaint(text: string, env: Readonly<Record<string, string>> = {}): string {
  return refusal(() => read(text, env));
}

function refusal(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    assert(error instanceof UserError, String(error));
    assert.equal(error.exitCode, 2);
    return error.message;
  }
  return assert.fail('nothing was refused');
}

const EVERYTHING: GatewaySettings = {
  host: '::1',
  port: 0,
  upstreams: [{ url: 'http://127.0.0.1:8000' }, { url: 'https://engine.example/prefix' }],
  anonymous: 'none',
  tenants: [{ key: `sha256:${'1'.repeat(64)}`, weight: 2, maxClass: 'gold' }],
  tenantHeaders: ['x-tenant'],
  endUserHeader: 'x-end-user',
  keyHeaders: ['x-call'],
  sessionHeaders: [],
  classHeaders: ['x-class'],
  deadlineHeader: 'x-deadline',
  routes: ['/v1/score'],
  control: {
    coalesce: 'identical',
    order: 'newest-first',
    classes: ['gold', 'silver'],
    defaultClass: 'silver',
    maxClass: 'gold',
    room: 256,
    budget: { mode: 'strict', ratio: 0.2, windowMs: 10_000, floor: 2.5 },
    capacity: 2.78,
    grace: 'never',
    graceAfterFirstByteMs: 1_500,
    learnGrace: false,
    lateMergeMs: 900,
    lateMergeHoldMs: 0,
    deliveredAfterMs: 300,
    retainMs: 90_000,
    retainKeyedMs: 3_600_000,
    replayDeliveredMs: 1,
    defaultDeadlineMs: 120_000,
    leastDeadlineMs: 2_000,
    bounds: {
      lineEntries: 100,
      lineBytes: 1,
      lineWaitMs: 60_000,
      replayBytes: 1024,
      liveReplayBytes: 2048,
      retainedBytes: 4096,
      retainedTenantShare: 0.25,
      tenants: 10,
      learnedKeys: 11,
      listeners: 12,
      calls: 13,
    },
  },
  requestBytes: 1000,
  upstreamTimeouts: { connectMs: 1_000, firstByteMs: 600_000, idleMs: 0 },
  drainMs: 0,
  readerBytes: 65_536,
  log: { level: 'debug' },
};

describe('configuration file', () => {
  test('an empty file leaves every default in place', () => {
    for (const text of ['', '# nothing\n', '{}']) {
      assert.deepEqual(read(text), gatewayConfig());
    }
  });

  test('every setting can be set, and the view of a configuration reads back as itself', () => {
    for (const settings of [{}, EVERYTHING]) {
      const config = gatewayConfig(settings);
      assert.deepEqual(read(stringify(fileView(config))), config);
      assert.deepEqual(read(JSON.stringify(fileView(config))), config);
    }
  });

  test('a file as people write it is read', () => {
    const config = read(
      [
        'port: 8901',
        'upstreams:',
        '  - url: http://127.0.0.1:8000/',
        'control:',
        '  room: auto',
        '  grace: 10s',
        '  budget: { mode: strict, window: 1m }',
        '  bounds:',
        '    line_bytes: 64MiB',
        'upstream_timeouts: { first_byte: off }',
        'key_headers: [Idempotency-Key, X-Call-Id]',
      ].join('\n'),
    );
    assert.equal(config.port, 8901);
    assert.deepEqual(config.upstreams, [{ url: 'http://127.0.0.1:8000' }]);
    assert.equal(config.control.grace, 10_000);
    assert.deepEqual(config.control.budget, { mode: 'strict', ratio: 0.1, windowMs: 60_000, floor: 1 });
    assert.equal(config.control.bounds.lineBytes, 64 * 1024 * 1024);
    assert.equal(config.upstreamTimeouts.firstByteMs, 0);
    assert.deepEqual(config.keyHeaders, ['idempotency-key', 'x-call-id']);
  });

  test('a class is read in lower case, and one that there is not is refused by its place', () => {
    const classes = 'control: { classes: [Gold, silver], default_class: SILVER }';
    assert.deepEqual(read(classes).control.classes, ['gold', 'silver']);
    assert.throws(() => read('control: { default_class: gold }'), {
      name: 'RangeError',
      message: 'control.default_class must be one of the classes interactive, standard, batch, not gold',
    });
    const tenant = `tenants: [{ key: "sha256:${'1'.repeat(64)}", max_class: bronze }]`;
    assert.throws(() => read(`${classes}\n${tenant}`), {
      name: 'RangeError',
      message: 'tenants[0].max_class must be one of the classes gold, silver, not bronze',
    });
    assert.match(
      complaint('control: { classes: [a, b, c, d, e, f, g, h, i] }'),
      /classes must have at most 8 entries/,
    );
    assert.match(complaint('control: { classes: [very good] }'), /must be the name of a class of calls/);
  });

  test('an unknown key is refused with its line, its path and the nearest key', () => {
    const text = 'port: 1\ncontrol:\n  bounds:\n    line_entires: 10\n';
    assert.match(
      complaint(text),
      /line 4: control\.bounds\.line_entires is not a setting; did you mean line_entries\?/,
    );
    assert.match(complaint('controll: {}'), /line 1: controll is not a setting; did you mean control\?/);
    assert.match(complaint('nonsense: 3'), /known here: host, port, upstreams/);
    assert.match(
      complaint('lineEntries: 3'),
      /lineEntries is not a setting; did you mean control\.bounds\.line_entries\?/,
    );
    assert.match(
      complaint('upstreams: [{ uri: "http://a" }]'),
      /upstreams\.0\.uri is not a setting; did you mean url\?/,
    );
    assert.match(complaint('__proto__: 1'), /__proto__ is not a setting/);
    assert.match(complaint('control: { constructor: 1 }'), /control\.constructor is not a setting/);
  });

  test('camel case is told its spelling in the file', () => {
    assert.match(complaint('control: { learnGrace: true }'), /did you mean learn_grace\?/);
    assert.match(complaint('control: { grace_ms: 60s }'), /did you mean grace\?/);
  });

  test('a value of the wrong form is refused with what would be right', () => {
    const cases: [string, RegExp][] = [
      [
        'control: { grace: 60 }',
        /control\.grace must be now, never or a duration such as .* \(with its unit: 60s, or 60ms\), not 60/,
      ],
      ['control: { grace: "60 s" }', /not "60 s"/],
      [
        'control: { room: many }',
        /control\.room must be auto, off, first-token, engine or a whole number from 1 to 1000000, not "many"/,
      ],
      [
        'control: { room: 1.5 }',
        /control\.room must be auto, off, first-token, engine or a whole number from 1 to 1000000, not 1\.5/,
      ],
      ['control: { coalesce: on }', /must be off, adopt or identical, not "on"/],
      ['control: { learn_grace: "yes" }', /must be true or false, not "yes"/],
      ['control: 5', /control must be a mapping of keys such as coalesce, order, margin, not 5/],
      [
        'control: { budget: { ratio: 10% } }',
        /control\.budget\.ratio must be a number from 0 to 10 \(a share: 0\.1\), not "10%"/,
      ],
      [
        'control: { capacity: .nan }',
        /control\.capacity must be a number from 0\.000001 to 1000000, not NaN/,
      ],
      ['control: { bounds: { replay_bytes: 2097152 } }', /must be a size such as .*, not 2097152/],
      ['upstream_timeouts: { idle: 0 }', /upstream_timeouts\.idle must be off or a duration/],
      ['upstreams: http://a', /upstreams must be a list of engines, such as .*, not "http:\/\/a"/],
      ['upstreams: [http://a]', /upstreams\.0 must be a mapping such as .*, not "http:\/\/a"/],
      ['upstreams: [{}]', /upstreams\.0 must have a url/],
      ['upstreams: [{ url: "ftp://a" }]', /upstreams\.0\.url must be http\(s\):\/\/host:port/],
      ['upstreams: [{ url: "http://a/v1" }]', /without credentials, query or \/v1/],
      ['tenant_headers: ["x tenant"]', /tenant_headers\.0 must be the name of a header/],
      ['routes: [v1/score]', /routes\.0 must be a path that begins with a slash/],
      ['port:', /port must be a whole number from 0 to 65535, not nothing/],
      ['host: http://a', /host must be a host name/],
      ['log: { level: loud }', /log\.level must be trace, debug, info, warn, error, fatal or silent/],
      ['[1, 2]', /the file must be a mapping of keys such as .*, not \[1,2\]/],
      [`routes: [${Array(65).fill('/a').join(', ')}]`, /routes must have at most 64 entries, not 65/],
    ];
    for (const [text, expected] of cases) assert.match(complaint(text), expected, text);
  });

  test('a value out of its bounds is refused in the words and units of the file', () => {
    const cases: [string, RegExp][] = [
      ['port: 70000', /line 1: port must be a whole number from 0 to 65535, not 70000$/],
      ['control: { grace: 2h }', /control\.grace must be now, never or a duration from 0ms to 1h, not "2h"$/],
      [
        'control: { room: 0 }',
        /control\.room must be auto, off, first-token, engine or a whole number from 1 to 1000000, not 0$/,
      ],
      [
        'control: { budget: { window: 1ms } }',
        /budget\.window must be a duration from 60ms to 1h, not "1ms"$/,
      ],
      ['request_bytes: 0B', /request_bytes must be a size from 1B to 1GiB, not "0B"$/],
      ['upstream_timeouts: { connect: 2h }', /connect must be off or a duration from 1ms to 1h, not "2h"$/],
      [
        'control: { bounds: { retained_tenant_share: 2 } }',
        /retained_tenant_share must be a number above 0, up to 1, not 2$/,
      ],
    ];
    for (const [text, expected] of cases) assert.match(complaint(text), expected, text);
  });

  test('all that is wrong is said at once, up to a bound', () => {
    const message = complaint('prot: 1\nhots: a\ncontrol: { room: x }');
    for (const word of ['did you mean port?', 'did you mean host?', 'control.room']) {
      assert(message.includes(word), message);
    }
    const many = Array.from({ length: 50 }, (_, at) => `unknown_${at}: 1`).join('\n');
    assert.match(complaint(many), /and 30 more$/);
  });

  test('duplicate keys, several documents, unknown tags and broken text are refused', () => {
    for (const text of [
      'port: 1\nport: 2',
      '{"port": 1, "port": 2}',
      'a: 1\n---\nb: 2',
      'port: !secret 1',
      '{',
    ]) {
      assert.match(complaint(text), /gateway\.yaml is not plain YAML or JSON:\n {2}\S/, text);
    }
  });

  test('aliases that multiply are refused before they fill the memory', () => {
    const rows = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
    for (let row = 1; row < 12; row += 1) {
      rows.push(
        `a${row}: &a${row} [${Array(10)
          .fill(`*a${row - 1}`)
          .join(', ')}]`,
      );
    }
    assert.match(complaint(rows.join('\n')), /cannot be read/);
  });

  test('the credentials of an address are not repeated', () => {
    const message = complaint('upstreams: [{ url: "http://user:hunter2@engine:8000" }]');
    assert(!message.includes('hunter2') && !message.includes('user'), message);
    assert.match(message, /http:\/\/…@engine:8000/);
    for (const text of [
      'upstreams: http://user:hunter2@engine',
      'upstreams: ["http://user:hunter2@engine"]',
    ]) {
      assert(!complaint(text).includes('hunter2'), complaint(text));
    }
  });

  test('a file that cannot be read is named', () => {
    assert.match(
      refusal(() => readConfigFile('nowhere/gateway.yaml')),
      /cannot read .*nowhere\/gateway\.yaml/,
    );
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-config-'));
    assert.match(
      refusal(() => readConfigFile(folder)),
      /cannot read/,
    );
    const path = join(folder, 'large.yaml');
    writeFileSync(path, '#'.repeat(1024 * 1024 + 1));
    assert.match(
      refusal(() => readConfigFile(path)),
      /1048577 bytes are more than 1048576/,
    );
  });

  test('whatever a file holds, it is read or refused with words', () => {
    const keys = fc.constantFrom(
      'control',
      'bounds',
      'upstreams',
      'url',
      'grace',
      'room',
      'log',
      '__proto__',
      'port',
    );
    const tree = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(null, 'off', 'now', '60s', '2MiB', true, 0, -1, 1.5, 1e300, 'http://a', ''),
        fc.string(),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(keys, tie('value'), { maxKeys: 4 }),
      ),
    })).value;
    const texts = fc.oneof(
      fc.string(),
      fc.string({ unit: fc.constantFrom(...Array.from('{}[]:,-&*!|>%@#"\'\n \tab1<')) }),
      tree.map((value) => JSON.stringify(value)),
      tree.map((value) => stringify(value)),
    );
    fc.assert(
      fc.property(texts, (text) => {
        try {
          read(text);
        } catch (error) {
          assert(error instanceof UserError && error.message.length > 10, String(error));
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
