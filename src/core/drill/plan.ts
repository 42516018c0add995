/** What a drill will ask, stated before it starts: stages, workload and clients, all data. */

import type { Trace } from './trace.js';

/** Calls per second, or a multiple of the engine's measured capacity Ĉ. */
export type Rate = { readonly perSecond: number } | { readonly capacity: number };

export interface Stage {
  readonly name: string;
  readonly rate: Rate;
  readonly seconds: number;
}

/**
 * How arrivals of a stage are spaced: `poisson`; `counted`: Poisson given that exactly rate × seconds calls come, so
 * that seeds differ in when and not in how much; `even`; gamma with shape `burstiness` (1 is Poisson, below 1 burstier).
 */
export type Arrivals = 'poisson' | 'counted' | 'even' | { readonly burstiness: number };

/** A number of tokens a call. `lognormal` is cut at `most`. */
export type Lengths =
  | { readonly kind: 'fixed'; readonly tokens: number }
  | { readonly kind: 'uniform'; readonly low: number; readonly high: number }
  | { readonly kind: 'lognormal'; readonly median: number; readonly sigma: number; readonly most: number };

export interface Workload {
  /** Whole prompts, the shared prefix included. */
  readonly promptTokens: Lengths;
  /** Leading tokens that all prompts have in common. */
  readonly sharedPrefixTokens: number;
  readonly responseTokens: Lengths;
}

/** Wait before attempt n + 1, milliseconds. `list`: one value a retry, the last one repeats. */
export type Backoff =
  | { readonly kind: 'uniform'; readonly lowMs: number; readonly highMs: number }
  | {
      readonly kind: 'exponential';
      readonly firstMs: number;
      readonly factor: number;
      readonly mostMs: number;
      /** The wait is multiplied by a draw from [low, high). */
      readonly jitter: readonly [low: number, high: number];
    }
  | { readonly kind: 'list'; readonly ms: readonly number[] };

/** What a client's timer bounds: the whole answer, the first byte only, or each silence. */
export type Timer = 'whole' | 'first-byte' | 'silence';

export interface ClientKind {
  readonly name: string;
  /** Share of the calls, relative to the other kinds'. */
  readonly weight: number;
  readonly tenant: string;
  readonly userAgent: string;
  readonly deadlineSeconds: number;
  readonly timer: Timer;
  readonly retries: number;
  readonly backoff: Backoff;
  /** Sends one `Idempotency-Key` a call. */
  readonly key: boolean;
  /** Sends `x-stainless-retry-count`. */
  readonly counts: boolean;
  /** Announces its timeout in a header. */
  readonly announces: boolean;
  readonly stream: boolean;
  /** Obeys `Retry-After` up to this long; 0: ignores it. */
  readonly obeysRetryAfterSeconds: number;
  /** Asks again after a refusal (408, 409, 429, any 5xx), not only after a timeout or a broken connection. */
  readonly retriesRefusals: boolean;
  /** Does not ask again where the server says that no later attempt can make it (`x-should-retry: false`). */
  readonly obeysShouldRetry: boolean;
  /** vLLM's `priority` of its calls; smaller is more urgent. */
  readonly priority: number;
  /** The class that its calls ask a gateway for; absent: none. */
  readonly class?: string;
}

export interface Plan {
  readonly name: string;
  readonly stages: readonly Stage[];
  readonly arrivals: Arrivals;
  readonly workload: Workload;
  readonly clients: readonly ClientKind[];
  /** A call whose full answer comes within this long of its planned arrival is delivered. */
  readonly horizonSeconds: number;
  /** Calls that were recorded: they take the place of stages, arrivals and workload. */
  readonly trace?: Trace;
}

/** One call of a plan under one seed. */
export interface PlannedCall {
  readonly index: number;
  readonly stage: number;
  /** Milliseconds from the start of the run. */
  readonly atMs: number;
  readonly promptTokens: number;
  readonly sharedPrefixTokens: number;
  readonly responseTokens: number;
  /** Of a traced call: names of its leading blocks of 512 prompt tokens; equal names are equal tokens. */
  readonly blocks?: readonly number[];
  readonly client: ClientKind;
}

/** The client of the published experiment: 120 s, up to 3 retries, each after 0.25–3 s. */
export const PUBLISHED_CLIENT: ClientKind = {
  name: 'published',
  weight: 1,
  tenant: 'tenant',
  userAgent: 'drill',
  deadlineSeconds: 120,
  timer: 'whole',
  retries: 3,
  backoff: { kind: 'uniform', lowMs: 250, highMs: 3_000 },
  key: true,
  counts: false,
  announces: false,
  stream: false,
  obeysRetryAfterSeconds: 0,
  retriesRefusals: true,
  obeysShouldRetry: true,
  priority: 0,
};

/** The plan of the published experiment (Zhang and Wang, arXiv 2611.08684). */
export const PUBLISHED_PLAN: Plan = {
  name: 'published',
  stages: [
    { name: 'base', rate: { capacity: 0.6 }, seconds: 120 },
    { name: 'pulse', rate: { capacity: 2.7 }, seconds: 107 },
    { name: 'hold', rate: { capacity: 0.6 }, seconds: 720 },
  ],
  arrivals: 'poisson',
  workload: {
    promptTokens: { kind: 'uniform', low: 10_800, high: 13_200 },
    sharedPrefixTokens: 2_000,
    responseTokens: { kind: 'lognormal', median: 300, sigma: 0.5, most: 4_096 },
  },
  clients: [PUBLISHED_CLIENT],
  horizonSeconds: 840,
};
