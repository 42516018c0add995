/** That the comparison with other gateways measures something, and notices what is no answer. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Compared } from '../../bench/gateways/comparison.js';
import { JSON_WORDS } from '../../bench/gateways/workload.js';
import { FakeEngine, json, type Script } from '../support/fake-engine.js';
import { ROOT } from '../support/root.js';

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const LIMIT_MS = 120_000;
const SHORT = ['--quick', '--seconds', '0.2', '--streams', '20', '--json'] as const;

function bench(...args: readonly string[]): Promise<Ended> {
  const main = join(ROOT, 'dist', 'bench', 'gateways', 'main.js');
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], { timeout: LIMIT_MS }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

test('the bench counts whole answers, latencies, CPU and held streams of each contender', async () => {
  const { code, stdout, stderr } = await bench(...SHORT);
  assert.equal(code, 0, stderr);
  const all = JSON.parse(stdout) as Compared[];
  assert.deepEqual(
    all.map(({ name }) => name),
    ['direct', 'bare pipe', 'Holdfast'],
  );
  for (const { name, rates, latencies, held } of all) {
    for (const [workload, rounds] of Object.entries(rates)) {
      const [round] = rounds;
      assert.ok(round !== undefined && round.perSecond > 0, `${name}, ${workload}`);
      assert.equal(round.taken.faults, 0);
    }
    if (name === 'direct') continue;
    for (const [workload, rounds] of Object.entries(latencies)) {
      const [round] = rounds;
      assert.ok(round !== undefined && (round.through.endMs.p50 ?? 0) > 0, `${name}, ${workload}`);
      assert.ok((round.direct.endMs.p50 ?? 0) > 0);
    }
    assert.ok(typeof held === 'object' && held.taken.whole === 20, `${name}: ${JSON.stringify(held)}`);
  }
});

const BROKEN: readonly { readonly what: string; readonly script: Script; readonly said: string }[] = [
  { what: 'the answer of another request', script: json({ choices: [] }), said: 'not the answer to' },
  {
    what: 'half of the words',
    script: ({ body, response }) => {
      const [marker = ''] = /holdfast-bench-\w+/.exec(body) ?? [];
      response.end(`${marker} ${'~w'.repeat(JSON_WORDS / 2)} "stop" "usage"`);
    },
    said: `${JSON_WORDS / 2} words of ${JSON_WORDS}`,
  },
  { what: 'an error', script: json({ error: 'no' }, 500), said: 'status 500' },
];

for (const { what, script, said } of BROKEN) {
  test(`a gateway that gives ${what} is reported and counts no answer`, async (t) => {
    const engine = await FakeEngine.start(script);
    t.after(() => engine.stop());
    const also = `broken=${engine.url}/v1/chat/completions`;
    const { code, stdout, stderr } = await bench(...SHORT, '--only', 'direct', '--also', also);
    assert.equal(code, 4, stderr);
    assert.ok(stderr.includes(said), stderr);
    const broken = (JSON.parse(stdout) as Compared[]).find(({ name }) => name === 'broken');
    assert.deepEqual(
      broken?.rates['1 kB'].map(({ perSecond }) => perSecond),
      [0],
    );
  });
}

test('an unknown contender is answered with the known ones', async () => {
  const { code, stderr } = await bench('--quick', '--only', 'nginy');
  assert.equal(code, 2);
  assert.ok(stderr.includes('--only must be one of "direct"'), stderr);
});
