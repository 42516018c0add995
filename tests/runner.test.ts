/** The test runner is seen to fail when it must: it runs here on a planted tree of its own. */

import { equal, match } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { ROOT } from './support/root.js';

let tree: string;

beforeEach(() => {
  tree = mkdtempSync(join(tmpdir(), 'holdfast-runner-'));
  put('package.json', '{ "type": "module" }');
  mkdirSync(join(tree, 'scripts'));
  copyFileSync(join(ROOT, 'scripts', 'test.mjs'), join(tree, 'scripts', 'test.mjs'));
});

afterEach(() => {
  rmSync(tree, { recursive: true });
});

function put(path: string, text: string): void {
  mkdirSync(dirname(join(tree, path)), { recursive: true });
  writeFileSync(join(tree, path), text);
}

/** A compiled test and the source it came from. */
function plant(path: string, body: string): void {
  put(`${path}.ts`, '');
  put(`dist/${path}.js`, `import { test } from 'node:test';\n${body}\n`);
}

function runner(
  args: readonly string[],
  environment: Record<string, string> = {},
): { code: number | null; printed: string } {
  const {
    NODE_TEST_CONTEXT: _context,
    HOLDFAST_REQUIRE_ALL: _all,
    HOLDFAST_LONG: _long,
    ...inherited
  } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/test.mjs', ...args], {
    cwd: tree,
    encoding: 'utf8',
    env: { ...inherited, ...environment },
  });
  return { code: status, printed: `${stdout}${stderr}` };
}

const PASSING = "test('passes', () => {});";

test('a passing run ends with the closing counts and exits 0', () => {
  plant('tests/a.test', PASSING);
  plant('src/deep/b.test', PASSING);
  const { code, printed } = runner([]);
  equal(code, 0);
  match(printed, /^# pass 2$/m);
  match(printed, /^# fail 0$/m);
});

test('a failing test, a rejected one, and a file that does not load each fail the run', () => {
  const faults = [
    "test('fails', () => { throw new Error('planted'); });",
    "test('rejects', async () => { await Promise.reject(new Error('planted')); });",
    "import './absent.js';",
    'process.exit(3);',
  ];
  for (const fault of faults) {
    plant('tests/a.test', fault);
    plant('tests/b.test', PASSING);
    const { code, printed } = runner([]);
    equal(code, 1, fault);
    match(printed, /^# fail 1$/m, fault);
  }
});

test('a skipped test is listed with its reason before the closing counts', () => {
  plant('tests/a.test', "test('asks for the moon', (t) => t.skip('the moon: out of reach'));");
  plant('tests/b.test', PASSING);
  const { code, printed } = runner([]);
  equal(code, 0);
  match(
    printed,
    /^Left out:\n {2}the moon: out of reach\n {4}tests\/a\.test\.js: asks for the moon\n# tests 2$/m,
  );
});

test('a skipped test fails the run under HOLDFAST_REQUIRE_ALL=1', () => {
  plant('tests/a.test', "test('asks for the moon', { skip: true }, () => {});");
  const { code, printed } = runner([], { HOLDFAST_REQUIRE_ALL: '1' });
  equal(code, 1);
  match(printed, /Left out, which HOLDFAST_REQUIRE_ALL=1 forbids:\n {2}no reason given/);
});

test('a test still to be done is counted as todo and fails nothing', () => {
  plant(
    'tests/a.test',
    "test('later', { todo: 'needs the gateway' }, () => { throw new Error('not yet'); });",
  );
  const { code, printed } = runner([]);
  equal(code, 0);
  match(printed, /^# todo 1$/m);
});

test('a compiled test whose source is gone does not run', () => {
  plant('tests/a.test', PASSING);
  put('dist/tests/gone.test.js', "throw new Error('planted');");
  equal(runner([]).code, 0);
});

test('a filter keeps the files whose path contains one of its words', () => {
  plant('tests/a.test', PASSING);
  plant('tests/b.test', "throw new Error('planted');");
  equal(runner(['tests/a']).code, 0);
  equal(runner(['b.test', 'nothing']).code, 1);
});

test('a filter that matches nothing fails and names the known tests', () => {
  plant('tests/a.test', PASSING);
  const { code, printed } = runner(['nothing']);
  equal(code, 1);
  match(printed, /no compiled test matches \["nothing"\]; known tests:\n {2}tests\/a\.test\.js/);
});

test('the suite with its own command runs only when it is named', () => {
  plant('tests/a.test', PASSING);
  plant('tests/vllm/b.test', "throw new Error('planted');");
  equal(runner([]).code, 0);
  equal(runner(['test']).code, 0);
  equal(runner(['tests/vllm']).code, 1);
});

test('--long asks the laws for more seeds', () => {
  plant('tests/a.test', "if (process.env.HOLDFAST_LONG !== '1') throw new Error('planted');");
  equal(runner(['--long']).code, 0);
  equal(runner([]).code, 1);
});
