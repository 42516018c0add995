/** The machinery of settings, on a small table of its own: sources, references, secrets, bounds, schema. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { stringify } from 'yaml';
import { environmentLayer } from './environment.js';
import { fileLayer } from './file.js';
import {
  boolean,
  choice,
  countOr,
  duration,
  durationOr,
  durationOrOff,
  list,
  number,
  textOf,
} from './kinds.js';
import type { Origin } from './reading.js';
import { difference, fileSchema, merge, originText } from './resolve.js';
import { complete, entry, type Given, leavesOf, optional, required, setting, viewOf } from './table.js';

const live = { changes: 'live' } as const;
const any = textOf('a text', (raw) => raw);

const ENGINE = {
  url: required(any, { changes: 'restart', about: 'where' }),
  credential: optional(any, { ...live, about: 'what it is told', secret: true }),
  weight: setting(number({ least: 1, most: 9, whole: true }), { ...live, default: 1, about: 'how much' }),
};
const TABLE = {
  name: setting(any, { ...live, default: 'x', about: 'a name' }),
  engines: setting(list(entry(ENGINE, 'url', 'a mapping'), 'engines'), {
    changes: 'restart',
    default: [],
    about: 'the engines',
  }),
  password: optional(
    textOf('eight letters', (raw) => (/^[a-z]{8}$/.test(raw) ? raw : undefined)),
    { ...live, about: 'a secret', secret: true },
  ),
  limits: {
    waitMs: setting(duration({ least: 1_000, most: 60_000 }), { ...live, default: 5_000, about: 'a wait' }),
    idleMs: setting(durationOrOff({ least: 0, most: 60_000 }), { ...live, default: 0, about: 'a silence' }),
    grace: setting(durationOr(['now'] as const, { least: 0, most: 60_000 }), {
      ...live,
      default: 'now',
      about: 'a grace',
    }),
    room: setting(countOr(['off'], { least: 1, most: 10, whole: true }), {
      changes: 'restart',
      default: 'off',
      about: 'a room',
    }),
    mode: setting(choice(['off', 'on'] as const), { ...live, default: 'on', about: 'a mode' }),
    learn: setting(boolean, { ...live, default: true, about: 'a switch' }),
  },
};
type Settings = Given<typeof TABLE>;

const file = (yaml: string, env: Record<string, string> = {}): ReturnType<typeof fileLayer> =>
  fileLayer(TABLE, yaml, { source: 'f.yaml', env, prefix: 'P_' });
const environment = (env: Record<string, string>): ReturnType<typeof environmentLayer> =>
  environmentLayer(TABLE, { prefix: 'P_', env, others: { NAME: 'name' }, apart: new Set(['P_TEST']) });

/** What the file sets, after the defaults. */
const inForce = (yaml: string, env: Record<string, string> = {}): unknown => {
  const layer = file(yaml, env);
  assert.deepEqual(layer.complaints, []);
  return complete(TABLE, merge(TABLE, [layer]).given as Settings);
};

describe('references to variables', () => {
  test('a text of the file may come from variables, whole or in part', () => {
    const env = { HOST: 'engine', PORT: '8000', KEY: 'abc', WAIT: '9s' };
    const yaml =
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what a file has
      'name: "$$5 ${HOST}"\nengines: [{ url: "http://$HOST:${PORT}/", credential: Bearer $KEY }]\nlimits: { wait: $WAIT }';
    const got = inForce(yaml, env) as { name: string; engines: object[]; limits: { waitMs: number } };
    assert.equal(got.name, '$5 engine');
    assert.deepEqual(got.engines, [{ url: 'http://engine:8000/', credential: 'Bearer abc', weight: 1 }]);
    assert.equal(got.limits.waitMs, 9_000);
  });

  test('what a variable holds is not looked into again', () => {
    assert.equal((inForce('name: $A', { A: '$B', B: 'b' }) as { name: string }).name, '$B');
  });

  test('keys and numbers are left alone', () => {
    assert.match(file('$NAME: x', { NAME: 'name' }).complaints.join(), /\$NAME is not a setting/);
  });

  test('a variable that is not set, or empty, is a complaint with line and key, said once', () => {
    assert.deepEqual(file('# one\nlimits:\n  wait: $WAIT\n', { WAIST: '1s' }).complaints, [
      'line 3: limits.wait refers to $WAIT, which is not set in the environment; did you mean $WAIST?',
    ]);
    assert.deepEqual(file('name: $A', { A: '' }).complaints, [
      'line 1: name refers to $A, which is empty in the environment; set it, or write $$ for a dollar',
    ]);
  });

  test('a dollar that begins no name is a complaint', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what a file has
    for (const wrong of ['cost $', '$5', '${}', '${A-b}', '${A']) {
      const all = file(`name: "${wrong}"`, { A: 'a' }).complaints;
      assert.deepEqual(all.length, 1, wrong);
      assert.match(all[0] ?? '', /line 1: name has a dollar that begins no name/);
    }
  });

  test('no complaint repeats what a variable holds', () => {
    for (const value of ['12345', 'secret', 'off', '80%']) {
      const yaml = 'limits: { wait: $V, room: $V, learn: $V, mode: $V }';
      const all = file(yaml, { V: value }).complaints.join('\n');
      assert.match(all, /limits\.wait must be .*, not what \$V holds/);
      assert(!all.includes(value) || value === 'off', all);
    }
  });
});

