/** Clients as they were observed on the wire: their timers, retries and back-offs, as data to put into a plan. */

import { type Backoff, type ClientKind, PUBLISHED_CLIENT } from './plan.js';

/** The official SDKs' wait: min(0.5 · 2ⁿ, 8) s × U(0.75, 1). */
const SDK_BACKOFF: Backoff = {
  kind: 'exponential',
  firstMs: 500,
  factor: 2,
  mostMs: 8_000,
  jitter: [0.75, 1],
};

/** Nothing that a gateway could go by, and one attempt: every kind below says what it adds. */
const PLAIN: ClientKind = {
  ...PUBLISHED_CLIENT,
  name: 'plain',
  userAgent: 'plain',
  retries: 0,
  backoff: { kind: 'list', ms: [0] },
  key: false,
};

function kind(name: string, userAgent: string, of: Partial<ClientKind>): ClientKind {
  return { ...PLAIN, name, userAgent, ...of };
}

/** By name; a plan may take one whole or change any of its fields. Versions are those that were observed. */
export const CLIENTS: Readonly<Record<string, ClientKind>> = {
  published: PUBLISHED_CLIENT,
  // 2.54.0: its timeout bounds each read, so any byte resets it.
  'openai-python': kind('openai-python', 'OpenAI/Python 2.54.0', {
    deadlineSeconds: 600,
    timer: 'silence',
    retries: 2,
    backoff: SDK_BACKOFF,
    counts: true,
    announces: true,
    obeysRetryAfterSeconds: 120,
  }),
  // 7.59.0: announces 600 s, but Node's fetch gives up after 300 s without headers.
  'openai-node': kind('openai-node', 'OpenAI/JS 7.59.0', {
    deadlineSeconds: 300,
    retries: 2,
    backoff: SDK_BACKOFF,
    counts: true,
    obeysRetryAfterSeconds: 60,
  }),
  // 0.121.0: as the OpenAI one; a wait above 60 s is ignored.
  'anthropic-python': kind('anthropic-python', 'Anthropic/Python 0.121.0', {
    deadlineSeconds: 600,
    timer: 'silence',
    retries: 2,
    backoff: SDK_BACKOFF,
    counts: true,
    announces: true,
    obeysRetryAfterSeconds: 60,
  }),
  // 1.14.0: bounds the time to headers only; obeys any wait.
  'anthropic-node': kind('anthropic-node', 'Anthropic/JS 1.14.0', {
    deadlineSeconds: 300,
    timer: 'first-byte',
    retries: 2,
    backoff: SDK_BACKOFF,
    counts: true,
    announces: true,
    obeysRetryAfterSeconds: 3_600,
  }),
  // 4.52.0: the whole attempt in 10 minutes.
  'openai-java': kind('openai-java', 'OpenAI/Java 4.52.0', {
    deadlineSeconds: 600,
    retries: 2,
    backoff: SDK_BACKOFF,
    counts: true,
    announces: true,
    obeysRetryAfterSeconds: 3_600,
  }),
  // August 2026: 100 s an attempt; the first retry's wait comes out negative, so it is immediate.
  'openai-dotnet': kind('openai-dotnet', 'OpenAI/2.9.0 (.NET 10.0)', {
    obeysShouldRetry: false,
    deadlineSeconds: 100,
    retries: 3,
    backoff: { kind: 'list', ms: [0, 800, 1_600] },
    obeysRetryAfterSeconds: 3_600,
  }),
  // 7.0.173: no jitter, nothing in its headers that changes.
  'ai-sdk': kind('ai-sdk', 'ai/7.0.173', {
    obeysShouldRetry: false,
    deadlineSeconds: 300,
    timer: 'silence',
    retries: 2,
    backoff: { kind: 'list', ms: [2_000, 4_000] },
    obeysRetryAfterSeconds: 60,
  }),
  // 1.5.8: its own loop around the SDK, so the SDK's count stays 0; waits are 1000 · 2ⁿ ms × U(1, 2), uncapped.
  'langchain-js': kind('langchain-js', 'langchainjs-openai/1.5.8', {
    obeysShouldRetry: false,
    deadlineSeconds: 300,
    timer: 'first-byte',
    retries: 6,
    backoff: { kind: 'exponential', firstMs: 1_000, factor: 2, mostMs: 64_000, jitter: [1, 2] },
  }),
  // 0.171.0: 5 attempts inside each of 6 streams; never sends a count or a key of the call.
  codex: kind('codex', 'codex_exec/0.171.0', {
    obeysShouldRetry: false,
    deadlineSeconds: 300,
    timer: 'silence',
    retries: 29,
    backoff: { kind: 'list', ms: rounds(6, [200, 400, 800, 1_600], [200, 400, 800, 1_600, 3_200]) },
    stream: true,
  }),
  // 0.15.10: 4 attempts of its SDK inside each of 7 outer tries, whose gaps were seen.
  'qwen-code': kind('qwen-code', 'QwenCode/0.15.10', {
    obeysShouldRetry: false,
    deadlineSeconds: 300,
    timer: 'first-byte',
    retries: 27,
    backoff: { kind: 'list', ms: rounds(7, [450, 900, 1_800], [1_300, 2_800, 7_000, 8_400, 22_000, 30_000]) },
    stream: true,
  }),
  // 1.18.33: gaps as seen on its main call.
  opencode: kind('opencode', 'opencode/1.18.33', {
    obeysShouldRetry: false,
    deadlineSeconds: 300,
    timer: 'silence',
    retries: 5,
    backoff: { kind: 'list', ms: [2_000, 4_000, 10_000, 18_000, 37_000] },
    stream: true,
  }),
};

/** Waits of `count` rounds of attempts: `inner` inside each round, one of `outer` between two. */
function rounds(count: number, inner: readonly number[], outer: readonly number[]): readonly number[] {
  const waits: number[] = [];
  for (let round = 0; round < count; round += 1) {
    waits.push(...inner);
    if (round < count - 1) waits.push(outer[Math.min(round, outer.length - 1)] ?? 0);
  }
  return waits;
}
