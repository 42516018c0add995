/** The heap's law: whatever goes in comes out in the caller's order. */

import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Heap } from './heap.js';

const ascending = (): Heap<number> => new Heap<number>((a, b) => a < b);

function drained<T>(heap: Heap<T>): T[] {
  const items: T[] = [];
  for (let item = heap.pop(); item !== undefined; item = heap.pop()) items.push(item);
  return items;
}

test('an empty heap has nothing to give', () => {
  const heap = ascending();
  equal(heap.size, 0);
  equal(heap.peek(), undefined);
  equal(heap.pop(), undefined);
});

test('everything that goes in comes out once, in order', () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), (items) => {
      const heap = ascending();
      for (const item of items) heap.push(item);
      equal(heap.size, items.length);
      deepEqual(
        drained(heap),
        items.toSorted((a, b) => a - b),
      );
      equal(heap.size, 0);
    }),
  );
});

test('pushes and pops in any mixture give what a sorted list gives', () => {
  const step = fc.option(fc.integer({ min: 0, max: 20 }), { nil: 'pop' as const });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const heap = ascending();
      const sorted: number[] = [];
      for (const next of steps) {
        equal(heap.peek(), sorted[0]);
        if (next === 'pop') {
          equal(heap.pop(), sorted.shift());
        } else {
          heap.push(next);
          sorted.push(next);
          sorted.sort((a, b) => a - b);
        }
        equal(heap.size, sorted.length);
      }
    }),
  );
});
