/** Flags are read strictly, and each complaint names the flag and what would be right. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UserError } from '../shared/errors.js';
import { type Flags, flagLines, readFlags } from './flags.js';

const FLAGS = {
  upstream: { value: 'URL', many: true, help: 'an engine' },
  port: { value: 'PORT', help: 'where to listen' },
  help: { help: 'print this' },
} as const satisfies Flags;

const read = (...args: string[]): unknown => readFlags('serve', FLAGS, args);

test('flags are read by name, with a space or an equals sign', () => {
  assert.deepEqual(read(), {});
  assert.deepEqual(read('--port', '1', '--upstream=http://a', '--upstream', 'http://b', '--help'), {
    port: ['1'],
    upstream: ['http://a', 'http://b'],
    help: [''],
  });
  assert.deepEqual(read('--port=-1'), { port: ['-1'] });
});

test('what does not fit is refused with what would', () => {
  const cases: [string[], RegExp][] = [
    [['--prot', '1'], /^serve knows no flag --prot; did you mean --port\?$/],
    [['--upstreams=http://a'], /knows no flag --upstreams; did you mean --upstream\?/],
    [['--frobnicate'], /knows no flag --frobnicate; see holdfast serve --help/],
    [['-p', '1'], /knows no flag -p;/],
    [['--constructor'], /knows no flag --constructor;/],
    [['--__proto__=1'], /knows no flag --__proto__;/],
    [['--no-port'], /knows no flag --no-port/],
    [['--port'], /needs a value after --port: --port PORT/],
    [['--port', '--help'], /needs a value after --port/],
    [['--port='], /needs a value after --port/],
    [['--port', '1', '--port', '2'], /takes --port once/],
    [['--help=yes'], /takes --help without a value, not "yes"/],
    [['8900'], /takes no argument "8900"/],
    [['--', '--port'], /takes no argument "--port"/],
  ];
  for (const [args, message] of cases) {
    assert.throws(
      () => read(...args),
      (error) => error instanceof UserError && message.test(error.message),
      args.join(' '),
    );
  }
});

test('flags are listed one a line with their values', () => {
  assert.equal(
    flagLines(FLAGS),
    '  --upstream URL  an engine (repeatable)\n  --port PORT     where to listen\n  --help          print this\n',
  );
});
