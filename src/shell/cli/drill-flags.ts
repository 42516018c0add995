/** The flags of `holdfast drill`. */

import { HELP_FLAG } from './command.js';
import type { Flags, Given } from './flags.js';
import { TRACE_FLAGS } from './trace-flags.js';

export const DRILL_FLAGS = {
  plan: { value: 'FILE', help: 'run this plan, YAML or JSON, instead of the published one' },
  ...TRACE_FLAGS,
  stages: { value: 'STAGES', help: "stages in one line: 'base 2/s 60s, pulse 2.7c 107s'; c is the capacity" },
  client: { value: 'KIND', many: true, help: 'clients of this observed kind: openai-python, codex, …' },
  deadline: { value: 'S', help: 'every client leaves an attempt after this many seconds' },
  'prompt-tokens': { value: 'N|LOW-HIGH', help: 'length of the prompts, with nothing shared between them' },
  'response-tokens': { value: 'N|LOW-HIGH', help: 'length of the responses' },
  capacity: { value: 'N', help: 'Ĉ in calls per second, for rates that are multiples of it' },
  seed: { value: 'N', help: 'the same seed asks the same calls at the same moments (1)' },
  name: { value: 'NAME', help: 'what a comparison calls this run; another name makes other prompts (drill)' },
  model: { value: 'NAME', help: 'the model to ask for (the first that /v1/models names)' },
  api: { value: 'NAME', help: 'completions or chat (completions)' },
  prompts: {
    value: 'FORM',
    help: 'tokens, text or characters: ids, words or letters (tokens; text for chat)',
  },
  vocabulary: { value: 'N', help: 'token ids stay below this (256)' },
  plain: { help: 'send no fields that only vLLM knows: ignore_eos, min_tokens, priority' },
  key: { value: '[TENANT=]SOURCE', many: true, help: 'credential: an environment variable, or a file' },
  engine: { value: 'URL', many: true, help: 'read the meter of this engine too, beside the target’s own' },
  'time-scale': {
    value: 'N',
    help: 'play the plan N times faster, 1 to 20, against a server that runs so (1)',
  },
  'most-lag': {
    value: 'S',
    help: 'call the run invalid when the generator is this late, seconds of the plan (0.2)',
  },
  expect: { value: 'EXPR', many: true, help: "a threshold, such as 'hold.delivered > 99%'" },
  record: { value: 'DIR', help: 'write the run whole: record, calls, attempts, trace, time series' },
  report: { value: 'FILE.html', help: 'write a page of pictures of the run' },
  store: { value: 'FILE', help: 'where holdfast calibrate keeps capacities ($XDG_STATE_HOME/holdfast)' },
  json: { help: 'print JSON instead of a table' },
  ...HELP_FLAG,
} as const satisfies Flags;

export type DrillFlags = Given<typeof DRILL_FLAGS>;
