/** What a twin can be told, its defaults, every bound checked once. */

import type { StepCost } from '../../core/engine/cost.js';
import { type EngineOptions, engineOptions } from '../../core/engine/options.js';
import { type Profile, profile } from '../../core/engine/profiles.js';
import { within } from '../shared/options.js';
import type { Limits } from './ask.js';

export interface TwinOptions extends Partial<EngineOptions> {
  readonly host?: string;
  /** 0: a free port. */
  readonly port?: number;
  /** Name or data of the model and device: step time, KV blocks, model length. */
  readonly profile?: string | Profile;
  /** A step time of one's own, in place of the profile's. */
  readonly cost?: StepCost;
  /** The model behind the name; the profile's by default. */
  readonly model?: string;
  /** The name requests ask for; the model by default. */
  readonly servedModelName?: string;
  /** Engine seconds per real second. */
  readonly timeScale?: number;
  /** Share of the device's memory, 0 to 1; only told on, in `cache_config_info`. */
  readonly gpuMemoryUtilization?: number;
  /** Seeds the random ids; texts are seeded by the execution's id. */
  readonly seed?: number;
  /** Engine milliseconds a request takes from its arrival to the engine's queue; a burst passes the caps meanwhile. */
  readonly renderMs?: number;
  /** Token ids from here on are refused. */
  readonly vocabularySize?: number;
  /** Whether `/v1/embeddings` exists; on a server of a generating model it does not. */
  readonly embeddings?: boolean;
}

export interface TwinSettings {
  readonly host: string;
  readonly port: number;
  /** The name requests ask for, and the model behind it. */
  readonly servedModelName: string;
  readonly model: string;
  readonly timeScale: number;
  readonly seed: number;
  readonly renderMs: number;
  readonly embeddings: boolean;
  readonly gpuMemoryUtilization: number;
  readonly engine: EngineOptions;
  readonly cost: StepCost;
  readonly limits: Limits;
}

const DEFAULT_PROFILE = 'qwen2.5-7b';
/** vLLM's default. */
const GPU_MEMORY_UTILIZATION = 0.92;
/** Qwen2.5's, rounded up to its embedding rows. */
const VOCABULARY = 152_064;

/** Fills in defaults, the profile's first; throws a `RangeError` for the first value that does not fit. */
export function twinSettings(given: TwinOptions = {}): TwinSettings {
  const { profile: named = DEFAULT_PROFILE, ...options } = given;
  const base = typeof named === 'string' ? profile(named) : named;
  const engine = engineOptions({
    numGpuBlocks: base.numGpuBlocks,
    maxModelLen: base.maxModelLen,
    ...engineOptionsOf(options),
  });
  const model = options.model ?? base.model;
  const servedModelName = options.servedModelName ?? model;
  const settings: TwinSettings = {
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 0,
    servedModelName,
    model,
    timeScale: options.timeScale ?? 1,
    seed: options.seed ?? 0,
    renderMs: options.renderMs ?? 0,
    embeddings: options.embeddings ?? true,
    gpuMemoryUtilization: options.gpuMemoryUtilization ?? GPU_MEMORY_UTILIZATION,
    engine,
    cost: options.cost ?? base.cost,
    limits: {
      model: servedModelName,
      maxModelLen: engine.maxModelLen,
      vocabularySize: options.vocabularySize ?? VOCABULARY,
    },
  };
  within('port', settings.port, 0, 65_535, true);
  within('timeScale', settings.timeScale, 1e-3, 1e6);
  within('gpuMemoryUtilization', settings.gpuMemoryUtilization, 0.01, 1);
  within('renderMs', settings.renderMs, 0, 3_600_000);
  within('seed', settings.seed, 0, 2 ** 32, true);
  within('vocabularySize', settings.limits.vocabularySize, 1, 2 ** 31, true);
  return settings;
}

const ENGINE_NAMES = [
  'blockSize',
  'numGpuBlocks',
  'maxNumBatchedTokens',
  'maxNumSeqs',
  'maxModelLen',
  'schedulingPolicy',
  'enablePrefixCaching',
  'asyncScheduling',
  'maxNumQueuedReqs',
  'maxNumQueuedTokens',
] as const satisfies readonly (keyof EngineOptions)[];

function engineOptionsOf(options: Partial<EngineOptions>): Partial<EngineOptions> {
  const given = ENGINE_NAMES.filter((name) => options[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, options[name]]));
}
