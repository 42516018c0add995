/** Attempts as lines of a Mooncake trace, with what no trace format has: which call, which attempt, when its client left. */

import type { PlannedCall } from './plan.js';
import type { AttemptEnding, AttemptRecord } from './record.js';

/** Tokens of one block of a Mooncake trace's `hash_ids`. */
export const TRACE_BLOCK_TOKENS = 512;

/** Readers of Mooncake traces know the first four fields and pass over the rest. Times in milliseconds of the run. */
export interface TraceLine {
  /** When the attempt was sent. */
  readonly timestamp: number;
  readonly input_length: number;
  /** As planned; what was delivered is told by `ending`. */
  readonly output_length: number;
  /** One id a block of 512 prompt tokens; equal ids are equal prefixes. All attempts of a call have the same. */
  readonly hash_ids: readonly number[];
  readonly call: number;
  /** From 0. */
  readonly attempt: number;
  /** The attempt of the same call that this one repeats; null for a first one. */
  readonly retry_of: number | null;
  /** When its client would have left without an answer. */
  readonly deadline: number;
  /** When the client had the answer, was refused, or left. */
  readonly left_at: number;
  readonly ending: AttemptEnding;
}

/** One line an attempt, in the order given; attempts of unplanned calls are left out. */
export function* traceLines(
  attempts: readonly AttemptRecord[],
  planned: readonly PlannedCall[],
): Iterable<TraceLine> {
  const firstIds = firstIdsOf(planned);
  for (const { call, attempt, sentMs, leftMs, ending } of attempts) {
    const asked = planned[call];
    if (asked === undefined) continue;
    yield {
      timestamp: Math.round(sentMs),
      input_length: asked.promptTokens,
      output_length: asked.responseTokens,
      hash_ids: hashIds(asked, firstIds[call] ?? 0),
      call,
      attempt,
      retry_of: attempt === 0 ? null : attempt - 1,
      deadline: Math.round(sentMs + asked.client.deadlineSeconds * 1_000),
      left_at: Math.round(leftMs),
      ending,
    };
  }
}

/** The first id of each call's own blocks: after all that are shared or named, after those of the calls before it. */
function firstIdsOf(planned: readonly PlannedCall[]): readonly number[] {
  let next = 0;
  for (const call of planned) {
    next = Math.max(next, sharedBlocks(call));
    for (const name of call.blocks ?? []) next = Math.max(next, name + 1);
  }
  return planned.map((call) => {
    const first = next;
    next += blockCount(call) - leadingIds(call).length;
    return first;
  });
}

function hashIds(call: PlannedCall, firstOwn: number): readonly number[] {
  const leading = leadingIds(call);
  const own = Array.from({ length: blockCount(call) - leading.length }, (_, at) => firstOwn + at);
  return [...leading, ...own];
}

/** What a call may share: the blocks that its trace named, else the whole blocks of the plan's prefix. */
function leadingIds(call: PlannedCall): readonly number[] {
  if (call.blocks !== undefined) return call.blocks.slice(0, blockCount(call));
  return Array.from({ length: sharedBlocks(call) }, (_, at) => at);
}

function blockCount({ promptTokens }: PlannedCall): number {
  return Math.ceil(promptTokens / TRACE_BLOCK_TOKENS);
}

/** Only whole blocks can be shared. */
function sharedBlocks({ sharedPrefixTokens }: PlannedCall): number {
  return Math.floor(sharedPrefixTokens / TRACE_BLOCK_TOKENS);
}
