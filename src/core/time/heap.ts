/** A binary heap with a caller's order: the base of every agenda in the core. */

export class Heap<T> {
  /** Comes out before all of `items`; undefined when that is not known. */
  #first: T | undefined;
  readonly #items: T[] = [];
  readonly #before: (a: T, b: T) => boolean;

  /** `before(a, b)` is a strict order: true when `a` must come out first. */
  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before;
  }

  get size(): number {
    return this.#items.length + (this.#first === undefined ? 0 : 1);
  }

  peek(): T | undefined {
    return this.#first ?? this.#items[0];
  }

  /** What is due next is often asked for last: it waits beside the heap and moves nothing in it. */
  push(item: T): void {
    const first = this.peek();
    if (first !== undefined && !this.#before(item, first)) this.#rise(item);
    else {
      if (this.#first !== undefined) this.#rise(this.#first);
      this.#first = item;
    }
  }

  pop(): T | undefined {
    const first = this.#first;
    if (first !== undefined) {
      this.#first = undefined;
      return first;
    }
    const items = this.#items;
    const top = items[0];
    const last = items.pop();
    if (items.length === 0 || last === undefined) return top;
    this.#sink(last);
    return top;
  }

  #rise(item: T): void {
    const items = this.#items;
    let at = items.length;
    items.push(item);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = items[parent] as T;
      if (!this.#before(item, above)) break;
      items[at] = above;
      at = parent;
    }
    items[at] = item;
  }

  #sink(item: T): void {
    const items = this.#items;
    const size = items.length;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= size) break;
      const right = child + 1;
      if (right < size && this.#before(items[right] as T, items[child] as T)) child = right;
      const below = items[child] as T;
      if (!this.#before(below, item)) break;
      items[at] = below;
      at = child;
    }
    items[at] = item;
  }
}
