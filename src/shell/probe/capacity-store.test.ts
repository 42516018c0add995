/** Measured capacities in a file: found again, known to be stale, never half written, refused when broken. */

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { PUBLISHED_PLAN } from '../../core/drill/plan.js';
import { UserError } from '../shared/errors.js';
import {
  type CapacityOf,
  capacityFor,
  defaultStore,
  type KeptCapacity,
  keepCapacity,
  workloadDigest,
} from './capacity-store.js';

const OF: CapacityOf = {
  target: 'http://127.0.0.1:8000',
  model: 'm',
  workload: workloadDigest(PUBLISHED_PLAN.workload),
  engine: { version: '0.30.0', num_gpu_blocks: '65000' },
};
const KEPT: KeptCapacity = {
  ...OF,
  engine: { ...OF.engine },
  capacity: 2.78,
  grain: 0.02,
  servedPerSecond: 2.84,
  signal: 'waiting',
  measuredAt: '2026-01-02T03:04:05.000Z',
};

function withStore(use: (path: string) => void): void {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-store-'));
  try {
    use(join(directory, 'deep', 'capacities.json'));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test('a capacity is found again by target, model and workload', () => {
  withStore((path) => {
    assert.deepEqual(capacityFor(path, OF), { kind: 'none' });
    keepCapacity(path, KEPT);
    assert.deepEqual(capacityFor(path, OF), { kind: 'known', kept: KEPT });
    for (const other of [{ target: 'http://a' }, { model: 'n' }, { workload: 'w' }]) {
      assert.deepEqual(capacityFor(path, { ...OF, ...other }), { kind: 'none' });
    }
  });
});

test('a capacity of an engine that has changed is stale, and it is said in what', () => {
  withStore((path) => {
    keepCapacity(path, KEPT);
    const found = capacityFor(path, { ...OF, engine: { version: '0.31.0', block_size: '16' } });
    assert.ok(found.kind === 'stale');
    assert.deepEqual(found.differs, [
      'version was 0.30.0, is 0.31.0',
      'num_gpu_blocks was 65000, is not told',
      'block_size was not told, is 16',
    ]);
  });
});

test('a new measurement takes the place of the old one, and leaves no other file behind', () => {
  withStore((path) => {
    keepCapacity(path, KEPT);
    keepCapacity(path, { ...KEPT, model: 'other' });
    keepCapacity(path, { ...KEPT, capacity: 2.9 });
    const found = capacityFor(path, OF);
    assert.ok(found.kind === 'known' && found.kept.capacity === 2.9);
    assert.equal((JSON.parse(readFileSync(path, 'utf8')) as { capacities: [] }).capacities.length, 2);
    assert.deepEqual(readdirSync(dirname(path)), ['capacities.json']);
  });
});

test('a file that holds something else is refused by name, not overwritten', () => {
  withStore((path) => {
    keepCapacity(path, KEPT);
    const whole = readFileSync(path, 'utf8');
    for (const broken of ['', whole.slice(0, -20), '{}', whole.replace('2.78', '-2.78')]) {
      writeFileSync(path, broken);
      for (const touch of [() => capacityFor(path, OF), () => keepCapacity(path, KEPT)]) {
        assert.throws(touch, (error) => {
          return error instanceof UserError && error.exitCode === 2 && /capacities\.json/.test(error.message);
        });
      }
      assert.equal(readFileSync(path, 'utf8'), broken);
    }
  });
});

test('the same workload has the same digest whatever the order of its keys, another has another', () => {
  const { promptTokens, responseTokens, sharedPrefixTokens } = PUBLISHED_PLAN.workload;
  const turned = { sharedPrefixTokens, responseTokens, promptTokens };
  assert.equal(workloadDigest(turned), OF.workload);
  assert.notEqual(workloadDigest({ ...turned, sharedPrefixTokens: 1_999 }), OF.workload);
});

test('the file is where XDG keeps state', () => {
  assert.equal(defaultStore({ XDG_STATE_HOME: '/s' }), '/s/holdfast/capacities.json');
  assert.equal(defaultStore({ HOME: '/h' }), '/h/.local/state/holdfast/capacities.json');
});
