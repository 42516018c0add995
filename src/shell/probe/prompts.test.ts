/** Prompts: their lengths, what they share, and that no two calls have the same. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PlannedCall, PUBLISHED_CLIENT } from '../../core/drill/plan.js';
import { PROMPT_FORMS, type PromptForm, Prompts } from './prompts.js';

function call(index: number, promptTokens = 700, sharedPrefixTokens = 100): PlannedCall {
  const lengths = { promptTokens, sharedPrefixTokens, responseTokens: 5 };
  return { index, stage: 0, atMs: 0, client: PUBLISHED_CLIENT, ...lengths };
}

function prompts(
  form: PromptForm,
  settings: { seed?: number; salt?: string; vocabulary?: number } = {},
): Prompts {
  return new Prompts({ form, seed: 1, salt: '', vocabulary: 256, ...settings });
}

/** Tokens of a prompt as they are spelt. */
function tokens(form: PromptForm, of: Prompts, asked: PlannedCall): readonly string[] {
  const read = JSON.parse(of.json(asked).toString()) as number[] | string;
  if (typeof read !== 'string') return read.map(String);
  return form === 'text' ? read.trim().split(' ') : read.split('');
}

test('a prompt has as many tokens as were planned, in every form', () => {
  for (const form of PROMPT_FORMS) {
    const of = prompts(form);
    for (const [length, shared] of [
      [700, 100],
      [1, 0],
      [5, 4],
      [300, 299],
      [12_345, 2_000],
    ] as const) {
      assert.equal(tokens(form, of, call(3, length, shared)).length, length, `${form} ${length}`);
    }
  }
});

test('attempts of a call are the same bytes, calls share their prefix and differ right behind it', () => {
  for (const form of PROMPT_FORMS) {
    const of = prompts(form);
    const [one, again, other] = [call(7), call(7), call(8)].map((each) => tokens(form, of, each));
    assert.deepEqual(one, again);
    assert.deepEqual(one?.slice(0, 100), other?.slice(0, 100));
    assert.notDeepEqual(one?.slice(100, 108), other?.slice(100, 108));
    assert.deepEqual(tokens(form, of, call(9, 50, 20)).slice(0, 20), one?.slice(0, 20));
  }
});

test('a traced call has the blocks that its trace names, shared with whoever has the same, and a rest of its own', () => {
  const spelt = (index: number, blocks: readonly number[]): readonly string[] =>
    tokens('tokens', prompts('tokens'), { ...call(index, 1_200, 0), blocks });
  const [one, other, third] = [spelt(0, [7, 8]), spelt(1, [7, 8]), spelt(2, [7, 9])];
  assert.equal(one.length, 1_200);
  assert.deepEqual(one.slice(0, 1_024), other.slice(0, 1_024));
  assert.notDeepEqual(one.slice(1_024), other.slice(1_024));
  assert.deepEqual(one.slice(0, 512), third.slice(0, 512));
  assert.notDeepEqual(one.slice(512, 528), third.slice(512, 528));
  assert.notDeepEqual(spelt(7, []).slice(0, 16), one.slice(0, 16));
});

test('a hundred thousand calls have as many prompts, even short ones', () => {
  for (const form of PROMPT_FORMS) {
    const of = prompts(form);
    const seen = new Set<string>();
    for (let index = 0; index < 100_000; index += 1)
      seen.add(of.json(call(index, 12, 11)).toString('latin1'));
    assert.equal(seen.size, 100_000, form);
  }
});

test('seed and salt make other prompts, the same ones the same', () => {
  const bytes = (of: Prompts): string => of.json(call(1)).toString();
  assert.equal(bytes(prompts('tokens')), bytes(prompts('tokens')));
  assert.notEqual(bytes(prompts('tokens', { seed: 2 })), bytes(prompts('tokens')));
  assert.notEqual(bytes(prompts('tokens', { salt: 'other' })), bytes(prompts('tokens')));
});

test('token ids stay inside the vocabulary, whatever its size', () => {
  for (const vocabulary of [32, 100, 150, 256, 1_001, 32_000, 152_064]) {
    const ids = tokens('tokens', prompts('tokens', { vocabulary }), call(5, 2_000, 0)).map(Number);
    assert.ok(
      ids.every((id) => id >= 0 && id < vocabulary),
      String(vocabulary),
    );
    assert.ok(new Set(ids).size >= 20, String(vocabulary));
  }
  assert.throws(() => prompts('tokens', { vocabulary: 5 }), /vocabulary must be a whole number from 32/);
});
