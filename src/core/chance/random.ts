/** Repeatable chance: one seed a run, a named stream a purpose, so that two policies meet the same draws. */

const UINT32 = 0x1_0000_0000;

/** FNV-1a over UTF-16 code units, 32 bits. */
function hash32(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}

function splitmix32(state: number): () => number {
  let seed = state >>> 0;
  return () => {
    seed = (seed + 0x9e3779b9) >>> 0;
    let mixed = seed ^ (seed >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
}

/** A stream of draws: xoshiro128** seeded by splitmix32 (Blackman and Vigna, 2018). */
export class Random {
  readonly #state: Uint32Array;
  readonly seed: number;

  /** `seed`: any integer; the same seed and name give the same draws. */
  constructor(seed: number, name = '') {
    this.seed = seed;
    const next = splitmix32(hash32(`${seed}/${name}`));
    this.#state = Uint32Array.from([next(), next(), next(), next() | 1]);
  }

  /** A stream of its own for one purpose, independent of how many draws others make. */
  stream(name: string): Random {
    return new Random(this.seed, name);
  }

  /** A whole number in [0, 2^32). */
  uint32(): number {
    const s = this.#state as Uint32Array & { 0: number; 1: number; 2: number; 3: number };
    const scrambled = Math.imul(s[1], 5);
    const result = Math.imul((scrambled << 7) | (scrambled >>> 25), 9) >>> 0;
    const shifted = s[1] << 9;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = (s[3] << 11) | (s[3] >>> 21);
    return result;
  }

  /** Uniform in [0, 1), 53 bits. */
  uniform(): number {
    const high = this.uint32() >>> 5;
    const low = this.uint32() >>> 6;
    return (high * 0x4000000 + low) / 0x20000000000000;
  }

  /** Uniform in [low, high). */
  between(low: number, high: number): number {
    return low + (high - low) * this.uniform();
  }

  /** A whole number in [low, high], both included; the span is below 2^32. */
  integer(low: number, high: number): number {
    return low + Math.floor((this.uint32() / UINT32) * (high - low + 1));
  }
}
