/** A file's changes are noticed, whichever way they are made. */

import { strict as assert } from 'node:assert';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { FileWatch, type FileWatchParts } from './file-watch.js';

/** Watches `path`; `next` resolves at the next change that nobody has waited for yet. */
function watched(t: TestContext, path: string, parts: Partial<FileWatchParts> = {}): () => Promise<void> {
  const seen = { pending: 0 };
  let wake = (): void => {};
  const changed = (): void => {
    seen.pending += 1;
    wake();
  };
  const watch = new FileWatch(path, { changed, ...parts });
  // The watch holds no process up, and so not this one either.
  const alive = setInterval(() => {}, 1_000);
  t.after(() => {
    watch.close();
    clearInterval(alive);
  });
  return async () => {
    while (seen.pending === 0) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    seen.pending -= 1;
  };
}

function fresh(): string {
  return mkdtempSync(join(tmpdir(), 'holdfast-watch-'));
}

test('the beginning counts as a change, for what happened since the file was read', async (t) => {
  const path = join(fresh(), 'a.yaml');
  writeFileSync(path, 'a');
  await watched(t, path)();
});

test('a file that is written in place, replaced by a rename, removed and made again', async (t) => {
  const path = join(fresh(), 'a.yaml');
  writeFileSync(path, 'a');
  const next = watched(t, path);
  await next();
  writeFileSync(path, 'bb');
  await next();
  writeFileSync(`${path}.new`, 'ccc');
  renameSync(`${path}.new`, path);
  await next();
  rmSync(path);
  await next();
  writeFileSync(path, 'dddd');
  await next();
});

test('a file behind links that are swapped, as a ConfigMap is', async (t) => {
  const folder = fresh();
  for (const [name, text] of [
    ['..1', 'a'],
    ['..2', 'bb'],
    ['..3', 'ccc'],
  ] as const) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'a.yaml'), text);
  }
  const swap = (to: string): void => {
    symlinkSync(to, join(folder, '..data_tmp'));
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
  };
  swap('..1');
  symlinkSync(join('..data', 'a.yaml'), join(folder, 'a.yaml'));
  const next = watched(t, join(folder, 'a.yaml'));
  await next();
  swap('..2');
  await next();
  swap('..3');
  await next();
});

test('a file that a link in another folder points to', async (t) => {
  const [there, here] = [fresh(), fresh()];
  writeFileSync(join(there, 'real.yaml'), 'a');
  symlinkSync(join(there, 'real.yaml'), join(here, 'a.yaml'));
  const next = watched(t, join(here, 'a.yaml'));
  await next();
  writeFileSync(join(there, 'real.yaml'), 'bb');
  await next();
});

test('a file in a folder that cannot be watched is looked at now and then, and that is said once', async (t) => {
  const path = join(fresh(), 'a.yaml');
  writeFileSync(path, 'a');
  const said: unknown[] = [];
  const next = watched(t, path, {
    pollMs: 20,
    watch: (() => {
      throw new Error('no more watches');
    }) as unknown as NonNullable<FileWatchParts['watch']>,
    unwatchable: (error) => said.push(error),
  });
  await next();
  writeFileSync(path, 'bb');
  await next();
  writeFileSync(path, 'ccc');
  await next();
  assert.equal(said.length, 1);
});

test('writes in quick succession are one change', async (t) => {
  const path = join(fresh(), 'a.yaml');
  writeFileSync(path, 'a');
  const next = watched(t, path, { pollMs: 60_000 });
  await next();
  for (const text of ['', 'half', 'whole']) writeFileSync(path, text);
  await next();
  const more = next().then(() => 'another');
  const later = new Promise((resolve) => setTimeout(resolve, 600)).then(() => 'none');
  assert.equal(await Promise.race([more, later]), 'none');
});
