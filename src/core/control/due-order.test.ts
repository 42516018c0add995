/** The order of due moments against a sorted list: same first, same latest beginning, same first miss. */

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DueOrder } from './due-order.js';

interface Held {
  readonly name: number;
  readonly due: number;
  readonly work: number;
  readonly number: number;
}

/** Everything by going through a sorted list. */
class Plain {
  held: Held[] = [];
  paceMs = 0;
  #number = 0;

  set(name: number, due: number, work: number): void {
    const known = this.held.find((one) => one.name === name);
    if (known?.due === due && known.work === work) return;
    this.delete(name);
    this.held.push({ name, due, work, number: this.#number++ });
    this.held.sort((a, b) => a.due - b.due || a.number - b.number);
  }

  delete(name: number): void {
    this.held = this.held.filter((one) => one.name !== name);
  }

  latestBeginning(): number {
    let [done, latest] = [0, Number.POSITIVE_INFINITY];
    for (const { due, work } of this.held) {
      done += this.paceMs * work;
      latest = Math.min(latest, due - done);
    }
    return latest;
  }

  firstMissing(now: number): number | undefined {
    let done = now;
    for (const { name, due, work } of this.held) {
      done += this.paceMs * work;
      if (done > due) return name;
    }
    return undefined;
  }
}

const change = fc.oneof(
  fc.record({
    kind: fc.constant('set' as const),
    name: fc.integer({ min: 0, max: 30 }),
    due: fc.integer({ min: 0, max: 400 }),
    work: fc.integer({ min: 1, max: 4 }),
  }),
  fc.record({ kind: fc.constant('delete' as const), name: fc.integer({ min: 0, max: 30 }) }),
  fc.record({ kind: fc.constant('pace' as const), paceMs: fc.integer({ min: 0, max: 20 }) }),
);

test('whatever is added, moved, removed or paced anew, the order answers as a sorted list does', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 120 }), fc.integer({ min: 0, max: 400 }), (changes, now) => {
      const order = new DueOrder<number>();
      const plain = new Plain();
      for (const one of changes) {
        if (one.kind === 'set') {
          order.set(one.name, one.due, one.work);
          plain.set(one.name, one.due, one.work);
        } else if (one.kind === 'delete') {
          equal(
            order.delete(one.name),
            plain.held.some(({ name }) => name === one.name),
          );
          plain.delete(one.name);
        } else {
          order.paceMs = one.paceMs;
          plain.paceMs = one.paceMs;
        }
        equal(order.size, plain.held.length);
        equal(
          order.work,
          plain.held.reduce((sum, { work }) => sum + work, 0),
        );
        equal(order.first(), plain.held[0]?.name);
        equal(order.latestBeginning, plain.latestBeginning());
        equal(order.firstMissing(now), plain.firstMissing(now));
      }
      const drained: (number | undefined)[] = [];
      while (order.size > 0) {
        const first = order.first();
        drained.push(first);
        if (first !== undefined) order.delete(first);
      }
      deepEqual(
        drained,
        plain.held.map(({ name }) => name),
      );
    }),
  );
});

test('an item tells when it is due for as long as it is here', () => {
  const order = new DueOrder<string>(10);
  order.set('a', 30);
  equal(order.dueOf('a'), 30);
  ok(order.has('a'));
  order.delete('a');
  equal(order.dueOf('a'), undefined);
  ok(!order.has('a'));
});
