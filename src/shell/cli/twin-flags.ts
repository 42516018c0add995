/** The flags of `holdfast twin`, under vLLM's names where vLLM has them. */

import { HELP_FLAG } from './command.js';
import type { Flags } from './flags.js';

export const TWIN_FLAGS = {
  host: { value: 'HOST', help: 'address to listen on (127.0.0.1)' },
  port: { value: 'PORT', help: 'port to listen on; 0 for a free one (8000)' },
  config: { value: 'FILE', help: 'settings in YAML, keys as the flags are called; flags win over it' },
  profile: {
    value: 'NAME|FILE',
    help: 'whose speed: qwen2.5-7b, llama-3.1-8b, qwen3-14b or a JSON file (qwen2.5-7b)',
  },
  model: { value: 'NAME', help: "the model behind the name (the profile's)" },
  'served-model-name': { value: 'NAME', help: 'the name that requests ask for (the model)' },
  'max-model-len': { value: 'N', help: "most tokens of prompt and answer together (the profile's)" },
  'max-num-seqs': { value: 'N', help: 'executions in one batch (1024)' },
  'max-num-batched-tokens': { value: 'N', help: 'tokens in one step (8192)' },
  'block-size': { value: 'N', help: 'tokens of one KV block (16)' },
  'num-gpu-blocks-override': { value: 'N', help: "KV blocks of the device (the profile's)" },
  'gpu-memory-utilization': {
    value: 'SHARE',
    help: 'told in cache_config_info; does not change the number of KV blocks (0.92)',
  },
  'max-num-queued-reqs': { value: 'N', help: '503 above this many live requests, running ones too (off)' },
  'max-num-queued-tokens': { value: 'N', help: '503 while this many prompt tokens wait for an answer (off)' },
  'scheduling-policy': { value: 'POLICY', help: 'who is admitted first: fcfs or priority (fcfs)' },
  'async-scheduling': { help: 'issue a step while the one before it runs (on)' },
  'no-async-scheduling': { help: 'do not' },
  'enable-prefix-caching': { help: 'find what earlier prompts left in the KV cache (on)' },
  'no-enable-prefix-caching': { help: 'do not' },
  seed: { value: 'N', help: 'seeds the random ids (0)' },
  'time-scale': { value: 'N', help: 'engine seconds per second (1)' },
  trace: { value: 'FILE', help: 'what the scheduler does to each execution, one JSON object a line' },
  ...HELP_FLAG,
} as const satisfies Flags;
