/** The twin's `/metrics`: vLLM's families under its own names, then the truth under `twin_`. */

import type { Engine } from '../../core/engine/engine.js';
import {
  type Family,
  histogramSamples,
  type Labels,
  numberText,
  sample,
  scalar,
  writeExposition,
} from '../../core/meter/exposition.js';
import type { FrontMeter } from './meter.js';

type Series = readonly [value: number, labels?: Labels];

/** What the exposition says of the server; `startedAt` is in Unix seconds. */
export interface MeteredServer {
  readonly servedModelName: string;
  readonly gpuMemoryUtilization: number;
  readonly startedAt: number;
}

/** The whole exposition. */
export function metricsText(engine: Engine, meter: FrontMeter, server: MeteredServer): string {
  const labels = { engine: '0', model_name: server.servedModelName };
  const counted = [...counters(engine, labels), ...histograms(meter, labels)];
  return writeExposition([
    ...gauges(engine, labels),
    ...counted.flatMap((family) => [family, created(family, server.startedAt)]),
    cacheConfig(engine, server.gpuMemoryUtilization),
    ...truth(engine),
  ]);
}

/** When a counter or histogram began, one gauge a series, as vLLM's client library adds it. */
function created(family: Family, startedAt: number): Family {
  const name = `${family.name.replace(family.type === 'counter' ? /_total$/ : /$/, '')}_created`;
  const series = family.samples.filter(
    ({ name: own }) => own === family.name || own === `${family.name}_count`,
  );
  const samples = series.map(({ labels }) => sample(name, startedAt, labels));
  return { name, type: 'gauge', help: family.help, samples };
}

function gauges(engine: Engine, labels: Labels): Family[] {
  const { running, waiting, kvCacheUsage } = engine.counters.gauges;
  const gauge = (name: string, help: string, ...series: Series[]): Family => ({
    name: `vllm:${name}`,
    type: 'gauge',
    help,
    samples: series.map(([value, extra]) => sample(`vllm:${name}`, value, { ...labels, ...extra })),
  });
  return [
    gauge('num_requests_running', 'Executions in the running batch.', [running]),
    gauge('num_requests_waiting', 'Executions waiting to be admitted.', [waiting]),
    gauge(
      'num_requests_waiting_by_reason',
      'Executions waiting to be admitted, by what they wait for.',
      [waiting, { reason: 'capacity' }],
      [0, { reason: 'deferred' }],
    ),
    gauge(
      'engine_sleep_state',
      'Whether the engine sleeps.',
      [1, { sleep_state: 'awake' }],
      [0, { sleep_state: 'weights_offloaded' }],
      [0, { sleep_state: 'discard_all' }],
    ),
    gauge('kv_cache_usage_perc', 'Share of KV blocks in use, 0 to 1.', [kvCacheUsage]),
  ];
}

function counters(engine: Engine, labels: Labels): Family[] {
  const { vllm } = engine.counters;
  const counter = (name: string, help: string, ...series: Series[]): Family => ({
    name: `vllm:${name}_total`,
    type: 'counter',
    help,
    samples: series.map(([value, extra]) => sample(`vllm:${name}_total`, value, { ...labels, ...extra })),
  });
  return [
    counter('estimated_flops_per_gpu', 'Not estimated: 0.', [0]),
    counter('estimated_read_bytes_per_gpu', 'Not estimated: 0.', [0]),
    counter('estimated_write_bytes_per_gpu', 'Not estimated: 0.', [0]),
    counter('prefix_cache_queries', 'Prompt tokens looked up at admission.', [vllm.prefixCacheQueries]),
    counter('prefix_cache_hits', 'Prompt tokens found at admission.', [vllm.prefixCacheHits]),
    counter('external_prefix_cache_queries', 'Tokens looked up in another cache.', [0]),
    counter('external_prefix_cache_hits', 'Tokens found in another cache.', [0]),
    counter('mm_cache_queries', 'Multimodal items looked up.', [0]),
    counter('mm_cache_hits', 'Multimodal items found.', [0]),
    counter('num_preemptions', 'Preemptions, as reported with the next output.', [vllm.preemptions]),
    counter('prompt_tokens', 'Prompts whose first output was processed.', [vllm.promptTokens]),
    counter(
      'prompt_tokens_by_source',
      'The same, by where they came from.',
      [vllm.promptTokensComputed, { source: 'local_compute' }],
      [vllm.promptTokensCached, { source: 'local_cache_hit' }],
      [0, { source: 'external_kv_transfer' }],
    ),
    counter('prompt_tokens_cached', 'Of these, found in a cache.', [vllm.promptTokensCached]),
    counter('generation_tokens', 'Output tokens.', [vllm.generationTokens]),
    counter(
      'request_success',
      'Executions that ended by the engine, by reason.',
      [vllm.finishedStop, { finished_reason: 'stop' }],
      [vllm.finishedLength, { finished_reason: 'length' }],
      [0, { finished_reason: 'abort' }],
      [0, { finished_reason: 'error' }],
      [0, { finished_reason: 'repetition' }],
    ),
  ];
}

