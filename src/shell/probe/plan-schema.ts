/** The shape of a plan file: the keys of a plan, each with its bounds. */

import { z } from 'zod';
import { CLIENTS } from '../../core/drill/clients.js';
import { MOST_CALLS } from '../../core/drill/planning.js';
import { TRACE_FORMATS } from './trace-formats.js';

const seconds = z.number().positive().max(1_000_000);
const count = z.number().int().min(1).max(10_000_000);
const wait = z.number().min(0).max(86_400_000);
const text = z.string().min(1).max(200);

const RATE = z.union(
  [
    z.strictObject({ perSecond: z.number().positive().max(100_000) }),
    z.strictObject({ capacity: z.number().positive().max(1_000) }),
  ],
  { error: 'must be perSecond: N or capacity: N (a multiple of the capacity), N above 0' },
);
const LENGTHS = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('fixed'), tokens: count }),
  z.strictObject({ kind: z.literal('uniform'), low: count, high: count }),
  z.strictObject({
    kind: z.literal('lognormal'),
    median: z.number().positive(),
    sigma: z.number().min(0).max(10),
    most: count,
  }),
]);
const BACKOFF = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('uniform'), lowMs: wait, highMs: wait }),
  z.strictObject({
    kind: z.literal('exponential'),
    firstMs: wait,
    factor: z.number().min(1).max(100),
    mostMs: wait,
    jitter: z.tuple([z.number().min(0).max(10), z.number().min(0).max(10)]),
  }),
  z.strictObject({ kind: z.literal('list'), ms: z.array(wait).min(1).max(1_000) }),
]);

/** A client: one of the observed kinds, the published one where none is named, with any field changed. */
export const CLIENT = z.strictObject({
  kind: z.enum(Object.keys(CLIENTS) as [string, ...string[]]).optional(),
  name: text.optional(),
  weight: z.number().positive().max(1_000_000).optional(),
  tenant: text.optional(),
  userAgent: text.optional(),
  deadlineSeconds: seconds.optional(),
  timer: z.enum(['whole', 'first-byte', 'silence']).optional(),
  retries: z.number().int().min(0).max(1_000).optional(),
  backoff: BACKOFF.optional(),
  key: z.boolean().optional(),
  counts: z.boolean().optional(),
  announces: z.boolean().optional(),
  stream: z.boolean().optional(),
  obeysRetryAfterSeconds: z.number().min(0).max(86_400).optional(),
  retriesRefusals: z.boolean().optional(),
  obeysShouldRetry: z.boolean().optional(),
  priority: z.number().int().optional(),
  class: z
    .string()
    .regex(/^[\w.-]{1,64}$/)
    .optional(),
});

/** A recorded trace in the place of stages; `file` from the folder of the plan. */
const TRACE = z.strictObject({
  file: z.string().min(1).max(4_096),
  format: z.enum(TRACE_FORMATS).optional(),
  speed: z.number().positive().max(1_000_000).optional(),
  limit: z.number().int().min(1).max(MOST_CALLS).optional(),
  mostTokens: count.optional(),
});

const STAGES = z
  .array(z.strictObject({ name: text, rate: RATE, seconds }))
  .min(1)
  .max(1_000);

const FIELDS = {
  name: text.optional(),
  arrivals: z
    .union([
      z.enum(['poisson', 'counted', 'even']),
      z.strictObject({ burstiness: z.number().min(0.01).max(100) }),
    ])
    .optional(),
  workload: z
    .strictObject({
      promptTokens: LENGTHS.optional(),
      sharedPrefixTokens: z.number().int().min(0).max(10_000_000).optional(),
      responseTokens: LENGTHS.optional(),
    })
    .optional(),
  clients: z.array(CLIENT).min(1).max(100).optional(),
  horizonSeconds: seconds.optional(),
};

/** A plan as people write it. */
export const PLAN = z
  .strictObject({ ...FIELDS, stages: STAGES.optional(), trace: TRACE.optional() })
  .refine(
    ({ stages, trace }) => (stages === undefined) !== (trace === undefined),
    'needs stages, or a trace in their place',
  );

const lines = z.number().int().min(0);

/** A plan as a run's record has it: what a trace became, without its calls. */
export const RECORDED_PLAN = z.strictObject({
  ...FIELDS,
  stages: STAGES,
  trace: z
    .strictObject({
      source: z.string().max(4_096),
      calls: z.array(z.never()),
      leftOut: z.strictObject({ failed: lines, retries: lines, tooLong: lines }),
    })
    .optional(),
});
