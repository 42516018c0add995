/** Block hashes are equal exactly when the tokens up to the block's end are. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forEachSeed } from '../../../tests/support/seeds.js';
import { Random } from '../chance/random.js';
import { Execution } from './execution.js';
import { IdTokens, Prompt, SegmentTokens } from './tokens.js';

type Segments = readonly (readonly [segment: number, length: number])[];

/** Every token spelled out. */
function spelled(segments: Segments): string[] {
  return segments.flatMap(([segment, length]) => Array.from({ length }, (_, at) => `${segment}.${at}`));
}

function hashes(prompt: Prompt, blockSize: number): string[] {
  const count = Math.floor(prompt.length / blockSize);
  prompt.hash(blockSize);
  return Array.from({ length: count }, (_, at) => `${prompt.lo(at)}/${prompt.hi(at)}`);
}

test('prompts share block hashes exactly as far as their segments agree', () => {
  forEachSeed(300, (seed) => {
    const random = new Random(seed, 'tokens');
    const blockSize = random.integer(2, 16);
    const draw = (): Segments =>
      [1, 2, 3].map((first) => [random.integer(first, first + 1), random.integer(1, 30)] as const);
    const [a, b] = [draw(), draw()];
    const [left, right] = [spelled(a), spelled(b)];
    const [ours, theirs] = [hashes(Prompt.ofSegments(a), blockSize), hashes(Prompt.ofSegments(b), blockSize)];
    for (let index = 0; index < Math.min(ours.length, theirs.length); index += 1) {
      const end = (index + 1) * blockSize;
      const same = left.slice(0, end).join() === right.slice(0, end).join();
      assert.equal(ours[index] === theirs[index], same, `block ${index} of ${blockSize}`);
    }
  });
});

test('prompts of ids share block hashes exactly as far as their ids agree, under one salt', () => {
  const ids = Array.from({ length: 64 }, (_, at) => at % 7);
  const other = ids.with(40, 99);
  const of = (list: number[], salt = 0): string[] => hashes(new Prompt(new IdTokens(list), salt), 16);
  assert.deepEqual(of(ids).slice(0, 2), of(other).slice(0, 2));
  assert.deepEqual(
    of(ids).map((hash, at) => hash === of(other)[at]),
    [true, true, false, false],
  );
  assert.ok(of(ids, 1).every((hash) => !of(ids).includes(hash)));
});

test('a prompt that repeats an earlier prompt and its output finds the blocks of both', () => {
  const output = new IdTokens([7, 8, 9, 10, 11, 12, 13]);
  const execution = new Execution(
    { id: 'a', prompt: new Prompt(new IdTokens([1, 2, 3, 4, 5])), maxTokens: 7, output },
    0,
  );
  execution.outputTokens = 7;
  const later = new Prompt(new IdTokens([1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13]));
  // In two parts, as a lookup and a longer one after it do.
  execution.chain.hashUpTo(1, 4);
  execution.chain.hashUpTo(3, 4);
  const own = [0, 1, 2].map((at) => `${execution.chain.lo(at)}/${execution.chain.hi(at)}`);
  assert.deepEqual(own, hashes(later, 4));
});

test('outputs of unknown tokens are never equal to one another', () => {
  const prompt = new Prompt(new SegmentTokens([[1, 4]]));
  const seen = ['a', 'b'].map((id) => {
    const execution = new Execution({ id, prompt, maxTokens: 8 }, 0);
    execution.outputTokens = 8;
    execution.chain.hashUpTo(2, 4);
    return execution.chain.lo(1);
  });
  assert.notEqual(seen[0], seen[1]);
});