describe('secrets', () => {
  test('are hidden where settings are shown, inside of lists as well', () => {
    const values = complete(TABLE, {
      password: 'abcdefgh',
      engines: [{ url: 'u', credential: 'Bearer abc' }],
    });
    const view = JSON.stringify(viewOf(TABLE, values));
    assert(!view.includes('abcdefgh') && !view.includes('Bearer abc'), view);
    assert.match(view, /"password":"\(hidden\)"/);
  });

  test('are not read back from what is shown in their place', () => {
    const view = stringify(viewOf(TABLE, complete(TABLE, { password: 'abcdefgh' })));
    assert.match(file(view).complaints.join(), /password is \(hidden\), which is shown in place of a secret/);
    const inside = file('engines: [{ url: u, credential: (hidden) }]').complaints.join();
    assert.match(inside, /engines\.0\.credential is \(hidden\)/);
  });

  test('are not repeated by a complaint', () => {
    assert.deepEqual(file('password: hunter2').complaints, [
      'line 1: password must be eight letters; what is there is a secret and not shown',
    ]);
    const inside = file('engines: [{ url: u, credential: 77 }]').complaints.join();
    assert(!inside.includes('77'), inside);
  });
});

describe('variables as settings', () => {
  test('every setting has one, named after its key', () => {
    const { said, complaints, warnings } = environment({
      P_NAME: 'n',
      P_ENGINES: 'http://a, http://b',
      P_LIMITS_WAIT: '2s',
      P_LIMITS_IDLE: 'off',
      P_LIMITS_GRACE: 'NOW',
      P_LIMITS_ROOM: '4',
      P_LIMITS_MODE: 'OFF',
      P_LIMITS_LEARN: 'false',
    });
    assert.deepEqual([complaints, warnings], [[], []]);
    assert.deepEqual(
      said.map(({ leaf, value }) => [leaf.key, value]),
      [
        ['name', 'n'],
        [
          'engines',
          [
            { url: 'http://a', weight: 1 },
            { url: 'http://b', weight: 1 },
          ],
        ],
        ['limits.wait', 2_000],
        ['limits.idle', 0],
        ['limits.grace', 'now'],
        ['limits.room', 4],
        ['limits.mode', 'off'],
        ['limits.learn', false],
      ],
    );
  });

  test('one that does not fit is named', () => {
    assert.deepEqual(environment({ P_LIMITS_ROOM: '99', P_LIMITS_LEARN: 'yes' }).complaints, [
      'P_LIMITS_ROOM must be off or a whole number from 1 to 10, not 99',
      'P_LIMITS_LEARN must be true or false, not "yes"',
    ]);
  });

  test('one that means nothing is warned about with the nearest, and what Kubernetes sets is not', () => {
    const { warnings, complaints, said } = environment({
      P_LIMIT_ROOM: '4',
      P_TEST: '1',
      P_EMPTY: '',
      P_SERVICE_HOST: '10.0.0.1',
      P_SERVICE_PORT: '80',
      P_SERVICE_PORT_HTTP: '80',
      P_PORT: 'tcp://10.0.0.1:80',
      P_PORT_80_TCP_ADDR: '10.0.0.1',
    });
    assert.deepEqual([complaints, said], [[], []]);
    assert.deepEqual(warnings, [
      'the variable P_LIMIT_ROOM is not a setting and has no effect; did you mean P_LIMITS_ROOM?',
    ]);
  });

  test('a name that others agree on is heard where ours is not set', () => {
    assert.equal(environment({ NAME: 'theirs' }).said[0]?.value, 'theirs');
    assert.deepEqual(
      environment({ NAME: 'theirs', P_NAME: 'ours' }).said.map(({ value }) => value),
      ['ours'],
    );
  });
});

