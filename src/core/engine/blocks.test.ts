/** Blocks kept in stretches are found, taken and forgotten exactly as blocks kept one by one. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forEachSeed } from '../../../tests/support/seeds.js';
import { Random } from '../chance/random.js';
import { BlockPool, type Hits, Holding } from './blocks.js';
import { Chain } from './chain.js';
import { IdTokens, Prompt } from './tokens.js';

const BLOCK_SIZE = 2;

interface Block {
  users: number;
  /** All tokens up to its end; empty when it remembers nothing. */
  content: string;
}

/** A pool that keeps each block by itself: the free ones in a list, the remembered ones in order of remembering. */
class PlainPool {
  readonly free: Block[];
  readonly #remembered: Block[] = [];

  constructor(usable: number) {
    this.free = Array.from({ length: usable }, () => ({ users: 0, content: '' }));
  }

  find(contents: readonly string[]): Block[] {
    const found = contents.map((content) => this.#remembered.find((block) => block.content === content));
    const miss = found.indexOf(undefined);
    return found.slice(0, miss === -1 ? found.length : miss).filter((block) => block !== undefined);
  }

  share(blocks: readonly Block[]): void {
    for (const block of blocks) {
      if (block.users === 0) this.free.splice(this.free.indexOf(block), 1);
      block.users += 1;
    }
  }

  take(count: number): Block[] {
    const taken = this.free.splice(0, count);
    for (const block of taken) {
      if (block.content !== '') this.#remembered.splice(this.#remembered.indexOf(block), 1);
      block.content = '';
      block.users = 1;
    }
    return taken;
  }

  remember(block: Block, content: string): void {
    block.content = content;
    this.#remembered.push(block);
  }

  release(blocks: readonly Block[]): void {
    for (const block of blocks.toReversed()) {
      block.users -= 1;
      if (block.users > 0) continue;
      if (block.content === '') this.free.unshift(block);
      else this.free.push(block);
    }
  }
}

/** One execution at both pools. */
class Holder {
  readonly holding = new Holding();
  readonly chain: Chain;
  /** What its blocks will have remembered, one a full block. */
  readonly contents: readonly string[];
  blocks: Block[] = [];

  constructor(tokens: number[], promptLength: number) {
    const [prompt, output] = [tokens.slice(0, promptLength), tokens.slice(promptLength)];
    this.chain = new Chain(new Prompt(new IdTokens(prompt)), new IdTokens(output));
    const full = Math.floor(tokens.length / BLOCK_SIZE);
    this.chain.hashUpTo(full, BLOCK_SIZE);
    this.contents = Array.from({ length: full }, (_, at) => tokens.slice(0, (at + 1) * BLOCK_SIZE).join());
  }
}

class Pair {
  readonly holders: Holder[] = [];
  readonly #random: Random;
  readonly #pool: BlockPool;
  readonly #plain: PlainPool;
  readonly #hits: Hits = { stretches: [], ends: [] };

  constructor(random: Random) {
    const usable = random.integer(10, 60);
    this.#random = random;
    this.#pool = new BlockPool(usable + 1);
    this.#plain = new PlainPool(usable);
  }

  /** One execution comes with few different tokens, so that contents repeat; how many blocks it found. */
  admit(): number {
    const tokens = Array.from({ length: this.#random.integer(2, 30) }, () =>
      this.#random.uniform() < 0.93 ? 1 : 2,
    );
    const holder = new Holder(tokens, this.#random.integer(1, tokens.length));
    // Fewer than could be found, as of a prompt whose last token is not taken from the cache.
    const most = this.#random.integer(0, holder.contents.length);
    const found = this.#plain.find(holder.contents.slice(0, most));
    assert.equal(this.#pool.find(holder.chain, most, this.#hits), found.length);
    const free = found.filter(({ users }) => users === 0).length;
    assert.equal(this.#pool.freeAmong(this.#hits), free);
    if (free > this.#plain.free.length) return 0;
    this.#plain.share(found);
    this.#pool.share(this.#hits, holder.holding);
    holder.blocks = found;
    this.holders.push(holder);
    return found.length;
  }

  grow(holder: Holder): void {
    const room = Math.min(this.#plain.free.length, holder.contents.length - holder.blocks.length);
    const count = this.#random.integer(0, room);
    holder.blocks.push(...this.#plain.take(count));
    this.#pool.take(holder.holding, count);
  }

  remember(holder: Holder): void {
    const { blocks, holding, chain, contents } = holder;
    const from = holding.remembered;
    const to = this.#random.integer(from, blocks.length);
    for (let at = from; at < to; at += 1) this.#plain.remember(blocks[at] as Block, contents[at] as string);
    this.#pool.remember(holding, chain, to);
  }

  release(holder: Holder): void {
    this.holders.splice(this.holders.indexOf(holder), 1);
    this.#plain.release(holder.blocks);
    this.#pool.release(holder.holding);
  }

  agree(): void {
    assert.equal(this.#pool.free, this.#plain.free.length);
  }
}

test('stretches of blocks are found, shared, taken and forgotten as single blocks are', () => {
  let found = 0;
  forEachSeed(500, (seed) => {
    const random = new Random(seed, 'blocks');
    const pair = new Pair(random);
    for (let step = 0; step < 400; step += 1) {
      const holder = pair.holders[random.integer(0, Math.max(0, pair.holders.length - 1))];
      const kind = random.integer(0, 5);
      if (holder === undefined || kind < 2) found += pair.admit();
      else if (kind === 2) pair.grow(holder);
      else if (kind < 5) pair.remember(holder);
      else pair.release(holder);
      pair.agree();
    }
  });
  assert.ok(found > 10_000, `only ${found} blocks were found again`);
});
