/** A profile is data: what is written is read back, and each thing that does not fit is named with its bounds. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { PROFILES } from '../../core/engine/profiles.js';
import { UserError } from '../shared/errors.js';
import { profileNamed, readProfile, writeProfile } from './profile-file.js';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-profile-'));
after(() => rmSync(folder, { recursive: true }));
const path = join(folder, 'mine.json');

test('every built-in profile can be written and is read back the same', () => {
  for (const profile of PROFILES) {
    assert.equal(profileNamed(profile.name), profile);
    writeProfile(path, profile);
    assert.deepEqual(profileNamed(path), { ...profile, name: path });
  }
});

const COST = {
  host_ms: 1,
  efficiency: 1,
  fixed_ms: 0,
  weights_ms: 5,
  token_ms: 0.02,
  pair_ms: 0,
  context_ms: 0,
};
const WHOLE = { model: 'm', num_gpu_blocks: 100, max_model_len: 2_048, cost: COST };

test('what does not fit is refused with its path and bounds', () => {
  const cases: [value: unknown, message: RegExp][] = [
    [
      { ...WHOLE, num_gpu_blocks: 1.5 },
      /\n {2}num_gpu_blocks must be a whole number from 2 to 16777216, not 1.5$/,
    ],
    [
      { ...WHOLE, cost: { ...COST, token_ms: -1 } },
      /\n {2}cost\.token_ms must be a number from 0 to 1000000, not -1$/,
    ],
    [{ ...WHOLE, cost: { ...COST, pair_ms: '0' } }, /\n {2}cost\.pair_ms must be a number .*, not "0"$/],
    [
      { ...WHOLE, cost: { ...COST, efficiency: 0 } },
      /\n {2}cost\.efficiency must be a number from 0\.000001/,
    ],
    [
      { ...WHOLE, cost: { ...COST, tokens_ms: 1 } },
      /\n {2}cost has a key "tokens_ms" .* did you mean token_ms\?$/,
    ],
    [{ ...WHOLE, model: '' }, /\n {2}model must be a name of 1 to 256 characters, not ""$/],
    [{ ...WHOLE, max_model_len: undefined }, /\n {2}max_model_len must be .*, not nothing$/],
    [{ ...WHOLE, cost: 3 }, /\n {2}cost must be a mapping of keys, not 3$/],
    [[], /\n {2}must be a mapping of keys, not \[\]$/],
    [{ model: 'm' }, /num_gpu_blocks[\s\S]*max_model_len[\s\S]*cost/],
  ];
  for (const [value, message] of cases) {
    writeFileSync(path, JSON.stringify(value));
    assert.throws(
      () => readProfile(path),
      (error) => error instanceof UserError && error.code === 'input_invalid' && message.test(error.message),
      JSON.stringify(value),
    );
  }
});

test('a file that cannot be read or is not JSON is said so', () => {
  assert.throws(() => readProfile(join(folder, 'none.json')), /cannot read the profile: .*ENOENT/);
  writeFileSync(path, '{');
  assert.throws(() => readProfile(path), /mine\.json is not JSON/);
  assert.throws(
    () => writeProfile(join(folder, 'no', 'where.json'), PROFILES[0] as never),
    /cannot write the profile/,
  );
});
