/** A test that cannot have what it needs is skipped with a reason, or fails where nothing may be left out. */

import { deepEqual, equal, rejects } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, type TestContext, test } from 'node:test';
import { installation } from './installation.js';
import { requirement } from './requirement.js';

/** As much of a test's context as a requirement uses. */
function context(): { readonly skipped: string[]; readonly as: TestContext } {
  const skipped: string[] = [];
  return { skipped, as: { skip: (reason: string) => skipped.push(reason) } as unknown as TestContext };
}

describe('requirement', () => {
  const before = process.env['HOLDFAST_REQUIRE_ALL'];
  beforeEach(() => {
    delete process.env['HOLDFAST_REQUIRE_ALL'];
  });
  afterEach(() => {
    if (before === undefined) delete process.env['HOLDFAST_REQUIRE_ALL'];
    else process.env['HOLDFAST_REQUIRE_ALL'] = before;
  });

  test('hands over what was obtained, and obtains it once', async () => {
    let times = 0;
    const needed = requirement('a counter', () => {
      times += 1;
      return times;
    });
    const { as, skipped } = context();
    deepEqual([await needed.met(as), await needed.met(as)], [1, 1]);
    deepEqual(skipped, []);
  });

  test('skips with its name and the reason when it cannot be had', async () => {
    const needed = requirement('the moon', () => {
      throw new Error('out\n  of reach');
    });
    const { as, skipped } = context();
    equal(await needed.met(as), undefined);
    deepEqual(skipped, ['the moon: out of reach']);
  });

  test('fails instead of skipping under HOLDFAST_REQUIRE_ALL=1', async () => {
    process.env['HOLDFAST_REQUIRE_ALL'] = '1';
    const needed = requirement('the moon', () => Promise.reject(new Error('out of reach')));
    const { as, skipped } = context();
    await rejects(needed.met(as), /the moon: out of reach \(HOLDFAST_REQUIRE_ALL=1/);
    deepEqual(skipped, []);
  });
});

describe('installation', () => {
  let cache: string;
  beforeEach(() => {
    cache = mkdtempSync(join(tmpdir(), 'holdfast-cache-'));
  });
  afterEach(() => {
    rmSync(cache, { recursive: true });
  });

  test('installs once for all who ask at the same time, and again when the contents change', async () => {
    let times = 0;
    const ask = (contents: string): Promise<string> =>
      installation(
        'part',
        contents,
        async () => {
          await Promise.resolve();
          times += 1;
        },
        cache,
      );
    deepEqual(await Promise.all([ask('1'), ask('1'), ask('1')]), Array(3).fill(join(cache, 'part')));
    equal(times, 1);
    await ask('2');
    equal(times, 2);
  });

  test('a failed installation is tried again, from an empty folder', async () => {
    await rejects(
      installation(
        'part',
        '1',
        (folder) => {
          writeFileSync(join(folder, 'half'), '');
          return Promise.reject(new Error('the network is away'));
        },
        cache,
      ),
      /the network is away/,
    );
    await installation(
      'part',
      '1',
      async (folder) => writeFileSync(join(folder, 'half'), '', { flag: 'wx' }),
      cache,
    );
  });

  test('a lock that a killed process left behind is taken over', async () => {
    const gone = spawnSync(process.execPath, ['--eval', '']).pid;
    writeFileSync(join(cache, 'part.lock'), String(gone));
    equal(await installation('part', '1', () => Promise.resolve(), cache), join(cache, 'part'));
  });
});
