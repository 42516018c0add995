/** When what is due next: one moment an item, movable and removable, so that nothing stale is ever held. */

interface Slot<T> {
  readonly item: T;
  at: number;
  order: number;
  index: number;
}

/** An indexed binary heap by time, then by order of setting; every operation is O(log n). */
export class Agenda<T> {
  readonly #slots: Slot<T>[] = [];
  readonly #byItem = new Map<T, Slot<T>>();
  #order = 0;

  get size(): number {
    return this.#slots.length;
  }

  has(item: T): boolean {
    return this.#byItem.has(item);
  }

  /** The earliest item; it stays. */
  peek(): T | undefined {
    return this.#slots[0]?.item;
  }

  /** The earliest moment, or Infinity. */
  nextAt(): number {
    return this.#slots[0]?.at ?? Number.POSITIVE_INFINITY;
  }

  /** Puts `item` at `at`, moving it there if it had another moment; Infinity removes it. */
  set(item: T, at: number): void {
    const known = this.#byItem.get(item);
    if (at === Number.POSITIVE_INFINITY) {
      if (known !== undefined) this.#remove(known);
      return;
    }
    if (known === undefined) {
      const slot: Slot<T> = { item, at, order: this.#order++, index: this.#slots.length };
      this.#byItem.set(item, slot);
      this.#slots.push(slot);
      this.#rise(slot);
    } else if (known.at !== at) {
      known.at = at;
      known.order = this.#order++;
      this.#settle(known);
    }
  }

  delete(item: T): void {
    const known = this.#byItem.get(item);
    if (known !== undefined) this.#remove(known);
  }

  /** Takes out and returns the earliest item whose moment is at or before `until`. */
  takeDue(until: number): { readonly item: T; readonly at: number } | undefined {
    const first = this.#slots[0];
    if (first === undefined || first.at > until) return undefined;
    this.#remove(first);
    return { item: first.item, at: first.at };
  }

  #remove(slot: Slot<T>): void {
    this.#byItem.delete(slot.item);
    const last = this.#slots.pop();
    if (last === undefined || last === slot) return;
    last.index = slot.index;
    this.#slots[last.index] = last;
    this.#settle(last);
  }

  #settle(slot: Slot<T>): void {
    this.#rise(slot);
    this.#sink(slot);
  }

  #before(a: Slot<T>, b: Slot<T>): boolean {
    return a.at < b.at || (a.at === b.at && a.order < b.order);
  }

  #swap(a: Slot<T>, b: Slot<T>): void {
    const index = a.index;
    a.index = b.index;
    b.index = index;
    this.#slots[a.index] = a;
    this.#slots[b.index] = b;
  }

  #rise(slot: Slot<T>): void {
    while (slot.index > 0) {
      const parent = this.#slots[(slot.index - 1) >> 1] as Slot<T>;
      if (!this.#before(slot, parent)) return;
      this.#swap(slot, parent);
    }
  }

  #sink(slot: Slot<T>): void {
    for (;;) {
      const left = this.#slots[2 * slot.index + 1];
      const right = this.#slots[2 * slot.index + 2];
      if (left === undefined) return;
      const child = right !== undefined && this.#before(right, left) ? right : left;
      if (!this.#before(child, slot)) return;
      this.#swap(slot, child);
    }
  }
}
