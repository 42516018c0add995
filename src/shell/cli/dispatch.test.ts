/** A command line reaches its command, asks for help in words, and is told what it got wrong. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { World } from './command.js';
import { runCommandLine } from './dispatch.js';

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function ran(...args: string[]): Promise<Ran> {
  let [out, err] = ['', ''];
  const world: World = {
    env: {},
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    signals: { listen: () => () => {} },
    version: '1.2.3',
  };
  return { code: await runCommandLine(args, world), out, err };
}

test('--version and --help answer on stdout with 0', async () => {
  assert.deepEqual(await ran('--version'), { code: 0, out: '1.2.3\n', err: '' });
  for (const args of [['--help'], ['-h'], ['help']]) {
    const { code, out, err } = await ran(...args);
    assert.deepEqual([code, err], [0, '']);
    assert.match(out, /^Usage: holdfast COMMAND[\s\S]*\n {2}serve +\S[\s\S]*\n {2}twin +\S[\s\S]*Example:\n/);
  }
});

test('no command at all is answered with the overview on stderr and 2', async () => {
  const { code, out, err } = await ran();
  assert.deepEqual([code, out], [2, '']);
  assert.match(err, /^Usage: holdfast COMMAND/);
});

test('every command has its help, with an example, wherever it is asked for', async () => {
  for (const command of ['serve', 'twin', 'calibrate', 'pulse']) {
    const asked = [
      [command, '--help'],
      [command, '--port', '1', '-h'],
      ['help', command],
    ];
    const answers = await Promise.all(asked.map((args) => ran(...args)));
    for (const { code, out, err } of answers) {
      assert.deepEqual([code, err, out], [0, '', answers[0]?.out]);
      assert.match(out, new RegExp(`^Usage: holdfast ${command} [\\s\\S]*Flags:\\n {2}--[\\s\\S]*Example`));
      assert(
        out.split('\n').every((line) => line.length <= 120),
        out,
      );
    }
  }
});

test('a command that does not exist is answered with the nearest and 2', async () => {
  assert.deepEqual(await ran('sevre'), {
    code: 2,
    out: '',
    err: 'holdfast: there is no command "sevre"; did you mean serve?\n',
  });
  assert.match((await ran('frobnicate')).err, /the commands are serve, config, twin/);
  assert.match((await ran('--prot', '1')).err, /there is no command "--prot"/);
});

test('a flag or a value that does not fit is answered with 2', async () => {
  assert.deepEqual(await ran('serve', '--prot', '1'), {
    code: 2,
    out: '',
    err: 'holdfast: serve knows no flag --prot; did you mean --port?\n',
  });
  assert.match((await ran('twin', '--time-scale', 'fast')).err, /--time-scale must be a number, not "fast"/);
  assert.match((await ran('twin', '--time-scale', '0')).err, /--time-scale must be a number from/);
  assert.equal((await ran('twin', '--profile', 'h200')).code, 2);
});

test('--check-config prints the settings in force as the file has them, and starts nothing', async () => {
  const { code, out } = await ran('serve', '--check-config', '--room', '8', '--upstream', 'http://a');
  assert.equal(code, 0);
  assert.match(out, /^ {2}room: 8$/m);
  assert.match(out, /^ {2}- url: http:\/\/a$/m);
  assert.match(out, /^request_bytes: 32MiB$/m);
  const warned = await ran('serve', '--check-config', '--grace', 'now');
  assert.match(warned.err, /nothing will be attached/);
});
