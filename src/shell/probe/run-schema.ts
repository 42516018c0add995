/** The shape of a run's files: the fields of its head and of each line, each checked as it is read. */

import { z } from 'zod';
import { RUN_FORMAT } from '../../core/drill/run.js';
import { RECORDED_PLAN } from './plan-schema.js';

const number = z.number();
const count = z.number().int().min(0);
const ms = z.number().min(0);
const text = z.string();
/** Not a number is null in JSON. */
const orNaN = z
  .number()
  .nullable()
  .transform((value) => value ?? Number.NaN);
const orNull = z.number().nullable();

const STAGE = z.object({
  stage: text,
  calls: count,
  deliveredByDeadline: count,
  deliveredByHorizon: count,
  delivered: count,
  refused: count,
  abandoned: count,
  broken: count,
  open: count,
  attempts: count,
  executions: count.optional(),
  latenessMs: z.object({ median: orNaN, p90: orNaN, p99: orNaN }),
});
const QUANTILES = z.object({ p50: orNaN, p99: orNaN, most: orNaN });

/** `run.json`; what it holds beyond this is let pass. */
export const HEAD = z.object({
  format: z.literal(RUN_FORMAT, { error: `must be ${RUN_FORMAT}: this is no record, or another version’s` }),
  name: text,
  kind: z.enum(['trial', 'drill']),
  target: text,
  startedAt: text.optional(),
  seed: number,
  capacity: z.number().positive().nullable(),
  timeScale: z.number().positive(),
  plan: RECORDED_PLAN,
  calls: count,
  invalid: z.array(text),
  stopped: z.boolean(),
  generator: z.object({ sendMs: QUANTILES, loopMs: QUANTILES }).nullable(),
  stages: z.array(STAGE).min(1),
  total: STAGE,
  recovery: z.object({ backlogSeconds: orNull, onTimeSeconds: orNull }),
  executionsCountedBy: text.nullable(),
});

/** A line of `calls.jsonl`. */
export const CALL = z.object({
  call: count,
  stage: count,
  plannedMs: ms,
  endedMs: ms,
  attempts: count,
  client: text.optional(),
  delivered: z.boolean(),
});

/** A line of `attempts.jsonl`. */
export const ATTEMPT = z.object({
  call: count,
  attempt: count,
  plannedMs: ms,
  sentMs: ms,
  firstByteMs: ms.optional(),
  leftMs: ms,
  ending: z.enum(['delivered', 'timed_out', 'refused', 'broken', 'stopped']),
  execution: text.optional(),
  outcome: text.optional(),
  reason: text.optional(),
  status: z.number().int().optional(),
});

/** A line of `executions.jsonl`. */
export const EXECUTION = z.object({
  id: text,
  call: count,
  attempt: count,
  promptTokens: count,
  createdMs: ms,
  firstStepMs: ms.optional(),
  firstTokenMs: ms.optional(),
  endedMs: ms.optional(),
  ending: z.enum(['finished', 'aborted', 'refused']).optional(),
  cachedTokens: count,
  computedPromptTokens: count,
  hiddenPromptTokens: count,
  inFlightPromptTokens: count,
  outputTokens: count,
});
