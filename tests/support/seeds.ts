/** How many seeds a law runs over, and how a failing one is named. */

const long = process.env['HOLDFAST_LONG'] === '1';

/** `HOLDFAST_SEED=N` runs every law on that one seed. */
const only = process.env['HOLDFAST_SEED'];

/** `count` in a normal run, `longCount` (20 × `count` unless stated) under `npm run test:long`. */
export function runs(count: number, longCount = 20 * count): number {
  return long ? longCount : count;
}

/** The seeds of this run: 1 to `runs(count, longCount)`, or the one that HOLDFAST_SEED names. */
export function seeds(count: number, longCount?: number): readonly number[] {
  if (only !== undefined) return [Number.parseInt(only, 10)];
  return Array.from({ length: runs(count, longCount) }, (_, at) => at + 1);
}

/** Calls `law` with every seed of this run; a failure carries the seed that broke it. */
export function forEachSeed(count: number, law: (seed: number) => void, longCount?: number): void {
  for (const seed of seeds(count, longCount)) {
    try {
      law(seed);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`seed ${seed}: ${reason} (run it alone with HOLDFAST_SEED=${seed})`, { cause });
    }
  }
}