test('the last source wins, key by key, and each value knows where it came from', () => {
  const layers = [
    file('name: file\nlimits:\n  wait: $W\n  room: 3\n', { W: '3s' }),
    environment({ P_LIMITS_ROOM: '4' }),
  ];
  const { given, origins } = merge(TABLE, layers);
  const { name, limits } = complete(TABLE, given as Settings);
  assert.deepEqual([name, limits.waitMs, limits.room, limits.mode], ['file', 3_000, 4, 'on']);
  const told = (key: string): string => originText(origins.get(key) as Origin);
  assert.deepEqual(['name', 'limits.wait', 'limits.room', 'limits.mode'].map(told), [
    'f.yaml line 1',
    'f.yaml line 3 $W',
    'P_LIMITS_ROOM',
    'default',
  ]);
});

test('a change is taken over where it may be, and waits for a restart elsewhere', () => {
  const current = complete(TABLE, { name: 'a', limits: { room: 3 } });
  const next = complete(TABLE, { name: 'b', password: 'abcdefgh', engines: [{ url: 'u' }] });
  const { taken, changed, waiting } = difference(TABLE, current, next);
  assert.deepEqual(changed, ['name', 'password']);
  assert.deepEqual(waiting, ['engines', 'limits.room']);
  assert.deepEqual(taken, { ...next, engines: [], limits: { ...next.limits, room: 3 } });
});

test('a list that is read once is taken over where its entries differ in what may change, and nothing else', () => {
  const of = (...engines: Settings['engines'] & object): ReturnType<typeof complete<typeof TABLE>> =>
    complete(TABLE, { engines });
  const now = of({ url: 'a', weight: 1 }, { url: 'b' });
  const keys = (next: typeof now): readonly (readonly string[])[] => {
    const { changed, waiting } = difference(TABLE, now, next);
    return [changed, waiting];
  };
  const heavier = of({ url: 'a', weight: 5 }, { url: 'b' });
  assert.deepEqual(keys(heavier), [['engines'], []]);
  assert.deepEqual(difference(TABLE, now, heavier).taken.engines, heavier.engines);
  assert.deepEqual(keys(of({ url: 'a', weight: 5 }, { url: 'c' })), [[], ['engines']]);
  assert.deepEqual(keys(of({ url: 'b' }, { url: 'a' })), [[], ['engines']]);
  assert.deepEqual(keys(of({ url: 'a' })), [[], ['engines']]);
});

test('a program’s values are checked by their own names', () => {
  const cases: [Settings, RegExp][] = [
    [{ limits: { waitMs: 1 } }, /^limits\.waitMs must be a number from 1000 to 60000, not 1$/],
    [{ limits: { mode: 'up' as 'on' } }, /^limits\.mode must be off or on, not "up"$/],
    [
      { engines: [{ url: 'u', weight: 10 }] },
      /^engines\.0\.weight must be a whole number from 1 to 9, not 10$/,
    ],
    [{ engines: [{}] }, /^engines\.0\.url must be given$/],
  ];
  for (const [given, message] of cases)
    assert.throws(() => complete(TABLE, given), { name: 'RangeError', message });
});

test('an entry of a list is read strictly', () => {
  assert.deepEqual(file('engines:\n  - weight: 2\n  - { url: u, wieght: 3 }\n  - text').complaints, [
    'line 2: engines.0 must have a url: a text',
    'line 3: engines.1.wieght is not a setting; did you mean weight?',
    'line 4: engines.2 must be a mapping such as { url: … } (did you mean { url: text }?), not "text"',
  ]);
});

test('the schema has every setting with its default and description', () => {
  const schema = JSON.stringify(fileSchema(TABLE, 'a title'));
  for (const { setting: each } of leavesOf(TABLE)) assert(schema.includes(`"description":"${each.about}"`));
  assert.match(schema, /"https:\/\/json-schema\.org\/draft\/2020-12\/schema"/);
  assert.match(schema, /"description":"a wait","default":"5s"/);
});
