/** Waits in tests: for an event, never for time, with a limit that says what did not come. */

const LIMIT_MS = 30_000;

/** `promise`, or an error that names `what` when it has not settled in time. */
export async function within<T>(what: string, promise: Promise<T>, limitMs: number = LIMIT_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not come within ${limitMs} ms`)), limitMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A list that can be waited on. */
export class Stream<T> {
  readonly items: T[] = [];
  readonly #waiting = new Set<() => void>();

  push(item: T): void {
    this.items.push(item);
    for (const wake of this.#waiting) wake();
  }

  /** The `count`-th item (from 1) that `fits`, once it has come. */
  async next(what: string, fits: (item: T) => boolean = () => true, count = 1): Promise<T> {
    return within(
      what,
      new Promise<T>((resolve) => {
        const look = (): void => {
          const found = this.items.filter(fits)[count - 1];
          if (found === undefined) return;
          this.#waiting.delete(look);
          resolve(found);
        };
        this.#waiting.add(look);
        look();
      }),
    );
  }
}
