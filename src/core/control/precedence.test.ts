/** Classes in line against a plain list: the higher first, one start in twenty for each other, inside by the order. */

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Entry } from './call.js';
import type { Chosen, Ready } from './order.js';
import { LEAST_ONE_IN, ReadyByClass } from './precedence.js';
import { Rescue } from './rescue.js';
import type { Tier } from './tiers.js';

interface Told {
  readonly number: number;
  rank: number;
  tier: Tier | undefined;
}

/** By number; who is hopeless goes last, as the orders have it. */
class Plain implements Ready {
  readonly #told: Map<Entry, Told>;
  readonly #entries = new Set<Entry>();

  constructor(told: Map<Entry, Told>) {
    this.#told = told;
  }

  get size(): number {
    return this.#entries.size;
  }

  set(entry: Entry): void {
    this.#entries.add(entry);
  }

  delete(entry: Entry): void {
    this.#entries.delete(entry);
  }

  next(): Chosen | undefined {
    const all = [...this.#entries].map((entry) => ({ entry, told: this.#told.get(entry) as Told }));
    const last = ({ told }: (typeof all)[number]): number => Number(told.tier === 'hopeless');
    const [first] = all.toSorted((a, b) => last(a) - last(b) || a.told.number - b.told.number);
    return first && { entry: first.entry, tier: first.told.tier, rank: first.told.number };
  }
}

class Line {
  readonly told = new Map<Entry, Told>();
  readonly entries = new Map<number, Entry>();
  readonly ready = new ReadyByClass({
    rankOf: (entry) => (this.told.get(entry) as Told).rank,
    makeQueue: () => new Plain(this.told),
  });

  put(number: number, rank: number, tier?: Tier): void {
    const entry = this.entries.get(number) ?? ({ call: { number } } as Entry);
    this.entries.set(number, entry);
    this.told.set(entry, { number, rank, tier });
    this.ready.set(entry);
  }

  take(number: number): void {
    const entry = this.entries.get(number);
    if (entry === undefined) return;
    this.ready.delete(entry);
    this.entries.delete(number);
  }

  /** Who starts next, by number. */
  serve(): number | undefined {
    const chosen = this.ready.next(0);
    if (chosen === undefined) return undefined;
    equal(chosen.class, this.told.get(chosen.entry)?.rank);
    this.ready.served(chosen.entry);
    const { number } = chosen.entry.call;
    this.take(number);
    return number;
  }
}

/** The same by going through a list. */
class Model {
  readonly held = new Map<number, { rank: number; tier: Tier | undefined }>();
  readonly owed = new Map<number, number>();

  put(number: number, rank: number, tier?: Tier): void {
    this.held.set(number, { rank, tier });
    this.#forget();
  }

  take(number: number): void {
    this.held.delete(number);
    this.#forget();
  }

  serve(): number | undefined {
    const number = this.#next();
    if (number === undefined) return undefined;
    const rank = this.held.get(number)?.rank ?? 0;
    for (const each of this.#ranks()) this.owed.set(each, (this.owed.get(each) ?? 0) + 1);
    this.owed.set(rank, Math.max(0, (this.owed.get(rank) ?? 0) - LEAST_ONE_IN));
    this.take(number);
    return number;
  }

  #next(): number | undefined {
    const ranks = this.#ranks();
    const due = ranks.filter(
      (rank) => ranks.length > 1 && (this.owed.get(rank) ?? 0) >= LEAST_ONE_IN - 1 && this.#useful(rank),
    );
    const [owed] = due.toSorted((a, b) => (this.owed.get(b) ?? 0) - (this.owed.get(a) ?? 0));
    const rank = owed ?? ranks.find((one) => this.#useful(one));
    if (rank !== undefined) return Math.min(...this.#of(rank, false));
    return ranks.length === 0 ? undefined : Math.min(...this.#of(ranks[0] as number, true));
  }

  #useful(rank: number): boolean {
    return this.#of(rank, false).length > 0;
  }

  #of(rank: number, hopeless: boolean): number[] {
    return [...this.held]
      .filter(([, one]) => one.rank === rank && (one.tier === 'hopeless') === hopeless)
      .map(([number]) => number);
  }

  #ranks(): number[] {
    return [...new Set([...this.held.values()].map(({ rank }) => rank))].toSorted((a, b) => a - b);
  }

