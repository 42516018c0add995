/** The tree keeps the rules of the house, and every rule is seen to catch a planted error. */

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { placeOf, problemsIn, RULES } from './tidy/rules.js';
import { importsOf } from './tidy/source.js';
import { PLACES } from './tidy/table.js';
import { sources } from './tidy/tree.js';

const OPENING = '/** Stands here to be looked at. */\n';

/** What all rules together say about one planted file. */
const about = (path: string, text: string): string[] => problemsIn([{ path, text }]);

/** A planted line, and the word of the complaint it must draw. */
function caught(path: string, line: string, complaint: RegExp): void {
  const problems = about(path, `${OPENING}${line}\n`);
  equal(problems.length, 1, `${path}: ${line}: ${JSON.stringify(problems)}`);
  match(problems[0] as string, complaint);
  ok(problems[0]?.startsWith(`${path}:2 `), `wrong line: ${problems[0]}`);
}

function allowed(path: string, line: string): void {
  deepEqual(about(path, `${OPENING}${line}\n`), []);
}

const tree = sources();

for (const [name, rule] of Object.entries(RULES)) {
  test(`the tree keeps the rule ${name}`, () => {
    deepEqual(problemsIn(tree, [rule]), []);
  });
}

test('the rules look at the whole tree', () => {
  const paths = new Set(tree.map(({ path }) => path));
  for (const path of [
    'package.json',
    'package-lock.json',
    'src/core/assert.ts',
    'tests/tidy.test.ts',
    'scripts/test.mjs',
  ]) {
    ok(paths.has(path), `${path} was not looked at`);
  }
  ok(![...paths].some((path) => path.startsWith('node_modules/') || path.startsWith('dist/')));
});

describe('the import table', () => {
  test('lets no folder of the core reach a folder that the table does not give it', () => {
    caught(
      'src/core/control/line.ts',
      "import { Engine } from '../engine/engine.js';",
      /imports src\/core\/engine/,
    );
    caught(
      'src/core/engine/batch.ts',
      "import { Control } from '../control/control.js';",
      /imports src\/core\/control/,
    );
    caught(
      'src/core/drill/plan.ts',
      "export { Engine } from '../engine/engine.js';",
      /imports src\/core\/engine/,
    );
    caught(
      'src/core/meter/audit.ts',
      "import { VirtualClock } from '../time/virtual-clock.js';",
      /imports src\/core\/time/,
    );
    caught(
      'src/core/time/window.ts',
      "import type { Random } from '../chance/random.js';",
      /imports src\/core\/chance/,
    );
    caught('src/core/assert.ts', "import { RANK } from './time/clock.js';", /imports src\/core\/time/);
    allowed('src/core/control/line.ts', "import { Heap } from '../time/heap.js';");
    allowed('src/core/control/line.ts', "import { budget } from './budget.js';");
    allowed('src/core/trial/trial.ts', "import { Engine } from '../engine/engine.js';");
  });

  test('lets the report have types only', () => {
    allowed('src/core/report/record.ts', "import type { Outcome } from '../drill/outcome.js';");
    caught(
      'src/core/report/record.ts',
      "import { drill } from '../drill/drill.js';",
      /imports src\/core\/drill/,
    );
  });

  test('lets the core use no package and no module of node', () => {
    caught('src/core/control/line.ts', "import { readFileSync } from 'node:fs';", /imports node:fs/);
    caught('src/core/control/line.ts', "import 'undici';", /imports undici/);
    caught('src/core/control/line.ts', "const zod = import('zod');", /imports zod/);
    caught('src/core/control/line.ts', "import {\n  z,\n} from 'zod';", /imports zod/);
    caught(
      'src/core/control/line.ts',
      "import { log } from '../../shell/shared/log.js';",
      /imports src\/shell/,
    );
  });

  test('keeps gateway, twin and probe apart', () => {
    caught(
      'src/shell/gateway/server.ts',
      "import { twin } from '../twin/server.js';",
      /imports src\/shell\/twin/,
    );
    caught(
      'src/shell/gateway/server.ts',
      "import { Engine } from '../../core/engine/engine.js';",
      /imports src\/core\/engine/,
    );
    caught(
      'src/shell/twin/server.ts',
      "import { Control } from '../../core/control/control.js';",
      /imports src\/core\/control/,
    );
    caught(
      'src/shell/probe/scrape.ts',
      "import { x } from '../gateway/server.js';",
      /imports src\/shell\/gateway/,
    );
    caught(
      'src/shell/shared/log.ts',
      "import { Control } from '../../core/control/control.js';",
      /imports src\/core\/control/,
    );
    caught('src/shell/gateway/server.ts', "import express from 'express';", /imports express/);
    allowed(
      'src/shell/gateway/server.ts',
      "import { request } from 'undici';\nimport { createServer } from 'node:http';",
    );
    allowed('src/shell/cli/serve.ts', "import { twin } from '../twin/server.js';");
  });

  test('gives a unit test its tools and its own folder, no more', () => {
    allowed('src/core/time/heap.test.ts', "import { test } from 'node:test';\nimport fc from 'fast-check';");
    allowed('src/core/time/heap.test.ts', "import { seeds } from '../../../tests/support/seeds.js';");
    caught('src/core/time/heap.test.ts', "import { readFileSync } from 'node:fs';", /imports node:fs/);
    caught(
      'src/core/control/line.test.ts',
      "import { Engine } from '../engine/engine.js';",
      /imports src\/core\/engine/,
    );
    caught('src/core/time/heap.ts', "import { test } from 'node:test';", /imports node:test/);
  });

  test('wants a row for every folder of the source', () => {
    match(
      about('src/core/novel/thing.ts', OPENING).join(),
      /src\/core\/novel\/thing\.ts:1 belongs to no folder/,
    );
    equal(placeOf('src/core/time/heap.ts')?.path, 'src/core/time/');
  });

  test('keeps the bench to the source, its packages and what supports tests', () => {
    allowed('bench/line.ts', "import { Control } from '../src/core/control/control.js';");
    allowed('bench/line.ts', "import { ROOT } from '../tests/support/root.js';");
    caught('bench/line.ts', "import { laws } from '../tests/laws/laws.js';", /imports tests\/laws/);
  });

  test('has no row twice', () => {
    const paths = PLACES.map(({ path }) => path);
    equal(new Set(paths).size, paths.length);
  });

  test('reads imports as the compiler does, and leaves comments and strings alone', () => {
    const text = [
      'import a, { type B } from \'./a.js\'; import type { C } from "./c.js";',
      "// import { d } from './d.js';",
      "/* import { e } from './e.js'; */ export * from './f.js';",
      'const text = "import { g } from \'./g.js\'";',
      "const later = await import('./h.js');",
      "export const i = { from: 'i' };",
    ].join('\n');
    deepEqual(
      importsOf({ path: 'src/x/y.ts', text }).map(({ target, line, typesOnly }) => [target, line, typesOnly]),
      [
        ['src/x/a.ts', 1, false],
        ['src/x/c.ts', 1, true],
        ['src/x/f.ts', 3, false],
        ['src/x/h.ts', 5, false],
      ],
    );
  });
});

