/** `holdfast config` checks a file, shows what is in force and where it came from, and prints a schema. */

import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { gatewayConfig } from '../gateway/config.js';
import { readSettings } from '../gateway/config-file.js';
import { runCommandLine } from './dispatch.js';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-config-command-'));

function file(text: string, name = 'checked.yaml'): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Said> {
  let [out, err] = ['', ''];
  const code = await runCommandLine(['config', ...args], {
    env,
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    signals: { listen: () => () => {} },
    version: '0.0.0',
  });
  return { code, out, err };
}

describe('holdfast config --check', () => {
  test('says that a file fits, warns about what defeats itself, and exits with 0', async () => {
    const path = file('control: { grace: now }\n');
    const { code, out, err } = await run(['--check', path]);
    assert.deepEqual([code, out], [0, `${path} fits, with 1 to look at\n`]);
    assert.match(err, /^warning: control\.grace cancels at once/);
  });

  test('says all that is wrong with path, value, bounds and nearest key, and exits with 2', async () => {
    const path = file('port: 70000\ncontrol:\n  bounds:\n    line_entires: 5\nnum_retries: 3\n');
    assert.deepEqual(await run(['--check', path]), {
      code: 2,
      out: '',
      err:
        `holdfast: ${path} does not fit:\n` +
        '  line 1: port must be a whole number from 0 to 65535, not 70000\n' +
        '  line 4: control.bounds.line_entires is not a setting; did you mean line_entries?\n' +
        '  line 5: num_retries is not a setting; you may know it from LiteLLM and Portkey: the gateway makes no ' +
        'retries of its own, its clients do; how many of theirs may become work is control.budget\n',
    });
  });

  test('--json prints one object either way', async () => {
    const path = file('port: x\n');
    const wrong = await run(['--check', path, '--json']);
    assert.deepEqual([wrong.code, wrong.err], [2, '']);
    assert.deepEqual(JSON.parse(wrong.out), {
      file: path,
      fits: false,
      complaints: ['line 1: port must be a whole number from 0 to 65535, not "x"'],
      warnings: [],
    });
    file('{');
    assert.equal((await run(['--check', path, '--json'])).code, 2);
    file('');
    const right = await run(['--check', path, '--json']);
    assert.deepEqual(
      [right.code, JSON.parse(right.out)],
      [0, { file: path, fits: true, complaints: [], warnings: [] }],
    );
  });

  test('a reference is looked up, and no other variable counts', async () => {
    const path = file('host: $HOST_NAME\n');
    assert.equal((await run(['--check', path], { HOST_NAME: 'a', HOLDFAST_PORT: 'x' })).code, 0);
    assert.match((await run(['--check', path])).err, /line 1: host refers to \$HOST_NAME, which is not set/);
  });
});

describe('holdfast config --show', () => {
  const path = file('port: 8901\ncontrol:\n  room: 256\n  grace: 10s\n', 'shown.yaml');
  const env = { HOLDFAST_CONTROL_GRACE: '5s', HOLDFAST_UPSTREAMS: 'http://a,http://b/' };
  const args = ['--show', '--config', path, '--room', '12'];

  test('prints the options in force, each with where it came from, as a file that reads back', async () => {
    const { code, out, err } = await run(args, env);
    assert.deepEqual([code, err], [0, '']);
    for (const line of [
      `port: 8901 # ${path} line 1`,
      'upstreams: [ { url: http://a }, { url: http://b } ] # HOLDFAST_UPSTREAMS',
      '  room: 12 # --room',
      '  grace: 5s # HOLDFAST_CONTROL_GRACE',
      '  retain: 2m # default',
    ]) {
      assert(out.split('\n').includes(line), `${line} is not in\n${out}`);
    }
    const again = gatewayConfig(readSettings(out, 'again'));
    assert.deepEqual([again.port, again.control.room, again.control.grace], [8901, 12, 5_000]);
  });

  test('--json says the same as a list', async () => {
    const { options } = JSON.parse((await run([...args, '--json'], env)).out) as {
      readonly options: readonly { readonly key: string }[];
    };
    const of = (key: string): unknown => options.find((each) => each.key === key);
    assert.deepEqual(of('control.room'), {
      key: 'control.room',
      value: 12,
      changes: 'live',
      origin: { from: 'flag', flag: '--room' },
    });
    assert.deepEqual(of('port'), {
      key: 'port',
      value: 8901,
      changes: 'restart',
      origin: { from: 'file', file: path, line: 1, variables: [] },
    });
    assert.deepEqual(of('control.capacity'), {
      key: 'control.capacity',
      value: null,
      changes: 'live',
      origin: { from: 'default' },
    });
  });

  test('the file may be named by a variable, and a flag wins over it', async () => {
    assert.match((await run(['--show'], { HOLDFAST_CONFIG: path })).out, /^port: 8901 #/m);
    const named = await run(['--show', '--config', join(folder, 'none')], { HOLDFAST_CONFIG: path });
    assert.match(named.err, /cannot read the configuration: .*none/);
  });

  test('a variable that means nothing is warned about on stderr', async () => {
    const { code, err } = await run(['--show'], { HOLDFAST_CONTROL_GRASE: '1s' });
    assert.equal(code, 0);
    assert.match(err, /HOLDFAST_CONTROL_GRASE is not a setting .* did you mean HOLDFAST_CONTROL_GRACE\?/);
  });
});

test('one of the three has to be asked for', async () => {
  for (const args of [[], ['--schema', '--show'], ['--json']]) {
    const { code, err } = await run(args);
    assert.deepEqual([code, err], [2, 'holdfast: config takes one of --schema, --check FILE and --show\n']);
  }
});