function histograms(meter: FrontMeter, labels: Labels): Family[] {
  return Object.entries(meter.histograms).map(([short, histogram]) => {
    const name = `vllm:${short}`;
    const help = `${short.replaceAll('_', ' ')}, one observation each.`;
    return { name, type: 'histogram', help, samples: histogramSamples(name, histogram, labels) };
  });
}

/** What vLLM says of caches that the twin does not model; the values of a plain server on a GPU. */
const UNMODELLED_CACHE: Labels = {
  _block_size_resolved: 'True',
  cache_dtype: 'auto',
  enable_mamba_fine_grained_prefix_cache: 'False',
  is_attention_free: 'False',
  kv_cache_dtype_skip_layers: '[]',
  kv_cache_layout: 'None',
  kv_cache_memory_bytes: 'None',
  kv_offloading_backend: 'native',
  kv_offloading_size: 'None',
  kv_sharing_fast_prefill: 'False',
  mamba_block_size: 'None',
  mamba_cache_dtype: 'auto',
  mamba_cache_mode: 'none',
  mamba_page_size_padded: 'None',
  mamba_ssm_cache_dtype: 'auto',
  num_cpu_blocks: 'None',
  prefix_cache_retention_interval: '0',
  prefix_caching_hash_algo: 'sha256',
  prefix_match_unit: 'None',
  replayssm_buffer_len: '16',
  skip_page_size_padded: 'None',
  sliding_window: 'None',
  use_kda_recoverssm: 'False',
  use_replayssm: 'False',
  user_specified_block_size: 'True',
  user_specified_mamba_block_size: 'False',
};

function cacheConfig(engine: Engine, gpuMemoryUtilization: number): Family {
  const { numGpuBlocks, blockSize, enablePrefixCaching, maxModelLen } = engine.options;
  const labels = {
    ...UNMODELLED_CACHE,
    engine: '0',
    gpu_memory_utilization: numberText(gpuMemoryUtilization),
    block_size: String(blockSize),
    enable_prefix_caching: enablePrefixCaching ? 'True' : 'False',
    kv_cache_max_concurrency: String((numGpuBlocks * blockSize) / maxModelLen),
    kv_cache_size_tokens: String(numGpuBlocks * blockSize),
    num_gpu_blocks: String(numGpuBlocks),
    num_gpu_blocks_override: String(numGpuBlocks),
  };
  const name = 'vllm:cache_config_info';
  return { name, type: 'gauge', help: 'The KV cache in words.', samples: [sample(name, 1, labels)] };
}

function truth(engine: Engine): Family[] {
  const { truth: t, vllm } = engine.counters;
  const counter = (name: string, help: string, value: number): Family =>
    scalar(`twin_${name}_total`, 'counter', help, value);
  return [
    counter('executions_received', 'Executions handed to the engine.', t.executionsReceived),
    counter('executions_started', 'Executions scheduled at least once.', t.executionsStarted),
    counter('executions_finished', 'Executions the engine ended.', t.executionsFinished),
    counter('executions_aborted', 'Executions whose client left.', t.executionsAborted),
    counter('executions_hidden', 'Aborted after work, before a first output.', t.executionsHidden),
    counter('computed_prompt_tokens', 'Prompt tokens of all issued steps.', t.computedPromptTokens),
    counter('counted_prompt_tokens', 'Of these, what the engine counts.', vllm.promptTokensComputed),
    counter('hidden_prompt_tokens', 'Of these, what it will never count.', t.hiddenPromptTokens),
    counter('aborted_prompt_tokens', 'Of these, for executions aborted later.', t.abortedPromptTokens),
    counter('recomputed_prompt_tokens', 'Of these, computed again.', t.recomputedPromptTokens),
    scalar(
      'twin_pending_prompt_tokens',
      'gauge',
      'Of these, on the way to a first output.',
      t.pendingPromptTokens,
    ),
    counter(
      'in_flight_prompt_tokens_at_abort',
      'In unprocessed steps at an abort.',
      t.inFlightPromptTokensAtAbort,
    ),
    counter('preemptions', 'Preemptions, reported or not.', t.preemptions),
    counter('steps', 'Steps issued, empty ones too.', t.steps),
    scalar('twin_live_executions', 'gauge', 'Executions a client waits for.', engine.live),
  ];
}
