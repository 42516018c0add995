/**
 * Runs the compiled tests: every *.test.js under dist/src and dist/tests whose source still exists.
 *
 *   node scripts/test.mjs [--long] [FILTER…]
 *
 * FILTER keeps the files whose path contains one of the words. `--long` sets HOLDFAST_LONG=1: more seeds.
 * Tests that need more than Node skip with a reason when it cannot be had; the reasons are listed before the
 * closing counts, and with HOLDFAST_REQUIRE_ALL=1 a skipped test fails the run.
 */

import { existsSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { Transform } from 'node:stream';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';

/** Folders whose tests run only when a filter names them, since they have their own command. */
const APART = ['tests/vllm'];
const FILE_TIMEOUT_MS = 20 * 60_000;
const CLOSING_COUNT = /^ℹ (tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) ([\d.]+)$/gm;

const root = fileURLToPath(new URL('..', import.meta.url));
const words = process.argv.slice(2).filter((word) => word !== '--long');
if (process.argv.includes('--long')) process.env.HOLDFAST_LONG = '1';
const requireAll = process.env.HOLDFAST_REQUIRE_ALL === '1';

const byText = (a, b) => (a < b ? -1 : 1);

/** Compiled test files, as paths from the root without `dist/`, in a stable order. */
function compiledTests() {
  const found = [];
  for (const top of ['src', 'tests']) {
    const folder = join(root, 'dist', top);
    if (!existsSync(folder)) continue;
    for (const entry of readdirSync(folder, { recursive: true })) {
      if (entry.endsWith('.test.js')) found.push(join(top, entry));
    }
  }
  return found.filter((path) => existsSync(join(root, path.replace(/\.js$/, '.ts')))).toSorted(byText);
}

function wanted(path) {
  if (words.length > 0 && !words.some((word) => path.includes(word))) return false;
  return !APART.some((folder) => path.startsWith(folder) && !words.some((word) => word.startsWith(folder)));
}

const paths = compiledTests().filter(wanted);
if (paths.length === 0) {
  process.stderr.write(`no compiled test matches ${JSON.stringify(words)}; known tests:\n`);
  process.stderr.write(
    compiledTests()
      .map((path) => `  ${path}\n`)
      .join(''),
  );
  process.exit(1);
}

/** Reason → titles of the tests that were skipped for it. */
const leftOut = new Map();
let failed = false;

const events = run({
  files: paths.map((path) => join(root, 'dist', path)),
  concurrency: Math.max(1, Math.min(availableParallelism(), paths.length)),
  timeout: FILE_TIMEOUT_MS,
});
events.on('test:fail', (data) => {
  if (data.todo === undefined || data.todo === false) failed = true;
});
events.on('test:pass', (data) => {
  if (data.skip === undefined || data.skip === false) return;
  const reason = typeof data.skip === 'string' && data.skip !== '' ? data.skip : 'no reason given';
  const where = data.file === undefined ? '' : `${relative(join(root, 'dist'), data.file)}: `;
  leftOut.set(reason, [...(leftOut.get(reason) ?? []), `${where}${data.name}`]);
});

function leftOutList() {
  if (leftOut.size === 0) return '';
  const lines = [requireAll ? 'Left out, which HOLDFAST_REQUIRE_ALL=1 forbids:' : 'Left out:'];
  for (const [reason, titles] of leftOut) lines.push(`  ${reason}`, ...titles.map((title) => `    ${title}`));
  return `${lines.join('\n')}\n`;
}

/** Puts what was left out before node's closing counts, and writes those as `# pass N` on every terminal. */
let closing = false;
let lastLine = '\n';
const report = new Transform({
  transform(chunk, _encoding, done) {
    let text = stripVTControlCharacters(String(chunk)).replace(CLOSING_COUNT, '# $1 $2');
    if (!closing && /^# tests \d+$/m.test(text)) {
      closing = true;
      text = text.replace(/^(?=# tests \d)/m, leftOutList);
    }
    if (text !== '') lastLine = text;
    done(null, text);
  },
  flush(done) {
    done(null, lastLine.endsWith('\n') ? '' : '\n');
  },
});
report.on('end', () => {
  process.exitCode = failed || (requireAll && leftOut.size > 0) ? 1 : 0;
});
events.compose(new spec()).pipe(report).pipe(process.stdout);