test('the core may not name a clock, chance, a promise or an output of its own', () => {
  const planted: readonly (readonly [string, RegExp])[] = [
    ['const now = Date.now();', /Date has no place in the core: use the clock/],
    ['let at: Date | undefined;', /Date has no place/],
    ['const text = `${new Date()}`;', /Date has no place/],
    ['const share = Math.random();', /Math\.random has no place.*named stream/],
    ['const share = Math\n  .random();', /named stream/],
    ['export const later = async () => 1;', /async has no place.*callback/],
    ['declare const when: Promise<void>;', /Promise has no place/],
    ['declare const when: PromiseLike<void>;', /PromiseLike has no place/],
    ['setTimeout(fire, 1);', /setTimeout has no place.*Clock\.after/],
    ['queueMicrotask(fire);', /queueMicrotask has no place/],
    ["console.log('here');", /console has no place/],
    ["const name = process.env['NAME'];", /process has no place/],
    ["const clock = globalThis['Da' + 'te'];", /globalThis has no place/],
    ['const now = performance.now();', /performance has no place/],
  ];
  for (const [line, complaint] of planted) caught('src/core/control/planted.ts', line, complaint);
  equal(about('src/core/control/planted.ts', `${OPENING}await when;\n`).length, 1);
});

test('the core may speak of those words in comments, strings and names of its own', () => {
  for (const line of [
    '// A Promise or a Date would bring a clock of its own.',
    "throw new RangeError('the process must await a Date');",
    'engine.process(batch);',
    'const asyncScheduling = true;',
    'interface Options { readonly updateMs: number; readonly candidate: string }',
  ]) {
    allowed('src/core/control/planted.ts', line);
  }
  allowed('src/shell/gateway/planted.ts', 'const now = Date.now();');
  caught('src/core/time/heap.test.ts', 'const share = Math.random();', /named stream/);
});

test('a file must open with a sentence on why it exists', () => {
  for (const text of [
    'export {};\n',
    '// A line comment is not enough.\n',
    '/** */\n',
    '/** Things */\n',
    '\n/** Comes too late here. */\n',
  ]) {
    match(about('src/core/time/planted.ts', text).join(), /must open with/, text);
  }
  deepEqual(
    about('scripts/planted.mjs', '#!/usr/bin/env node\n/**\n * Does one thing:\n *\n * at a time\n */\n'),
    [],
  );
});

test('a name that says nothing is refused', () => {
  for (const path of [
    'src/core/time/utils.ts',
    'src/shell/shared/helpers.ts',
    'docs/misc.md',
    'tests/common/x.ts',
    'test/x.ts',
  ]) {
    match(about(path, OPENING).join(), /says nothing about what is inside/, path);
  }
  deepEqual(about('scripts/test.mjs', OPENING), []);
});

test('a path of one machine is refused, in whatever file', () => {
  for (const place of ['work/main', 'root/.cache', 'home/someone/x', 'tmp/holdfast', 'Users/someone']) {
    match(
      about('docs/planted.md', `See \`/${place}\` for more.\n`).join(),
      /docs\/planted\.md:1 .* is a path of one machine/,
    );
  }
  for (const text of [
    'https://example.org/work/main',
    'cd "$folder/tmp/x"',
    '/v1/models',
    'src/root/x',
    'at home/work',
  ]) {
    deepEqual(about('docs/planted.md', text), [], text);
  }
});

test('a package registry is named nowhere', () => {
  for (const host of [
    ['registry', 'npmjs', 'org'],
    ['pypi', 'org'],
    ['files', 'pythonhosted', 'org'],
    ['index', 'crates', 'io'],
    ['proxy', 'golang', 'org'],
    ['deb', 'debian', 'org'],
  ]) {
    const planted = `pip install --index-url https://${host.join('.')}/simple`;
    match(about('deploy/planted.sh', planted).join(), /is a package registry/, planted);
  }
});

test('an address in the lock is refused', () => {
  match(
    about('package-lock.json', '{ "resolved": "https://example.org/x.tgz" }').join(),
    /holds a resolved address/,
  );
});
