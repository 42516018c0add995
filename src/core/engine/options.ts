/** What an engine can be told, under vLLM's own names, checked once at construction. */

export type SchedulingPolicy = 'fcfs' | 'priority';

export interface EngineOptions {
  /** Tokens of one KV block. */
  readonly blockSize: number;
  /** KV blocks of the device; one of them is reserved and never handed out. */
  readonly numGpuBlocks: number;
  /** The most tokens one step computes. */
  readonly maxNumBatchedTokens: number;
  /** The most executions that run at once. */
  readonly maxNumSeqs: number;
  /** The most tokens an execution may hold, prompt and output together. */
  readonly maxModelLen: number;
  readonly schedulingPolicy: SchedulingPolicy;
  readonly enablePrefixCaching: boolean;
  /** Issue a step while the one before it still runs. */
  readonly asyncScheduling: boolean;
  /** Refuse above this many live executions, waiting and running together; undefined = never. */
  readonly maxNumQueuedReqs: number | undefined;
  /** Refuse while this many prompt tokens wait for their first answer token; undefined = never. */
  readonly maxNumQueuedTokens: number | undefined;
}

/** vLLM 0.30.0's defaults for its OpenAI server on an H100; the block count is Qwen2.5-7B's. */
export const ENGINE_DEFAULTS: EngineOptions = {
  blockSize: 16,
  numGpuBlocks: 65_000,
  maxNumBatchedTokens: 8_192,
  maxNumSeqs: 1_024,
  maxModelLen: 32_768,
  schedulingPolicy: 'fcfs',
  enablePrefixCaching: true,
  asyncScheduling: true,
  maxNumQueuedReqs: undefined,
  maxNumQueuedTokens: undefined,
};

/** `given` over the defaults; throws a `RangeError` that names option, bounds and value. */
export function engineOptions(given: Partial<EngineOptions> = {}): EngineOptions {
  const options = { ...ENGINE_DEFAULTS, ...given };
  const bounds: [keyof EngineOptions, number, number][] = [
    ['blockSize', 1, 1_024],
    ['numGpuBlocks', 2, 2 ** 24],
    ['maxNumBatchedTokens', 1, 2 ** 24],
    ['maxNumSeqs', 1, 2 ** 20],
    ['maxModelLen', 2, 2 ** 24],
    ['maxNumQueuedReqs', 0, 2 ** 31],
    ['maxNumQueuedTokens', 0, 2 ** 40],
  ];
  for (const [name, low, high] of bounds) {
    const value = options[name];
    if (value === undefined) continue;
    if (typeof value !== 'number' || !Number.isInteger(value) || value < low || value > high) {
      throw new RangeError(`${name} must be a whole number from ${low} to ${high}, not ${String(value)}`);
    }
  }
  return options;
}
