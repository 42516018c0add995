/** The compiler, the linter and the formatter are seen to refuse what the house relies on them to refuse. */

import { equal, match, notEqual, ok } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { ROOT } from './support/root.js';

/** A project outside the tree, with this repository's settings and tools, and only the files that a test plants. */
let project: string;

beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'holdfast-fences-'));
  const settings = readdirSync(ROOT).filter((name) => /^tsconfig.*\.json$/.test(name));
  for (const name of [...settings, 'package.json', 'biome.json', '.oxlintrc.json']) {
    copyFileSync(join(ROOT, name), join(project, name));
  }
  symlinkSync(join(ROOT, 'node_modules'), join(project, 'node_modules'));
  for (const place of ['src/core', 'src/client', 'src/shell', 'tests']) plant(`${place}/sound.ts`, SOUND);
});

afterEach(() => {
  rmSync(project, { recursive: true });
});

const SOUND = '/** Nothing is wrong here. */\n\nexport const sound = 1;\n';

function plant(path: string, text: string): void {
  mkdirSync(dirname(join(project, path)), { recursive: true });
  writeFileSync(join(project, path), text);
}

interface Said {
  readonly code: number | null;
  readonly printed: string;
}

function ran(tool: string, ...args: string[]): Said {
  const command = join(ROOT, 'node_modules', '.bin', tool);
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: project, encoding: 'utf8' });
  return { code: status, printed: `${stdout}${stderr}` };
}

const compiled = (): Said => ran('tsc', '-b', '--pretty', 'false');
const linted = (): Said => ran('oxlint', '--type-aware', '--deny-warnings', '--format', 'unix');
const formatted = (): Said => ran('biome', 'check', '.');

test('all three accept a sound project', () => {
  for (const { code, printed } of [compiled(), linted(), formatted()]) equal(code, 0, printed);
});

describe('the compiler', () => {
  test('knows no clock, process, network or module of node in the core', () => {
    const planted: Readonly<Record<string, string>> = {
      setTimeout: 'setTimeout(() => undefined, 1);',
      process: 'export const name = process.argv;',
      fetch: "export const answer = fetch('x');",
      Buffer: "export const bytes = Buffer.from('x');",
      performance: 'export const now = performance.now();',
      console: 'console.log(1);',
      'node:fs': "export { readFileSync } from 'node:fs';",
      URL: "export const place = new URL('x');",
    };
    Object.values(planted).forEach((line, at) => {
      plant(`src/core/planted-${at}.ts`, `${SOUND}${line}\n`);
    });
    const { code, printed } = compiled();
    notEqual(code, 0);
    Object.keys(planted).forEach((name, at) => {
      const complaint = printed.split('\n').find((line) => line.startsWith(`src/core/planted-${at}.ts(4,`));
      ok(complaint?.includes(`'${name}'`), `${name} was let through:\n${printed}`);
    });
  });

  test('knows the same names in the shell', () => {
    plant('src/shell/planted.ts', `${SOUND}setTimeout(() => undefined, process.argv.length);\n`);
    const { code, printed } = compiled();
    equal(code, 0, printed);
  });

  test('refuses an import from the core into the shell', () => {
    plant('src/core/planted.ts', "export { sound } from '../shell/sound.js';\n");
    const { code, printed } = compiled();
    notEqual(code, 0);
    match(printed, /src\/core\/planted\.ts\(1,\d+\): error TS6307: .*src\/shell\/sound\.ts/);
  });

  test('refuses an import from the client into the core', () => {
    plant('src/client/planted.ts', "export { sound } from '../core/sound.js';\n");
    const { code, printed } = compiled();
    notEqual(code, 0);
    match(printed, /src\/client\/planted\.ts\(1,\d+\): error TS6307/);
  });

  test('takes an item of a list for possibly absent', () => {
    plant('src/core/planted.ts', 'export const first = (list: number[]): number => list[0];\n');
    match(compiled().printed, /src\/core\/planted\.ts\(1,\d+\): error TS2322/);
  });
});

describe('the linter', () => {
  const lines = (count: number, line: string): string => Array(count).fill(line).join('\n');
  const planted: readonly (readonly [rule: string, text: string])[] = [
    ['no-floating-promises', 'export const start = (): void => {\n  Promise.resolve(1);\n};'],
    [
      'no-misused-promises',
      "import { EventEmitter } from 'node:events';\nnew EventEmitter().on('x', async () => {\n  await Promise.resolve();\n});",
    ],
    ['await-thenable', 'export const late = async (): Promise<number> => await 1;'],
    [
      'switch-exhaustiveness-check',
      "export function said(ending: 'done' | 'failed'): number {\n  switch (ending) {\n    case 'done':\n      return 1;\n  }\n  return 0;\n}",
    ],
    ['no-explicit-any', 'export const thing: any = 1;'],
    ['no-unsafe-assignment', "export const parsed: { a: number } = JSON.parse('{}');"],
    ['no-non-null-assertion', 'export const first = (list: number[]): number => list[0]!;'],
    ['only-throw-error', "export const fail = (): never => {\n  throw 'words';\n};"],
    ['no-unused-vars', 'const unused = 1;'],
    ['eqeqeq', 'export const same = (a: number, b: number): boolean => a == b;'],
    ['no-cycle', "export { again } from './again.js';\nexport const planted = 1;"],
    ['max-lines', lines(401, 'export {};')],
    ['max-lines-per-function', `export function long(): void {\n${lines(70, '  void 0;')}\n}`],
  ];
  for (const [rule, text] of planted) {
    test(`catches ${rule}`, () => {
      plant(
        'src/shell/again.ts',
        "/** Closes a circle when planted.ts imports it. */\nexport { planted as again } from './planted.js';\n",
      );
      plant('src/shell/planted.ts', `/** Something is wrong here. */\n${text}\n`);
      const { code, printed } = linted();
      notEqual(code, 0);
      const complaints = printed.split('\n').filter((line) => line.startsWith('src/shell/planted.ts:'));
      ok(
        complaints.some((line) => line.includes(`(${rule})`)),
        printed,
      );
    });
  }

  test('lets node:test register a test without awaiting it', () => {
    plant(
      'src/shell/planted.test.ts',
      "/** Sound. */\nimport { test } from 'node:test';\ntest('x', () => undefined);\n",
    );
    const { code, printed } = linted();
    equal(code, 0, printed);
  });
});

test('the formatter refuses a file that is not formatted', () => {
  plant('src/shell/planted.ts', '/** Badly set. */\n\nexport const  list = [1,2,   3]\n');
  const { code, printed } = formatted();
  notEqual(code, 0);
  match(printed, /src\/shell\/planted\.ts format/);
});
