/** Items by the moment they are due, with one question answered at once: when must work begin so that all make it? */

interface Node<T> {
  readonly item: T;
  readonly due: number;
  readonly work: number;
  readonly number: number;
  /** Heap order of the tree: chance, but the same in every run. */
  readonly weight: number;
  left: Node<T> | undefined;
  right: Node<T> | undefined;
  /** Work of the whole subtree. */
  total: number;
  /** Latest beginning at which every item of the subtree, served in order, makes its due moment. */
  begin: number;
}

/**
 * A balanced tree (treap) by due moment, then by order of coming. Adding, removing and the first item are O(log n), the
 * latest beginning is O(1); only another pace costs O(n).
 */
export class DueOrder<T> {
  readonly #nodes = new Map<T, Node<T>>();
  #root: Node<T> | undefined;
  #paceMs: number;
  #number = 0;

  /** `paceMs` ≥ 0: milliseconds that one unit of work takes. */
  constructor(paceMs = 0) {
    this.#paceMs = paceMs;
  }

  get size(): number {
    return this.#nodes.size;
  }

  /** Units of work of all items. */
  get work(): number {
    return this.#root?.total ?? 0;
  }

  get paceMs(): number {
    return this.#paceMs;
  }

  /** From now on one unit of work takes `paceMs`. */
  set paceMs(paceMs: number) {
    if (paceMs === this.#paceMs) return;
    this.#paceMs = paceMs;
    if (this.#root !== undefined) this.#refreshAll(this.#root);
  }

  has(item: T): boolean {
    return this.#nodes.has(item);
  }

  /** When the item is due, if it is here. */
  dueOf(item: T): number | undefined {
    return this.#nodes.get(item)?.due;
  }

  /** Puts `item` at `due`, moving it if it was elsewhere. */
  set(item: T, due: number, work = 1): void {
    const known = this.#nodes.get(item);
    if (known !== undefined) {
      if (known.due === due && known.work === work) return;
      this.delete(item);
    }
    const number = this.#number++;
    const node: Node<T> = {
      item,
      due,
      work,
      number,
      weight: scattered(number),
      left: undefined,
      right: undefined,
      total: work,
      begin: due - this.#paceMs * work,
    };
    this.#nodes.set(item, node);
    this.#root = this.#insert(this.#root, node);
  }

  delete(item: T): boolean {
    const node = this.#nodes.get(item);
    if (node === undefined) return false;
    this.#nodes.delete(item);
    this.#root = this.#remove(this.#root, node);
    return true;
  }

  /** The item that is due first; it stays. */
  first(): T | undefined {
    let node = this.#root;
    while (node?.left !== undefined) node = node.left;
    return node?.item;
  }

  /** The item that is due last; it stays. */
  last(): T | undefined {
    let node = this.#root;
    while (node?.right !== undefined) node = node.right;
    return node?.item;
  }

  /** When the first item is due; Infinity if there is none. */
  get firstDue(): number {
    let node = this.#root;
    while (node?.left !== undefined) node = node.left;
    return node?.due ?? Number.POSITIVE_INFINITY;
  }

  /** The latest moment at which serving all in order, one after another, makes every due moment; Infinity if empty. */
  get latestBeginning(): number {
    return this.#root?.begin ?? Number.POSITIVE_INFINITY;
  }

  /** The first item that misses its due moment when serving all in order begins at `now`. */
  firstMissing(now: number): T | undefined {
    let node = this.#root;
    if (node === undefined || node.begin >= now) return undefined;
    let before = now;
    while (node !== undefined) {
      const left: Node<T> | undefined = node.left;
      if (left !== undefined && left.begin < before) {
        node = left;
        continue;
      }
      const done: number = before + this.#paceMs * ((left?.total ?? 0) + node.work);
      if (done > node.due) return node.item;
      before = done;
      node = node.right;
    }
    return undefined;
  }

  #insert(root: Node<T> | undefined, node: Node<T>): Node<T> {
    if (root === undefined) return node;
    if (node.weight < root.weight) {
      [node.left, node.right] = this.#split(root, node);
      return this.#refresh(node);
    }
    if (comesBefore(node, root)) root.left = this.#insert(root.left, node);
    else root.right = this.#insert(root.right, node);
    return this.#refresh(root);
  }

  /** The subtrees before and after `at`. */
  #split(root: Node<T> | undefined, at: Node<T>): [Node<T> | undefined, Node<T> | undefined] {
    if (root === undefined) return [undefined, undefined];
    if (comesBefore(root, at)) {
      const [before, after] = this.#split(root.right, at);
      root.right = before;
      return [this.#refresh(root), after];
    }
    const [before, after] = this.#split(root.left, at);
    root.left = after;
    return [before, this.#refresh(root)];
  }

  #remove(root: Node<T> | undefined, node: Node<T>): Node<T> | undefined {
    if (root === undefined) return undefined;
    if (root === node) return this.#merge(root.left, root.right);
    if (comesBefore(node, root)) root.left = this.#remove(root.left, node);
    else root.right = this.#remove(root.right, node);
    return this.#refresh(root);
  }

  #merge(before: Node<T> | undefined, after: Node<T> | undefined): Node<T> | undefined {
    if (before === undefined) return after;
    if (after === undefined) return before;
    if (before.weight < after.weight) {
      before.right = this.#merge(before.right, after);
      return this.#refresh(before);
    }
    after.left = this.#merge(before, after.left);
    return this.#refresh(after);
  }

  #refresh(node: Node<T>): Node<T> {
    const { left, right, due, work } = node;
    const done = this.#paceMs * ((left?.total ?? 0) + work);
    node.total = (left?.total ?? 0) + work + (right?.total ?? 0);
    let begin = due - done;
    if (left !== undefined && left.begin < begin) begin = left.begin;
    if (right !== undefined && right.begin - done < begin) begin = right.begin - done;
    node.begin = begin;
    return node;
  }

  #refreshAll(node: Node<T>): void {
    if (node.left !== undefined) this.#refreshAll(node.left);
    if (node.right !== undefined) this.#refreshAll(node.right);
    this.#refresh(node);
  }
}

function comesBefore<T>(a: Node<T>, b: Node<T>): boolean {
  return a.due < b.due || (a.due === b.due && a.number < b.number);
}

/** Whole numbers to scattered ones, one to one (the finaliser of MurmurHash3, public domain). */
function scattered(number: number): number {
  let mixed = number | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
