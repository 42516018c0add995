/** Our scheduler decides what vLLM's decided, operation by operation. */

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { firstDifference, readScenarios } from '../support/vectors.js';

const folder = new URL('../../../tests/vectors/', import.meta.url);

for (const file of readdirSync(folder).filter((name) => name.endsWith('.jsonl.gz'))) {
  test(`every recorded operation of ${file} is reproduced`, () => {
    const scenarios = readScenarios(new URL(file, folder).pathname);
    assert.ok(scenarios.length > 0);
    const differences = scenarios.map(firstDifference).filter((each) => each !== undefined);
    assert.deepEqual(differences.slice(0, 3), [], `${differences.length} of ${scenarios.length} differ`);
  });
}