  /** A class that nobody of waits is owed nothing. */
  #forget(): void {
    for (const rank of this.owed.keys()) if (!this.#ranks().includes(rank)) this.owed.delete(rank);
  }
}

type Step =
  | { readonly kind: 'put'; readonly number: number; readonly rank: number; readonly tier?: Tier | undefined }
  | { readonly kind: 'take'; readonly number: number }
  | { readonly kind: 'serve'; readonly times: number };

const number = fc.nat({ max: 60 });
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('put' as const),
        number,
        rank: fc.constantFrom(0, 0, 0, 1, 1, 2, 7),
        tier: fc.constantFrom<Tier | undefined>(undefined, 'on_time', 'late', 'hopeless'),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('take' as const), number }) },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('serve' as const), times: fc.integer({ min: 1, max: 6 }) }),
    },
  ),
  { maxLength: 200 },
);

test('calls of several classes start as a plain list has them, whatever comes, goes and changes', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const [line, model] = [new Line(), new Model()];
      for (const step of all) {
        if (step.kind === 'put') {
          line.put(step.number, step.rank, step.tier);
          model.put(step.number, step.rank, step.tier);
        } else if (step.kind === 'take') {
          line.take(step.number);
          model.take(step.number);
        } else for (let at = 0; at < step.times; at += 1) equal(line.serve(), model.serve());
        equal(line.ready.size, model.held.size);
      }
    }),
    { numRuns: 300 },
  );
});

test('a class that waits has one start in twenty, however many of a higher one come', () => {
  const line = new Line();
  const served: number[] = [];
  for (let at = 0; at < 30; at += 1) line.put(10_000 + at, 2);
  for (let at = 0; at < 400; at += 1) {
    line.put(at, 0);
    const next = line.serve();
    if ((next ?? 0) >= 10_000) served.push(at);
  }
  deepEqual(
    served,
    Array.from({ length: 20 }, (_, at) => 19 + 20 * at),
  );
});

test('each of seven lower classes has its twentieth, and the highest has the rest', () => {
  const line = new Line();
  let serial = 0;
  const count = new Map<number, number>();
  for (let rank = 0; rank < 8; rank += 1) for (let at = 0; at < 2_000; at += 1) line.put(serial++, rank);
  for (let at = 0; at < 1_000; at += 1) {
    const rank = Math.floor((line.serve() ?? 0) / 2_000);
    count.set(rank, (count.get(rank) ?? 0) + 1);
  }
  for (let rank = 1; rank < 8; rank += 1) ok((count.get(rank) ?? 0) >= 49, `class ${rank}`);
  ok((count.get(0) ?? 0) >= 640, `${count.get(0)} of the highest`);
});

test('what is hopeless in a higher class goes behind what is not in a lower one', () => {
  const line = new Line();
  line.put(1, 0, 'hopeless');
  line.put(2, 2, 'late');
  line.put(3, 1, 'hopeless');
  deepEqual([line.serve(), line.serve(), line.serve()], [2, 1, 3]);
});

test('a call that would be lost goes before a higher class that has time, and is said to press', () => {
  const giveUps = new Map<Entry, number>();
  const ready = new ReadyByClass({
    rankOf: ({ call }) => call.number % 10,
    makeQueue: () =>
      new Plain(
        new Map([...giveUps.keys()].map((entry) => [entry, { number: 0, rank: 0, tier: 'on_time' }])),
      ),
    rescue: {
      make: () => new Rescue<Entry>(),
      dues: (entry) => ({
        deadlineAt: 0,
        giveUpAt: giveUps.get(entry) ?? 0,
        late: true,
        tenant: 't',
        weight: 1,
      }),
      prospect: () => ({ paceMs: 10, serviceMs: 10, longestMs: 0, margin: 1 }),
    },
  });
  const [high, low] = [{ call: { number: 10 } } as Entry, { call: { number: 12 } } as Entry];
  giveUps.set(high, 500).set(low, 100);
  ready.set(high);
  ready.set(low);
  equal(ready.next(50)?.entry, high);
  deepEqual(ready.next(85), { entry: low, tier: 'pressing', class: 2, rank: 12 });
});
